// SPDX-License-Identifier: Apache-2.0

/// Requests that tell a plugin that the transfers of a session have ended.
extension Scheduler {
    /// Makes the request of a session's task; the caller has it stored as that of a submission.
    ///
    /// - Parameters:
    ///   - id: names what is told: the same end makes the same request.
    ///   - earliest: not before this time, Unix nanoseconds.
    /// - Returns: `nil` if one of the task waits or runs already, or nothing is taken any more.
    package mutating func wake(
        _ identifier: String,
        id: RunID,
        earliest: Int64?,
        now: Moment
    ) -> Arrival? {
        note(.wake(identifier, id: id, earliest: earliest), at: now)
        guard !isDraining, let task = catalog.task(for: identifier),
            catalog.tasks[task].kind == .urlSession
        else { return nil }
        let entry = entry(for: identifier, task: task)
        guard book.entries[entry].pending == nil, arriving[entry] == nil,
            !book.entries[entry].hasRetries, book.entries[entry].running == 0
        else { return nil }
        let request = Request(
            id: id,
            task: identifier,
            parameters: "{}",
            submittedAt: now.unix,
            earliestBegin: earliest,
            priority: catalog.tasks[task].priority,
            submitter: .manifest
        )
        arriving[entry] = id
        return Arrival(
            request: request,
            change: .accepted(request, replacing: nil),
            entry: entry,
            replaced: nil
        )
    }

    /// What of these the machine does not offer now.
    package func unmet(_ requirements: RequirementSet) -> [UnmetRequirement] {
        gates.unmet(requirements)
    }
}
