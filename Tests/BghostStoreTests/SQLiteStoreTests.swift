// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostModel
import BghostNotify
import BghostPolicy
@testable import BghostStore
import BghostTestSupport
import Synchronization
import Testing

@Suite(.ownThreads) struct SQLiteStoreTests {
    let folder: TemporaryDirectory
    let path: String

    init() throws {
        folder = try TemporaryDirectory()
        path = folder.file("state.db")
    }

    private func open() throws -> SQLiteStore {
        try SQLiteStore(path: path) { Issue.record("\($0)") }
    }

    @Test(.timeLimit(.minutes(5)), arguments: StoreConformance.checks)
    func `The SQLite store conforms`(_ check: StoreConformance.Check) async throws {
        let store = try open()
        defer { store.close() }
        try await check.run(StoreConformance(store: store))
    }

    @Test(.timeLimit(.minutes(5))) func `Keeps everything over a restart`() async throws {
        let store = StoreConformance(store: try open())
        var record = Sample.fullRecord
        record.state = .running
        try await store.commit(
            .accepted(Sample.fullRequest, replacing: nil),
            .runStarted(record),
            .accepted(Sample.request(1), replacing: nil),
            .remembered(TaskMemory(identifier: "a", lastServedTime: 7)),
            .runtimeConsumed(RuntimeUse(plugin: "p", kind: .refresh, minute: 7, nanoseconds: 8)),
            .switched(plugin: "p", off: "broken"),
            .quarantined(plugin: "p", Sample.quarantine("p", reason: "it crashed")),
            .notification(.kept(Sample.notification)),
            .notification(.kept(Sample.otherNotification)),
            .notification(.removed(plugin: "p", id: Sample.otherNotification.content.id))
        )
        try await store.commit(Sample.wholeLife(5))
        let dead = Sample.request(9)
        try await store.commit(
            .accepted(dead, replacing: nil),
            .runStarted(Sample.begun(50, request: 9)),
            .runEnded(Sample.ended(50, request: 9), then: .dead(dead, reason: "tired"))
        )
        let first = try store.store.recover().incarnation
        store.store.close()

        for start in 1...3 {
            let store = try open()
            // The first answer was read at the opening, the second is read now.
            for _ in 1...2 {
                let state = try store.recover()
                #expect(state.incarnation == first + UInt32(start))
                #expect(state.pending == [Sample.request(1)])
                #expect(state.interrupted.map(\.request) == [Sample.fullRequest])
                #expect(state.interrupted.map(\.run) == [record])
                #expect(state.tasks == [TaskMemory(identifier: "a", lastServedTime: 7)])
                #expect(state.disabledPlugins == ["p": "broken"])
                #expect(state.quarantines == [Sample.quarantine("p", reason: "it crashed")])
                #expect(state.notifications == [Sample.notification])
                #expect(state.runtime.map(\.nanoseconds) == [8])
            }
            #expect(
                store.runs(task: nil, limit: 9)
                    == [Sample.ended(50, request: 9), Sample.ended(5, request: 10_005)]
            )
            #expect(store.deadLetters(task: nil, limit: 9).map(\.request) == [dead])
            store.close()
        }
    }

    /// A list that cannot be kept takes none of those with it that are committed in the same
    /// breath.
    @Test(.timeLimit(.minutes(5))) func `Keeps a list whole or not at all`() async throws {
        let store = try open()
        let leased = Sample.request(1)
        store.commit([
            .accepted(leased, replacing: nil), .runStarted(Sample.begun(100, request: 1)),
        ]) { _ in }
        let results = Mutex<[Bool]>([])
        for number in 10..<200 {
            var changes: [StoreChange] = [.accepted(Sample.request(number), replacing: nil)]
            if number % 10 == 5 { changes.append(.accepted(leased, replacing: nil)) }
            store.commit(changes) { result in
                results.withLock { $0.append((try? result.get()) != nil) }
            }
        }
        let kept = try store.recover().pending.map(\.id.low)
        #expect(kept == (10..<200).filter { $0 % 10 != 5 })
        #expect(results.withLock { $0 } == (10..<200).map { $0 % 10 != 5 })
        store.close()
        #expect(try open().recover().pending.count == kept.count)
    }
}
