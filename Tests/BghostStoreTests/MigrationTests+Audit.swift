// SPDX-License-Identifier: Apache-2.0

import BghostAudit
import BghostBase
import BghostModel
import BghostPolicy
import BghostStore
import BghostTestSupport
import Synchronization
import Testing

extension MigrationTests {
    @Test(.timeLimit(.minutes(5)))
    func `The audit of a store of the tenth version goes on with details`() async throws {
        let folder = try TemporaryDirectory()
        let path = folder.file("state.db")
        let store = StoreConformance(store: try SQLiteStore(path: path))
        // An old row would be trimmed for its age.
        let date: Int64 = 4_000_000_000_000_000_000
        let old = AuditEntry(at: date, AuditActor(.signal), verb: "reload", status: .done)
        try await store.commit(.audited(old))
        store.store.close()
        let downgrade = try Command.run(["sqlite3", path, Self.tenth])
        try #require(downgrade.exitCode == 0, "\(downgrade)")
        let migrated = try SQLiteStore(path: path)
        let new = AuditEntry(
            at: date + 1,
            AuditActor(.signal),
            verb: "reload",
            status: .done,
            detail: "~ task a: every: 30s → 45s"
        )
        try await StoreConformance(store: migrated).commit(.audited(new))
        let page = migrated.audit(AuditQuery(limit: 10))
        #expect(page.rows.map(\.entry) == [new, old])
        var check = AuditCheck()
        check = try #require(migrated.advance(check))
        #expect(check.isFinished && check.verdict.firstBreak == nil && check.verdict.rows == 2)
        migrated.close()
        // What it changed is part of the chain.
        let forge = "UPDATE audit SET detail = '~ task a: every: 30s → 40s' WHERE seq = 2"
        let forged = try Command.run(["sqlite3", path, forge])
        try #require(forged.exitCode == 0, "\(forged)")
        let again = try SQLiteStore(path: path)
        var second = AuditCheck()
        second = try #require(again.advance(second))
        #expect(second.verdict.firstBreak?.seq == 2)
        again.close()
    }

    @Test(.timeLimit(.minutes(5)))
    func `A store of the eleventh version keeps the manifest from then on`() async throws {
        let folder = try TemporaryDirectory()
        let path = folder.file("state.db")
        let store = StoreConformance(store: try SQLiteStore(path: path))
        try await store.commit(.accepted(Sample.fullRequestOfTheThirteenth, replacing: nil))
        store.store.close()
        let downgrade = try Command.run(["sqlite3", path, Self.eleventh])
        try #require(downgrade.exitCode == 0, "\(downgrade)")
        let migrated = StoreConformance(store: try SQLiteStore(path: path))
        #expect(try migrated.store.recover().manifest == nil)
        for text in ["{}", #"{"definitions": "é"}"#] { try await migrated.commit(.manifest(text)) }
        migrated.store.close()
        let again = try SQLiteStore(path: path)
        let state = try again.recover()
        #expect(
            state.manifest == #"{"definitions": "é"}"#
                && state.pending == [Sample.fullRequestOfTheThirteenth]
        )
        again.close()
        let damage = try Command.run(["sqlite3", path, "UPDATE manifest SET text = '{}'"])
        try #require(damage.exitCode == 0, "\(damage)")
        let damaged = try SQLiteStore(path: path)
        let error = #expect(throws: StoreError.self) { try damaged.recover() }
        #expect(error?.kind == .corrupt)
        damaged.close()
    }

    @Test(.timeLimit(.minutes(5)))
    func `A store of the twelfth version keeps checkpoints from then on`() async throws {
        let folder = try TemporaryDirectory()
        let path = folder.file("state.db")
        let store = StoreConformance(store: try SQLiteStore(path: path))
        let run = Sample.begun(101, request: 1, epoch: 5)
        try await store.commit(.accepted(Sample.request(1), replacing: nil))
        try await store.commit(.runStarted(run))
        store.store.close()
        let downgrade = try Command.run(["sqlite3", path, Self.twelfth])
        try #require(downgrade.exitCode == 0, "\(downgrade)")
        let migrated = StoreConformance(store: try SQLiteStore(path: path))
        #expect(try migrated.store.recover().checkpoints.isEmpty)
        let bytes = [UInt8](repeating: 7, count: Checkpoint.bytesMax)
        let about = CheckpointSummary(of: run, length: bytes.count, now: 8)
        try await migrated.commit(.checkpointSaved(Checkpoint(about, bytes)))
        migrated.store.close()
        let again = try SQLiteStore(path: path)
        #expect(try again.recover().checkpoints == [about])
        #expect(again.checkpoint(ofRequest: Sample.id(1)) == .found(Checkpoint(about, bytes)))
        again.close()

        // Damage of the bytes is found when they are read, and damage of the rest at the start.
        let bite = "UPDATE checkpoint SET bytes = zeroblob(65536)"
        try #require(try Command.run(["sqlite3", path, bite]).exitCode == 0)
        let reports = Mutex<[StoreError]>([])
        let bitten = try SQLiteStore(path: path) { error in reports.withLock { $0.append(error) } }
        #expect(try bitten.recover().checkpoints == [about])
        #expect(bitten.checkpoint(ofRequest: Sample.id(1)) == .unreadable)
        #expect(reports.withLock { $0.map(\.kind) } == [.corrupt])
        bitten.close()
        let damage = try Command.run(["sqlite3", path, "UPDATE checkpoint SET epoch = 6"])
        try #require(damage.exitCode == 0, "\(damage)")
        let damaged = try SQLiteStore(path: path)
        let error = #expect(throws: StoreError.self) { try damaged.recover() }
        #expect(error?.kind == .corrupt)
        damaged.close()
    }
}
