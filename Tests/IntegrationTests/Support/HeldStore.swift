// SPDX-License-Identifier: Apache-2.0

import BghostCore
import BghostStore
import Synchronization

/// A store in memory that answers when it is told to, as a slow disk does.
final class HeldStore: Store {
    private struct State {
        var isHeld = false
        var waiting: [@Sendable () -> Void] = []
    }

    private let store = MemoryStore()
    private let state = Mutex(State())
    private let arrivals = AsyncStream<Void>.makeStream()

    func hold() { state.withLock { $0.isHeld = true } }

    /// Waits for the next commit that is held.
    func untilHeld() async {
        for await _ in arrivals.stream { return }
    }

    /// Does and answers all that was held, in order.
    func letGo() {
        let waiting = state.withLock { state in
            state.isHeld = false
            defer { state.waiting = [] }
            return state.waiting
        }
        for commit in waiting { commit() }
    }

    func commit(
        _ changes: [StoreChange],
        isAwaited: Bool,
        onFailure: CommitFailurePolicy,
        completion: @escaping @Sendable (Result<Void, StoreError>) -> Void
    ) {
        let isHeld = state.withLock { state in
            guard state.isHeld else { return false }
            state.waiting.append { [store] in store.commit(changes, completion: completion) }
            return true
        }
        if isHeld {
            arrivals.continuation.yield()
        } else {
            store.commit(changes, completion: completion)
        }
    }

    var health: StoreHealth { store.health }
    func onHealthChange(_ body: @escaping @Sendable () -> Void) {}
    func retryNow() {}
    func settle(until deadline: UInt64) -> Int { store.settle(until: deadline) }
    func hurry() {}

    func recover(
        expecting expect: (Int) -> Void,
        _ each: (Request) -> Void
    ) throws(StoreError) -> RecoveredState {
        try store.recover(expecting: expect, each)
    }
    func runs(task: String?, limit: Int) -> [RunRecord] { store.runs(task: task, limit: limit) }
    func runs(idPrefix: String, limit: Int) -> [RunRecord] {
        store.runs(idPrefix: idPrefix, limit: limit)
    }
    func run(ofRequest id: RunID) -> RunRecord? { store.run(ofRequest: id) }
    func output(ofRun id: RunID) -> String { store.output(ofRun: id) }
    func lastRun(task: String) -> RunRecord? { store.lastRun(task: task) }
    func deadLetters(task: String?, limit: Int) -> [DeadLetter] {
        store.deadLetters(task: task, limit: limit)
    }
    func backup(to path: String) throws(StoreError) { try store.backup(to: path) }
    func close() { store.close() }
}
