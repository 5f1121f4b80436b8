// SPDX-License-Identifier: Apache-2.0

package import BghostCore
internal import BghostLinux
internal import BghostStore

/// The operator's commands for requests and runs.
extension Host {
    package func stop(run id: RunID) -> Bool {
        guard let run = runs.slots.lazy.compactMap({ $0 }).first(where: { $0.record.id == id })
        else { return false }
        handle(.stop(.user), of: run.number)
        return true
    }

    // MARK: Pending requests

    package func pending(task: String?, limit: Int) async -> PendingList {
        var list = PendingList(requests: [], total: 0)
        var room = Self.pendingBytesMax
        var start: Int? = 0
        while let from = start {
            let kept = room > 0 ? limit - list.requests.count : 0
            let page = dispatcher.scheduler.waiting(of: task, from: from, keeping: kept)
            list.total += page.count
            for request in page.requests where room > 0 {
                room -= request.parameters.utf8.count
                list.requests.append(describe(request))
            }
            start = page.next
            // Deadlines and frames of workers come between two pages.
            if start != nil { await Task.yield() }
        }
        return list
    }

    /// The limit for the parameters in one answer, in bytes; requests beyond it are counted but not listed.
    private static var pendingBytesMax: Int { 16 << 20 }

    package func cancelPending(task: String?) async throws(OperatorRefusal) -> [PendingRequest] {
        var described: [PendingRequest] = []
        var failure: StoreError?
        var start: Int? = 0
        while let from = start {
            // Deadlines and frames of workers come between two pages.
            await Task.yield()
            let page = dispatcher.scheduler.waiting(of: task, from: from, keeping: .max)
            guard !page.requests.isEmpty else {
                start = page.next
                continue
            }
            described += page.requests.map { describe($0) }
            if case .failure(let error) = await withdraw(Set(page.requests.map(\.task)).sorted()) {
                failure = failure ?? error
            }
            // What was withdrawn is not parked any more, so begin there again.
            start = from < 0 ? from : page.next
        }
        if let failure {
            try check(.failure(failure), "\(described.count) requests are withdrawn")
        }
        return described
    }

    /// Withdraws the waiting requests of tasks, and returns when that is stored or the store fails.
    private func withdraw(_ tasks: [String]) async -> Result<Void, StoreError> {
        await withCheckedContinuation { continuation in
            let (withdrawn, effects) = dispatcher.propose(at: moment) { scheduler, now, effects in
                scheduler.withdrawAll(of: tasks, now: now, &effects)
            }
            commitTold(withdrawn.changes) { _, result in continuation.resume(returning: result) }
            // Carry out the effects afterwards, so that the next request of a schedule is stored
            // after the withdrawal.
            carryOut(effects)
        }
    }

    // MARK: Throttling

    package func throttles(task: String?) -> [ThrottleStatus] {
        let now = wall
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

    package func clearThrottle(task: String) async throws(OperatorRefusal) -> ThrottleStatus {
        guard let memory = dispatcher.scheduler.memories(of: task).first else {
            return ThrottleStatus(task: task)
        }
        let before = throttle(memory, now: wall)
        let change = decide { scheduler, now, effects in
            scheduler.clearThrottle(task, now: now, &effects)
        }
        guard let change else { return before }
        try await store(change, "the throttle points of \(task) are cleared")
        return before
    }
}
