// SPDX-License-Identifier: Apache-2.0

package import BghostCore
internal import BghostLinux
internal import BghostStore

/// What an operator does to requests and runs.
extension Host {
    package func stop(run id: RunID) -> Bool {
        guard let run = runs.slots.lazy.compactMap({ $0 }).first(where: { $0.record.id == id })
        else { return false }
        handle(.stop(.user), of: run.number)
        return true
    }

    // MARK: What waits

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

    /// An answer with longer parameters than this together has fewer requests.
    private static var pendingBytesMax: Int { 16 << 20 }

    package func cancelPending(task: String?) async throws(OperatorRefusal) -> [PendingRequest] {
        let described = scheduler.requests(of: task).map { describe($0) }
        guard !described.isEmpty else { return [] }
        let result = await withCheckedContinuation { continuation in
            var effects: [SchedulerEffect] = []
            let withdrawn = scheduler.withdrawAll(task, now: moment, &effects)
            commit(withdrawn.changes) { _, result in continuation.resume(returning: result) }
            // Behind that, so that a schedule goes on in the store as it does here.
            carryOut(effects)
        }
        try check(result, "\(described.count) requests are withdrawn")
        return described
    }

    // MARK: Debts

    package func throttles(task: String?) -> [ThrottleStatus] {
        let now = wall
        return scheduler.memories().compactMap { memory in
            guard task.map({ $0 == memory.identifier }) ?? (memory.debt.points(now: now) > 0) else {
                return nil
            }
            return throttle(memory, now: now)
        }.sorted { $0.task < $1.task }
    }

    private func throttle(_ memory: TaskMemory, now: Int64) -> ThrottleStatus {
        let points = memory.debt.points(now: now)
        let causes =
            points == 0
            ? []
            : store.runs(task: memory.identifier, limit: 50).compactMap { run in
                run.outcome.flatMap { outcome -> ThrottleStatus.Cause? in
                    guard let event = ExpiryDebt.Event(outcome, run.stopReason),
                        event != .succeeded
                    else { return nil }
                    return .init(run: run.id, outcome: outcome, endedAt: run.endedAt ?? 0)
                }
            }
        return ThrottleStatus(
            task: memory.identifier,
            points: points,
            level: memory.debt.level(now: now),
            nextStart: memory.debt.nextStart(now: now),
            causes: Array(causes.prefix(10))
        )
    }

    package func forgive(task: String) async throws(OperatorRefusal) -> ThrottleStatus {
        guard let memory = scheduler.memories(of: task).first else {
            return ThrottleStatus(task: task, points: 0, level: 0)
        }
        let owed = throttle(memory, now: wall)
        let change = decide { scheduler, now, effects in
            scheduler.forgive(task, now: now, &effects)
        }
        guard let change else { return owed }
        try await store(change, "the debt of \(task) is forgiven")
        return owed
    }
}
