// SPDX-License-Identifier: Apache-2.0

/// A request that has been accepted and waits for its run.
package struct Request: Equatable, Sendable {
    package var id: RunID
    package var task: String
    /// A JSON object, as submitted; the task's own parameters lie beneath it.
    package var parameters: String
    /// Unix nanoseconds.
    package var submittedAt: Int64
    /// Not before this time, Unix nanoseconds.
    package var earliestBegin: Int64?
    package var priority: Int
    package var attempt: Int
    /// Made by `trigger`: it does not count as the task's one pending request.
    package var isSimulated: Bool

    package init(
        id: RunID,
        task: String,
        parameters: String,
        submittedAt: Int64,
        earliestBegin: Int64? = nil,
        priority: Int,
        attempt: Int = 1,
        isSimulated: Bool = false
    ) {
        self.id = id
        self.task = task
        self.parameters = parameters
        self.submittedAt = submittedAt
        self.earliestBegin = earliestBegin
        self.priority = priority
        self.attempt = attempt
        self.isSimulated = isSimulated
    }
}
