// SPDX-License-Identifier: Apache-2.0

import BghostModel
import BghostPolicy
@testable import BghostStore
import BghostTestSupport
import StoreScript
import Testing

@Suite(.ownThreads) struct StoreJournalTests {
    @Test(.timeLimit(.minutes(5))) func writesAJournalInOrder() throws {
        let folder = try TemporaryDirectory()
        let store = try SQLiteStore(path: folder.file("state.db")) { Issue.record("\($0)") }
        for number in 0..<9 { store.commit(StoreScript.list(number)) { _ in } }
        store.commit([.ended(StoreScript.run(0), then: .consumed)]) { _ in }
        let again = StoreScript.request(20)
        store.commit([.accepted(again, replacing: StoreScript.request(2).id)]) { _ in }
        _ = try store.recover()

        let lines = store.journal(after: 0, limit: 100)
        let triple = ["accepted", "accepted", "accepted", "began", "ended", "cancelled"]
        #expect(
            lines.map(\.event) == triple + triple + triple + ["fenced", "replaced", "accepted"]
        )
        #expect(lines.map(\.number) == Array(1...21))
        #expect(lines.allSatisfy { $0.at > 1_700_000_000_000_000_000 })
        #expect(lines[3].request == StoreScript.request(0).id)
        #expect(lines[3].run == StoreScript.run(0).id && lines[3].task == "task0")
        #expect(lines[4].detail == "succeeded")
        #expect(store.journal(after: 20, limit: 100).map(\.number) == [21])
        #expect(store.journal(after: 2, limit: 2).map(\.number) == [3, 4])
        #expect(store.journal(after: 2, limit: 0).isEmpty)
        store.close()
    }
}
