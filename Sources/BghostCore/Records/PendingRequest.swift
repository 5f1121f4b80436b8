// SPDX-License-Identifier: Apache-2.0

/// A request that has been accepted and whose run has not begun.
package struct PendingRequest: Equatable, Sendable {
    package var id: RunID
    package var task: String
    /// Unix nanoseconds.
    package var submittedAt: Int64
    /// Not before this time, Unix nanoseconds.
    package var earliestBegin: Int64?
    /// Not after this time, Unix nanoseconds.
    package var latestBegin: Int64?
    /// How much later than its earliest date it may begin to meet others, nanoseconds.
    package var tolerance: Int64
    package var priority: Int
    /// A JSON object.
    package var parameters: String
    /// Made by `trigger`.
    package var isSimulated: Bool
    package var submitter: Submitter
    package var counters: AttemptCounters
    /// Why it has not begun, one short sentence for each thing in its way.
    package var waitingFor: [String]
    /// It was pending already, and is the answer to a submission that was dropped for it.
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
        isSimulated: Bool = false,
        submitter: Submitter = .operator,
        counters: AttemptCounters = AttemptCounters(),
        waitingFor: [String] = []
    ) {
        self.id = id
        self.task = task
        self.submittedAt = submittedAt
        self.earliestBegin = earliestBegin
        self.latestBegin = latestBegin
        self.tolerance = tolerance
        self.priority = priority
        self.parameters = parameters
        self.isSimulated = isSimulated
        self.submitter = submitter
        self.counters = counters
        self.waitingFor = waitingFor
    }

    /// The number of the run that it waits for, from 1.
    package var attempt: Int { counters.runs + 1 }
}

/// The requests that wait at one moment.
package struct PendingList: Equatable, Sendable {
    /// In the order of their tasks, and within one as they would begin; at most as many as asked for.
    package var requests: [PendingRequest]
    /// How many there are.
    package var total: Int

    package init(requests: [PendingRequest], total: Int) {
        self.requests = requests
        self.total = total
    }
}
