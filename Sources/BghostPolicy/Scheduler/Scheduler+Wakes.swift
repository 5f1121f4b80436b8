// SPDX-License-Identifier: Apache-2.0

package import BghostBase
package import BghostFacts
internal import BghostModel

/// Requests that report ended transfers of a session to a plugin.
extension Scheduler {
    /// Creates the request for a session's task; the caller stores it like that of a submission.
    ///
    /// - Parameters:
    ///   - id: identifies the reported end: the same end has the same request.
    ///   - earliest: the time before which it does not start, Unix nanoseconds.
    /// - Returns: `nil` if a request of the task already waits or runs, or if the daemon is
    ///   stopping.
    package mutating func wake(
        _ identifier: String,
        id: RunID,
        earliest: Int64?,
        now: Moment
    ) -> AcceptedSubmission? {
        recordInput(.wake(identifier, id: id, earliest: earliest), at: now)
        guard !isDraining, let task = catalog.task(for: identifier),
            catalog.tasks[task].kind == .urlSession
        else { return nil }
        let entry = entry(for: identifier, task: task)
        guard pendingIndex.entries[entry].pending == nil, storing[entry]?.newest == nil,
            !pendingIndex.entries[entry].hasRetries, pendingIndex.entries[entry].running == 0
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
        storing[entry, default: UnstoredRequests()].newest = id
        storing[entry, default: UnstoredRequests()].count += 1
        return AcceptedSubmission(
            request: request,
            change: .accepted(request, replacing: nil),
            entry: entry,
            replaced: nil
        )
    }

    /// The requirements among these that are not met now.
    package func unmet(_ requirements: RequirementSet) -> [UnmetRequirement] {
        gates.unmet(requirements)
    }
}
