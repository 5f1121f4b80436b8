// SPDX-License-Identifier: Apache-2.0

/// What a run's handler does, when nobody runs one.
package struct RunScript: Equatable, Sendable {
    package enum Ending: Equatable, Sendable {
        case succeeds
        case fails
        /// Its worker dies.
        case crashes
        /// It goes on until it is stopped.
        case never
    }

    package enum Answer: Equatable, Sendable {
        /// It ends this long after it was asked, nanoseconds.
        case stops(after: UInt64)
        case ignores
    }

    package var ending: Ending
    /// How long it takes, nanoseconds.
    package var length: UInt64
    /// What it does when it is asked to stop.
    package var whenAsked: Answer
    /// What it submits as its first act.
    package var submission: Submission?

    package init(
        _ ending: Ending,
        length: UInt64,
        whenAsked: Answer = .stops(after: 1_000_000),
        submission: Submission? = nil
    ) {
        self.ending = ending
        self.length = length
        self.whenAsked = whenAsked
        self.submission = submission
    }
}

/// How handlers behave on the whole, in parts of a thousand.
package struct RunManners: Equatable, Sendable {
    package var failing: Int
    package var crashing: Int
    /// Those that do not end in time.
    package var overrunning: Int
    /// Those of them that do not stop when they are asked.
    package var ignoring: Int

    /// What a machine with one faulty handler among a hundred sees.
    package static let usual = RunManners(failing: 20, crashing: 2, overrunning: 5, ignoring: 200)
    /// Everything goes wrong often.
    package static let hostile = RunManners(
        failing: 250,
        crashing: 150,
        overrunning: 250,
        ignoring: 500
    )

    package init(failing: Int, crashing: Int, overrunning: Int, ignoring: Int) {
        self.failing = failing
        self.crashing = crashing
        self.overrunning = overrunning
        self.ignoring = ignoring
    }

    /// Makes up what one run does.
    package func script(
        limits: RunLimits,
        using random: inout some RandomNumberGenerator
    ) -> RunScript {
        let runtime = max(1, limits.runtime.clampedNanoseconds)
        let grace = max(1, limits.grace.clampedNanoseconds)
        let dice = Int.random(in: 0..<1000, using: &random)
        let ending: RunScript.Ending =
            if dice < failing {
                .fails
            } else if dice < failing + crashing {
                .crashes
            } else if dice < failing + crashing + overrunning {
                .never
            } else {
                .succeeds
            }
        return RunScript(
            ending,
            length: UInt64.random(in: 1...runtime / 2 + 1, using: &random),
            whenAsked: Int.random(in: 0..<1000, using: &random) < ignoring
                ? .ignores : .stops(after: UInt64.random(in: 1...grace, using: &random))
        )
    }
}
