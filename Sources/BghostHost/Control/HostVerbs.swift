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
        let entries =
            task.map { book.entry(of: $0).map { [$0] } ?? [] }
            ?? book.entries.indices.sorted {
                book.entries[$0].identifier < book.entries[$1].identifier
            }
        var list = PendingList(requests: [], total: 0)
        var room = Self.pendingBytesMax
        for entry in entries {
            for request in book.entries[entry].requests {
                list.total += 1
                guard list.requests.count < limit, room > 0 else { continue }
                room -= request.parameters.utf8.count
                list.requests.append(describe(request))
            }
        }
        return list
    }

    /// An answer with longer parameters than this together has fewer requests.
    private static var pendingBytesMax: Int { 16 << 20 }

    package func cancelPending(task: String?) async throws(OperatorRefusal) -> [PendingRequest] {
        let entries =
            task.map { book.entry(of: $0).map { [$0] } ?? [] }
            ?? Array(book.entries.indices)
        var withdrawn: [(request: Request, entry: Int)] = []
        var answer: [PendingRequest] = []
        var changes: [StoreChange] = []
        for entry in entries {
            for request in book.withdrawAll(entry: entry) {
                withdrawn.append((request, entry))
                answer.append(describe(request))
                changes.append(.closed(request.id, .cancelled))
                changes += leave(request, entry: entry)
            }
        }
        guard !withdrawn.isEmpty else { return [] }
        let result = await withCheckedContinuation { continuation in
            commit(changes) { _, result in continuation.resume(returning: result) }
            // Behind that, so that a schedule goes on in the store as it does here.
            for (request, entry) in withdrawn {
                log.write(.info, "request.cancelled", "withdrawn", task: request.task)
                resumeWaiters(of: request.id, with: nil)
                goOn(after: request, entry: entry)
            }
        }
        try check(result, "\(answer.count) requests are withdrawn")
        return answer
    }

    // MARK: Debts

    package func throttles(task: String?) -> [ThrottleStatus] {
        let now = WallClock.now
        return memories.values.compactMap { memory in
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
        guard let entry = book.entry(of: task), var memory = memories[entry] else {
            return ThrottleStatus(task: task, points: 0, level: 0)
        }
        let now = WallClock.now
        let owed = throttle(memory, now: now)
        guard owed.points > 0 else { return owed }
        memory.debt.clear(now: now)
        remember(memory, entry: entry)
        log.write(.info, "task.forgiven", "\(owed.points) points", task: task)
        dispatch()
        try await store(.remembered(memory), "the debt of \(task) is forgiven")
        return owed
    }
}
