// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
package import BghostModel

/// The behavior of the handler in a simulated run.
package struct RunScript: Equatable, Sendable {
    enum Ending: Equatable, Sendable {
        case succeeds
        case fails
        /// The worker crashes.
        case crashes
        /// The handler continues until it is cancelled.
        case never
    }

    enum Answer: Equatable, Sendable {
        /// It ends this long after the cancellation, nanoseconds.
        case stops(after: UInt64)
        case ignores
    }

    var ending: Ending
    /// The duration of the run, nanoseconds.
    var length: UInt64
    /// The reaction to a cancellation.
    var whenAsked: Answer
    /// The request that it submits at its start.
    var submission: Submission?

    init(
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

/// The behavior of simulated handlers, in parts of a thousand.
package struct HandlerBehavior: Equatable, Sendable {
    var failing: Int
    var crashing: Int
    /// The runs that do not end in time.
    var overrunning: Int
    /// The runs among these that ignore the cancellation.
    var ignoring: Int

    /// The behavior on a machine with one faulty handler in a hundred.
    package static let usual = HandlerBehavior(
        failing: 20,
        crashing: 2,
        overrunning: 5,
        ignoring: 200
    )
    /// The behavior of a machine on which most things fail often.
    package static let hostile = HandlerBehavior(
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

    /// Creates the script of one run.
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
