// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostModel
import BghostNotify
import BghostPolicy
@testable import BghostStore
import BghostTestSupport
import Glibc
import Testing

/// Rows that were there when the last daemon ended, and that a start does not find.
@Suite(.ownThreads, .timeLimit(.minutes(5))) struct ClosingTotalsTests {
    let folder: TemporaryDirectory
    let path: String

    init() throws {
        folder = try TemporaryDirectory()
        path = folder.file("state.db")
    }

    /// A closed store with a row in each table that is compared.
    private func fill() async throws {
        let store = StoreConformance(store: try SQLiteStore(path: path))
        let begun = Sample.begun(1, request: 1)
        let pause = Pause(target: .all, since: 5, user: "uid 1000")
        try await store.commit(
            .accepted(Sample.request(1), replacing: nil),
            .runStarted(begun),
            .checkpointSaved(
                Checkpoint(CheckpointSummary(of: begun, length: 3, now: 7), [1, 2, 3])
            ),
            .switched(plugin: "photos", off: "too loud"),
            .quarantined(plugin: "p", Sample.quarantine("p", reason: "crashes")),
            .paused(pause.target, pause),
            .remembered(TaskMemory(identifier: "a", schedule: "1h")),
            .runtimeConsumed(RuntimeUse(plugin: "p", kind: .refresh, minute: 7, nanoseconds: 8)),
            .notification(.kept(Sample.notification)),
            .manifest("tasks"),
            .alert(.kept(AlertRow(key: AlertKey(.store), since: 6, detail: ""))),
            .alert(.progress(TaskProgress(task: "a", since: 1)))
        )
        store.store.close()
    }

    private func sql(_ statements: String) throws -> String {
        let command = try Command.run(["sqlite3", path, statements])
        try #require(command.exitCode == 0, "\(command)")
        return command.output
    }

    private func recovered() throws -> RecoveredState {
        let store = try SQLiteStore(path: path)
        defer { store.close() }
        return try store.recover()
    }

    /// A new table that a start reads has to be among them.
    @Test func `Each table with a checksum is compared, or is one of history and requests`()
        async throws
    {
        try await fill()
        let others = [
            "audit", "audit_anchor", "journal", "lease", "origin", "output", "request", "run",
            "run_day",
            "start",
        ]
        let tables = try sql(
            "SELECT m.name FROM sqlite_schema m JOIN pragma_table_info(m.name) c WHERE c.name = 'sum' ORDER BY 1"
        )
        let found = Set(tables.split(separator: "\n").map(String.init))
        #expect(found == Set(ClosingTotals.tables + others))
    }

    @Test(arguments: ClosingTotals.tables)
    func `A missing row is reported, and removing the lock file goes on`(table: String) async throws
    {
        try await fill()
        _ = try recovered()
        #expect(try sql("DELETE FROM \(table); SELECT changes()") == "1\n")
        let before = try File.read(path)
        let error = #expect(throws: StoreError.self) { try recovered() }
        #expect(error?.kind == .corrupt)
        let message = error?.message ?? ""
        #expect(message.contains("ended: \(table) (0 rows, and 1 before)"), "\(message)")
        #expect(message.contains("remove \(path)-lock"), "\(message)")
        #expect(try File.read(path) == before)
        #expect(unlink(path + "-lock") == 0)
        _ = try recovered()
        // What is left is what the next start compares with.
        _ = try recovered()
    }

    @Test func `After a kill there is nothing to compare with`() async throws {
        try await fill()
        let store = try SQLiteStore(path: path)
        _ = try store.recover()
        let copy = try TemporaryDirectory()
        for name in ["state.db", "state.db-wal", "state.db-lock"] {
            try copy.write(File.read(folder.file(name)), to: name)
        }
        store.close()
        let killed = try SQLiteStore(path: copy.file("state.db"))
        #expect(try killed.recover().checkpoints.count == 1)
        killed.close()
    }

    @Test func `Totals of another format do not count`() async throws {
        try await fill()
        _ = try sql("DELETE FROM pause; UPDATE closing SET format = format - 1")
        #expect(try recovered().pauses.isEmpty)
    }

    /// As one does who upgrades: the copy was made by the program of before.
    @Test func `A copy of an older format is prepared, and opens`() async throws {
        try await fill()
        _ = try sql(MigrationTests.fifteenth)
        #expect(unlink(path + "-lock") == 0)
        try StoreCopy.prepare(store: path)
        #expect(try recovered().checkpoints.count == 1)
    }

    @Test func `A checkpoint that is not in its index is reported`() async throws {
        try await fill()
        // The index loses its entry, as to a damaged page of its own.
        let page = try sql(
            "SELECT rootpage FROM sqlite_schema WHERE tbl_name = 'checkpoint' AND type = 'index'"
        )
        var bytes = try File.read(path)
        let start = (try #require(Int(page.dropLast())) - 1) * 4096
        // The number of the cells of a leaf of an index.
        #expect(Array(bytes[start + 3...start + 4]) == [0, 1])
        bytes[start + 4] = 0
        try folder.write(bytes, to: "state.db")
        let error = #expect(throws: StoreError.self) { try recovered() }
        #expect(error?.kind == .corrupt)
        #expect(error?.message.contains("the index of the checkpoints is damaged") == true)
    }
}
