// SPDX-License-Identifier: Apache-2.0

/// What the sample app is expected to do, told once and compared with what both sides say.
package struct Story: Sendable {
    /// What a task leaves behind at the station.
    package enum Trace: Equatable, Sendable {
        case forecast, photo, nothing
        /// The sample's senders begin the idempotency key with the cause: `storm-52.5-13.4-…`.
        case notification(cause: String)
    }

    package struct Part: Sendable {
        package var task: String
        package var runs: Int
        package var outcome: String
        package var trace: Trace
    }

    package var parts: [Part]

    /// Noon finds the storm and has a notification delivered, the photo arrives and has another one
    /// delivered, and the overrunning task is killed at the end of its grace.
    package static let stormy = Story(parts: [
        Part(task: "com.example.stormy.noon", runs: 1, outcome: succeeded, trace: .forecast),
        Part(task: "com.example.stormy.photos", runs: 1, outcome: succeeded, trace: .photo),
        notification(cause: "storm"),
        notification(cause: "photos"),
        Part(task: "com.example.stormy.overrun", runs: 1, outcome: killedAtGrace, trace: .nothing),
    ])

    private static func notification(cause: String) -> Part {
        Part(
            task: "com.example.stormy.notify.\(cause)",
            runs: 1,
            outcome: succeeded,
            trace: .notification(cause: cause)
        )
    }

    package static let succeeded = "succeeded"
    package static let killedAtGrace = "killed(graceExceeded)"
    /// How much longer than runtime and grace a run may hold its slot, seconds.
    package static let killSlackSeconds = 1.0

    func part(of task: String) -> Part? { parts.first { $0.task == task } }

    func runs(leaving trace: Trace) -> Int {
        parts.filter { $0.trace == trace }.reduce(0) { $0 + $1.runs }
    }

    /// How far the daemon is.
    package enum Progress: Equatable {
        /// Some run has not ended.
        case active
        /// Nothing runs, and something is still to come; or it never will.
        case quiet
        case complete
    }

    package func progress(of runs: [RunEntry]) -> Progress {
        guard runs.allSatisfy(\.hasEnded) else { return .active }
        let complete = parts.allSatisfy { part in
            runs.count { $0.task == part.task } >= part.runs
        }
        return complete ? .complete : .quiet
    }
}
