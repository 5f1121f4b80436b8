// SPDX-License-Identifier: Apache-2.0

package import BghostBase
package import BghostModel

/// An accepted request whose run has not started.
package struct PendingRequest: Equatable, Sendable {
    package var id: RunID
    package var task: String
    /// Unix nanoseconds.
    package var submittedAt: Int64
    /// It does not start before this time, Unix nanoseconds.
    package var earliestBegin: Int64?
    /// It does not start after this time, Unix nanoseconds.
    package var latestBegin: Int64?
    /// How much later than its earliest date it may start to share a wake-up with other requests,
    /// nanoseconds.
    var tolerance: Int64
    package var priority: Int
    /// A JSON object.
    package var parameters: String
    /// Whether it is a manual run (`bghost trigger`).
    package var isManual: Bool
    package var submitter: Submitter
    package var counters: AttemptCounters
    /// Why it has not started: one short sentence for each unmet gate.
    package var waitingFor: [String]
    /// When it can start; `nil` from a daemon of an older version.
    package var outlook: StartOutlook?
    /// Whether it was already pending, and a submission was dropped in favor of it.
    package var isKept = false

    package init(
        id: RunID,
        task: String,
        submittedAt: Int64,
        earliestBegin: Int64? = nil,
        latestBegin: Int64? = nil,
        tolerance: Int64 = 0,
        priority: Int = 500,
        parameters: String = "{}",
        isManual: Bool = false,
        submitter: Submitter = .operator,
        counters: AttemptCounters = AttemptCounters(),
        waitingFor: [String] = [],
        outlook: StartOutlook? = nil
    ) {
        self.id = id
        self.task = task
        self.submittedAt = submittedAt
        self.earliestBegin = earliestBegin
        self.latestBegin = latestBegin
        self.tolerance = tolerance
        self.priority = priority
        self.parameters = parameters
        self.isManual = isManual
        self.submitter = submitter
        self.counters = counters
        self.waitingFor = waitingFor
        self.outlook = outlook
    }

    /// The number of its next run, from 1.
    package var attempt: Int { counters.runs + 1 }
}

/// A page of the waiting requests.
package struct PendingList: Equatable, Sendable {
    /// In the order of their tasks, and for one task in the order in which they would start; at most the
    /// requested number.
    package var requests: [PendingRequest]
    /// The number of all requests that the question selects; `nil` if counting them costs more than the page.
    package var total: Int?
    /// The text of the cursor for the next page; `nil` if there is none.
    package var next: String?

    package init(requests: [PendingRequest], total: Int?, next: String? = nil) {
        self.requests = requests
        self.total = total
        self.next = next
    }
}
