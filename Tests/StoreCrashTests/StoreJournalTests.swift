// SPDX-License-Identifier: Apache-2.0

import BghostModel
import BghostPolicy
@testable import BghostStore
import BghostTestSupport
import StoreScript
import Testing

@Suite(.ownThreads) struct StoreJournalTests {
    @Test(.timeLimit(.minutes(5))) func `Counts each change`() throws {
        let folder = try TemporaryDirectory()
        let store = try SQLiteStore(path: folder.file("state.db")) { Issue.record("\($0)") }
        for number in 0..<9 { store.commit(StoreScript.list(number)) { _ in } }
        // A request past its latest date counts, and so does one that replaces another.
        store.commit([.runEnded(StoreScript.run(0), then: .consumed)]) { _ in }
        let again = StoreScript.request(20)
        store.commit([.accepted(again, replacing: StoreScript.request(2).id)]) { _ in }
        _ = try store.recover()
        #expect(try store.changeCount() == 3 * 10 + 1 + 2)
        store.close()
        let later = try SQLiteStore(path: folder.file("state.db"))
        #expect(try later.changeCount() == 33)
        later.close()
    }

    /// Only the newest row is ever read.
    @Test(.timeLimit(.minutes(5))) func `Few rows are kept`() throws {
        let folder = try TemporaryDirectory()
        let store = try SQLiteStore(path: folder.file("state.db")) { Issue.record("\($0)") }
        // A transaction each.
        for number in 0..<60 {
            store.commit(StoreScript.list(number)) { _ in }
            _ = try store.recover()
        }
        #expect(try store.changeCount() == 200)
        let rows = try store.open().ask { reader throws(SQLiteFailure) in
            try reader.connection.number("SELECT count(*) FROM journal")
        }
        #expect((1..<40).contains(rows), "\(rows)")
        store.close()
    }
}
