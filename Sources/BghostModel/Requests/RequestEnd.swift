// SPDX-License-Identifier: Apache-2.0

package import BghostBase

/// How a request ends without a run.
package enum RequestEnd: Equatable, Sendable {
    case cancelled
    case replaced
    /// Its latest begin date passed.
    case missed
    /// Its task was running and has `"overlap": "skip"`.
    case skipped
    /// Its schedule's start came while its task was paused.
    case paused
    /// Its task was missing in the manifest for as long as such a request is kept.
    case notPermitted
    /// Another host of the fleet serves its schedule's start.
    case servedElsewhere

    package static let all: [RequestEnd] = [
        .cancelled, .replaced, .missed, .skipped, .paused, .notPermitted, .servedElsewhere,
    ]

    /// The stable identifier used in output and records.
    package var text: String {
        switch self {
        case .cancelled: "cancelled"
        case .replaced: "replaced"
        case .missed: "missed"
        case .skipped: "skipped"
        case .paused: "paused"
        case .notPermitted: "notPermitted"
        case .servedElsewhere: "servedElsewhere"
        }
    }

    /// A sentence for people.
    package var sentence: String {
        switch self {
        case .cancelled: "withdrawn"
        case .replaced: "a newer request of its task took its place"
        case .missed: "its latest begin date has passed"
        case .skipped: "its task is running"
        case .paused: "its task is paused"
        case .notPermitted: "the manifest has not permitted its task for a week"
        case .servedElsewhere: "another host of the fleet served its start"
        }
    }
}

/// What happens to a request after its run has ended.
package enum AfterRun: Equatable, Sendable {
    /// The request has ended, independently of the run's outcome.
    case consumed
    /// The request is pending again, with one more attempt counted. It has a later date unless the run was
    /// interrupted.
    case again(Request)
    /// The request becomes a dead letter, for this reason.
    case dead(Request, reason: String)
}

/// A request that is not retried unless the operator redrives it.
package struct DeadLetter: Equatable, Sendable {
    package var request: Request
    package var reason: String
    /// The last run of the request.
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
