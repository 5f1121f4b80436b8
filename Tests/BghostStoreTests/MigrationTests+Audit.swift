// SPDX-License-Identifier: Apache-2.0

import BghostAudit
import BghostBase
import BghostModel
import BghostPolicy
import BghostStore
import BghostTestSupport
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
}
