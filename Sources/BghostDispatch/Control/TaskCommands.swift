// SPDX-License-Identifier: Apache-2.0

package import BghostAPI
internal import BghostBase
internal import BghostPolicy
package import BghostServices
internal import BghostStore

/// The operator's commands for pending requests and throttled tasks.
///
/// The host owns it. Use it on the reactor's thread only; it does not block. Long lists are read in pages,
/// between which deadlines and frames of workers are handled.
package final class TaskCommands {
    /// The limit for the parameters in one answer, bytes; requests beyond it are counted but not listed.
    private static let pendingBytesMax = 16 << 20

    private let dispatcher: Dispatcher
    private let commits: CommitQueue
    private let describer: RequestDescriber
    private let clock: DaemonClock

    package init(
        _ dispatcher: Dispatcher,
        _ commits: CommitQueue,
        _ describer: RequestDescriber,
        _ clock: DaemonClock
    ) {
        self.dispatcher = dispatcher
        self.commits = commits
        self.describer = describer
        self.clock = clock
    }

    // MARK: Pending requests

    /// The pending requests of a task or of all tasks.
    ///
    /// - Parameter limit: the most requests to list; all are counted.
    package nonisolated(nonsending) func pending(task: String?, limit: Int) async -> PendingList {
        var list = PendingList(requests: [], total: 0)
        let selection = task.map { Scheduler.WaitingSelection.task($0) } ?? .all
        var room = Self.pendingBytesMax
        var start: Int? = 0
        while let from = start {
            let kept = room > 0 ? limit - list.requests.count : 0
            let page = dispatcher.scheduler.waiting(selection, from: from, keeping: kept)
            list.total += page.count
            for request in page.requests where room > 0 {
                room -= request.parameters.utf8.count
                list.requests.append(describer.describe(request))
            }
            start = page.next
            if start != nil { await Task.yield() }
        }
        return list
    }

    /// Withdraws the pending requests of a task or of all tasks, and returns when that is stored.
    package nonisolated(nonsending) func cancelPending(
        task: String?
    ) async throws(OperatorRefusal) -> [PendingRequest] {
        let selection = task.map { Scheduler.WaitingSelection.task($0) } ?? .all
        var described: [PendingRequest] = []
        var failure: StoreError?
        var start: Int? = 0
        while let from = start {
            await Task.yield()
            let page = dispatcher.scheduler.waiting(selection, from: from, keeping: .max)
            guard !page.requests.isEmpty else {
                start = page.next
                continue
            }
            described += page.requests.map { describer.describe($0) }
            if case .failure(let error) = await withdraw(Set(page.requests.map(\.task)).sorted()) {
                failure = failure ?? error
            }
            // What was withdrawn is not parked any more, so begin there again.
            start = from < 0 ? from : page.next
        }
        if let failure {
            throw .notStored(failure, "withdrawn: " + CountText.of(described.count, "request"))
        }
        return described
    }

    /// Withdraws the waiting requests of tasks, and returns when that is stored or the store fails.
    private nonisolated(nonsending) func withdraw(
        _ tasks: [String]
    ) async -> Result<Void, StoreError> {
        await withCheckedContinuation { continuation in
            let (withdrawn, effects) = dispatcher.propose { scheduler, now, effects in
                scheduler.withdrawAll(of: tasks, now: now, &effects)
            }
            commits.commitOrReport(commits.audited(withdrawn.changes)) {
                continuation.resume(returning: $0)
            }
            // Carry out the effects afterwards, so that the next request of a schedule is stored
            // after the withdrawal.
            dispatcher.execute(effects)
        }
    }

    // MARK: Throttling

    /// The throttle points of a task, or of all tasks that have some.
    package func throttles(task: String?) -> [ThrottleStatus] {
        let now = clock.wall
        return dispatcher.scheduler.memories().compactMap { memory in
            guard
                task.map({ $0 == memory.identifier }) ?? (memory.throttle.points(now: now) > 0)
            else { return nil }
            return throttle(memory, now: now)
        }.sorted { $0.task < $1.task }
    }

    private func throttle(_ memory: TaskMemory, now: Int64) -> ThrottleStatus {
        ThrottleStatus(
            task: memory.identifier,
            memory.throttle,
            dispatcher.scheduler.throttlePolicy(of: memory.identifier),
            now: now
        )
    }

    /// Clears the throttle points of a task, and returns when that is stored.
    ///
    /// - Returns: the points before.
    package nonisolated(nonsending) func clearThrottle(
        task: String
    ) async throws(OperatorRefusal) -> ThrottleStatus {
        guard let memory = dispatcher.scheduler.memories(of: task).first else {
            return ThrottleStatus(task: task)
        }
        let before = throttle(memory, now: clock.wall)
        let change = dispatcher.decide { scheduler, now, effects in
            scheduler.clearThrottle(task, now: now, &effects)
        }
        guard let change else { return before }
        try await commits.store([change], "the throttle points of \(task) are cleared")
        return before
    }
}
