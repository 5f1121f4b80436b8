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

    package func pending(task: String?, limit: Int) -> PendingList {
        var list = PendingList(requests: [], total: 0)
        var room = Self.pendingBytesMax
        for request in scheduler.requests(of: task) {
            list.total += 1
            guard list.requests.count < limit, room > 0 else { continue }
            room -= request.parameters.utf8.count
            list.requests.append(describe(request))
        }
        return list
    }

    /// The limit for the parameters in one answer, in bytes; requests beyond it are counted but not listed.
    private static var pendingBytesMax: Int { 16 << 20 }

    package func cancelPending(task: String?) async throws(OperatorRefusal) -> [PendingRequest] {
        let described = scheduler.requests(of: task).map { describe($0) }
        guard !described.isEmpty else { return [] }
        let result = await withCheckedContinuation { continuation in
            var effects: [SchedulerEffect] = []
            let withdrawn = scheduler.withdrawAll(task, now: moment, &effects)
            commitTold(withdrawn.changes) { _, result in continuation.resume(returning: result) }
            // Carry out the effects afterwards, so that the next request of a schedule is stored
            // after the withdrawal.
            carryOut(effects)
        }
        try check(result, "\(described.count) requests are withdrawn")
        return described
    }

    // MARK: Throttling

    package func throttles(task: String?) -> [ThrottleStatus] {
        let now = wall
        return scheduler.memories().compactMap { memory in
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
            scheduler.throttlePolicy(of: memory.identifier),
            now: now
        )
    }

    package func clearThrottle(task: String) async throws(OperatorRefusal) -> ThrottleStatus {
        guard let memory = scheduler.memories(of: task).first else {
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
