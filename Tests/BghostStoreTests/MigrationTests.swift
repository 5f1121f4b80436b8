// SPDX-License-Identifier: Apache-2.0

import BghostCore
import BghostStore
import BghostTestSupport
import Testing

/// Files that an older version wrote.
@Suite(.ownThreads) struct MigrationTests {
    /// Takes away what later versions brought.
    private static let first = """
        ALTER TABLE task DROP COLUMN parked_since;
        ALTER TABLE task DROP COLUMN served;
        ALTER TABLE task DROP COLUMN uses;
        ALTER TABLE request DROP COLUMN aim;
        ALTER TABLE request DROP COLUMN tolerance;
        DROP TABLE runtime;
        DROP TABLE notification;
        DROP TABLE quarantine;
        DELETE FROM grdb_migrations WHERE identifier <> '1';
        PRAGMA user_version = 1;
        """

    @Test(.timeLimit(.minutes(1)))
    func `A file of the first version is taken over, and goes on as one of this`() async throws {
        let folder = try TemporaryDirectory()
        let path = folder.file("state.db")
        let old = TaskMemory(
            identifier: "a",
            debt: ExpiryDebt(points: 3, changedAt: 4, lastEnd: 5),
            lastSlot: 6,
            schedule: "every 5m",
            scheduledSince: 7
        )
        let store = StoreConformance(store: try SQLiteStore(path: path))
        try await store.commit(.accepted(Sample.fullRequestOfTheFirst, replacing: nil))
        try await store.commit(.remembered(old))
        try await store.commit(Sample.wholeLife(5))
        store.store.close()
        let downgrade = try Command.run(["sqlite3", path, Self.first])
        try #require(downgrade.exitCode == 0, "\(downgrade)")

        for _ in 0..<2 {
            let store = try SQLiteStore(path: path) { Issue.record("\($0)") }
            for _ in 0..<2 {
                let state = try store.recover()
                #expect(state.pending == [Sample.fullRequestOfTheFirst])
                #expect(state.tasks == [old])
                #expect(store.runs(task: nil, limit: 9) == [Sample.ended(5, request: 10_005)])
            }
            store.close()
        }
        var new = old
        new.parkedSince = 8
        let migrated = StoreConformance(store: try SQLiteStore(path: path))
        try await migrated.commit(.remembered(new))
        try await migrated.commit(.accepted(Sample.fullRequest, replacing: Sample.fullRequest.id))
        migrated.store.close()
        let again = try SQLiteStore(path: path)
        #expect(try again.recover().tasks == [new])
        #expect(try again.recover().pending == [Sample.fullRequest])
        again.close()
    }

    @Test(arguments: [
        "parked_since = 1", "parked_since = NULL", "served = '1/2'", "uses = '1:1'",
    ])
    func `A flipped value of a later column is seen`(change: String) async throws {
        let folder = try TemporaryDirectory()
        let path = folder.file("state.db")
        let store = StoreConformance(store: try SQLiteStore(path: path))
        let since: Int64? = change.hasSuffix("NULL") ? 9 : nil
        try await store.commit(.remembered(TaskMemory(identifier: "a", parkedSince: since)))
        store.store.close()
        let flip = try Command.run(["sqlite3", path, "UPDATE task SET \(change)"])
        try #require(flip.exitCode == 0, "\(flip)")
        let damaged = try SQLiteStore(path: path)
        defer { damaged.close() }
        // It is read as it is recovered, and written to only after that.
        let error = #expect(throws: StoreError.self) { try damaged.recover() }
        #expect(error?.kind == .corrupt)
    }
}

extension Sample {
    /// With every field that the first version has.
    static var fullRequestOfTheFirst: Request {
        var request = fullRequest
        request.tolerance = 0
        request.aim = nil
        return request
    }
}
