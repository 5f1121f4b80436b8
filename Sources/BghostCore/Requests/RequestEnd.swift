// SPDX-License-Identifier: Apache-2.0

/// How a request ends without a run.
package enum RequestEnd: Equatable, Sendable {
    case cancelled
    case replaced
    /// Its latest begin date passed.
    case missed
    /// Its task was running and says `"overlap": "skip"`.
    case skipped
    /// The manifest has not permitted its task for as long as it is kept.
    case notPermitted

    package static let all: [RequestEnd] = [
        .cancelled, .replaced, .missed, .skipped, .notPermitted,
    ]

    /// A stable word for it.
    package var text: String {
        switch self {
        case .cancelled: "cancelled"
        case .replaced: "replaced"
        case .missed: "missed"
        case .skipped: "skipped"
        case .notPermitted: "notPermitted"
        }
    }

    /// What happened, for people.
    package var sentence: String {
        switch self {
        case .cancelled: "withdrawn"
        case .replaced: "a newer request of its task took its place"
        case .missed: "its latest begin date has passed"
        case .skipped: "its task is running"
        case .notPermitted: "the manifest has not permitted its task for long"
        }
    }
}

/// What becomes of a request when its run has ended.
package enum AfterRun: Equatable, Sendable {
    /// It is done with, whatever the outcome.
    case consumed
    /// It is pending again, with a later date and a higher count.
    case again(Request)
    /// It is kept with the dead letters, for this reason.
    case dead(Request, reason: String)
}

/// A request that has been tried as often as it may be.
package struct DeadLetter: Equatable, Sendable {
    package var request: Request
    package var reason: String
    /// The last run that it had.
    package var run: RunID
    /// Unix nanoseconds.
    package var diedAt: Int64

    package init(request: Request, reason: String, run: RunID, diedAt: Int64) {
        self.request = request
        self.reason = reason
        self.run = run
        self.diedAt = diedAt
    }
}
