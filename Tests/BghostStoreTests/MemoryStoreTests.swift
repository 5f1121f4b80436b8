// SPDX-License-Identifier: Apache-2.0

import BghostModel
@testable import BghostStore
import BghostTestSupport
import Testing

@Suite(.ownThreads) struct MemoryStoreTests {
    @Test(.timeLimit(.minutes(5)), arguments: StoreConformance.checks)
    func `The memory store conforms`(_ check: StoreConformance.Check) async throws {
        try await check.run(StoreConformance(store: MemoryStore()))
    }

    @Test(arguments: [1, 2, 3, 7])
    func `Keeps only the newest`(historyMax: Int) {
        let store = MemoryStore(historyMax: historyMax)
        for number in 1...20 {
            store.commit(Sample.wholeLife(number)) { _ in }
            let expected = (1...number).suffix(historyMax).reversed().map { Sample.id($0) }
            #expect(store.runs(task: nil, limit: 100).map(\.id) == expected)
            #expect(store.lastRun(task: "a")?.id == Sample.id(number))
        }
    }

    @Test(arguments: [0, -1, Int.min])
    func `Keeps at least one`(historyMax: Int) {
        let store = MemoryStore(historyMax: historyMax)
        store.commit(Sample.wholeLife(1) + Sample.wholeLife(2)) { _ in }
        #expect(store.runs(task: nil, limit: 100).map(\.id) == [Sample.id(2)])
    }

    @Test func `A task whose runs are overwritten has no last run`() {
        let store = MemoryStore(historyMax: 2)
        for (number, task) in [(1, "rare"), (2, "busy"), (3, "busy")] {
            store.commit(Sample.wholeLife(number, task: task)) { _ in }
        }
        #expect(store.lastRun(task: "rare") == nil)
        #expect(store.lastRun(task: "busy")?.id == Sample.id(3))
        store.commit(Sample.wholeLife(4, task: "rare")) { _ in }
        #expect(store.lastRun(task: "rare")?.id == Sample.id(4))
    }

    @Test func `Has nothing to back up`() {
        #expect(throws: StoreError.self) { try MemoryStore().backup(to: "/nowhere/at-all") }
    }
}
