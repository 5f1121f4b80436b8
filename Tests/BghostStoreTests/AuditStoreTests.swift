// SPDX-License-Identifier: Apache-2.0

import BghostAudit
import BghostBase
import BghostModel
import BghostPolicy
@testable import BghostStore
import BghostTestSupport
import Testing

/// The chain of the audit in the file.
@Suite(.ownThreads) struct AuditStoreTests {
    let folder: TemporaryDirectory
    let path: String

    init() throws {
        folder = try TemporaryDirectory()
        path = folder.file("state.db")
    }

    private func open(_ settings: AuditSettings = AuditSettings()) throws -> StoreConformance {
        let policy = HistoryPolicy(audit: settings)
        let store = try SQLiteStore(path: path, retention: .init(policy: policy, chunk: 16)) {
            Issue.record("\($0)")
        }
        return StoreConformance(store: store)
    }

    private static let now: Int64 = 1_800_000_000_000_000_000

    /// What a client could have sent: nothing of it may break a row, an answer or the chain.
    private static let hostile = [
        "", "'; DROP TABLE audit; --", "a\u{0}b", "\u{1B}[2J\u{202E}", "e\u{301}",
        "\u{FFFD}\u{FEFF}",
        String(repeating: "\u{10FFFF}", count: 10_000), "\r\n", "x:9f\"}",
    ]

    private static func entry(_ number: Int, at: Int64? = nil) -> AuditEntry {
        let text = hostile[number % hostile.count]
        return AuditEntry(
            at: at ?? Self.now,
            AuditActor(
                number % 3 == 0 ? .dashboard : .socket,
                uid: number % 4 == 0 ? nil : .max,
                pid: number % 5 == 0 ? nil : 17,
                user: text,
                session: text
            ),
            verb: "trigger",
            target: text,
            digest: number % 2 == 0 ? [] : [UInt8](repeating: UInt8(number % 256), count: 32),
            status: .stored,
            code: "BG4013",
            refs: text
        )
    }

    private static func verdict(_ store: any Store, _ head: AuditHead? = nil) -> AuditVerdict {
        var check = AuditCheck(expecting: head)
        while !check.isFinished, let next = store.advance(check) { check = next }
        #expect(check.isFinished)
        return check.verdict
    }

    private func sqlite(_ sql: String) throws {
        let answer = try Command.run(["sqlite3", path, sql])
        try #require(answer.exitCode == 0, "\(answer)")
    }

    @Test(.timeLimit(.minutes(5)), arguments: [true, false])
    func `Rows come back as they were, and the chain holds`(inMemory: Bool) async throws {
        let conformance = try inMemory ? StoreConformance(store: MemoryStore()) : open()
        let store = conformance.store
        let entries = (0..<40).map { Self.entry($0) }
        for entry in entries { try await conformance.commit(.audited(entry)) }
        var query = AuditQuery(limit: 100)
        let page = store.audit(query)
        #expect(page.rows.map(\.entry) == entries.reversed())
        #expect(page.rows.map(\.seq) == (1...40).reversed().map(Int64.init))
        #expect(page.newest == 40 && page.next == nil)
        let head = try #require(store.auditHead())
        #expect(
            head.seq == 40 && head == page.rows.first.map { AuditHead(seq: $0.seq, sum: $0.sum) }
        )
        #expect(AuditHead(text: head.text) == head)
        let verdict = Self.verdict(store, head)
        #expect(verdict.firstBreak == nil && verdict.rows == 40 && verdict.head == head)

        // Pages, upward and downward.
        query.limit = 7
        var seen: [Int64] = []
        repeat {
            let page = store.audit(query)
            seen += page.rows.map(\.seq)
            query.before = page.next
        } while query.before != nil
        #expect(seen == (1...40).reversed().map(Int64.init))
        var upward = AuditQuery(limit: 9)
        upward.after = 30
        #expect(store.audit(upward).rows.map(\.seq) == Array(31...39))
        upward.after = store.audit(upward).next
        #expect(store.audit(upward).rows.map(\.seq) == [40] && store.audit(upward).next == nil)
        var filtered = AuditQuery(limit: 100)
        filtered.actor = "unix"
        filtered.target = "'; DROP*"
        #expect(store.audit(filtered).rows.map(\.seq) == [38, 29, 20, 11, 2])
        filtered.actor = "web"
        #expect(store.audit(filtered).rows.isEmpty)
        store.close()
        guard !inMemory else { return }
        let again = try open()
        try await again.commit(.audited(Self.entry(40)))
        #expect(Self.verdict(again.store, head).rows == 41)
        again.store.close()
    }

    @Test(
        .timeLimit(.minutes(5)),
        arguments: [
            ("UPDATE audit SET target = 'other' WHERE seq = 7", 7, "changed"),
            ("UPDATE audit SET at = at + 1 WHERE seq = 1", 1, "changed"),
            ("UPDATE audit SET uid = NULL WHERE seq = 30", 30, "changed"),
            ("UPDATE audit SET uid = uid + 4294967296 WHERE seq = 30", 30, "changed"),
            ("UPDATE audit SET sum = x'00' WHERE seq = 12", 12, "changed"),
            ("UPDATE audit SET prev = sum WHERE seq = 12", 12, "changed"),
            ("UPDATE audit SET digest = x'', code = '' WHERE seq = 31", 31, "changed"),
            ("UPDATE audit SET user = CAST(x'ff' AS TEXT) WHERE seq = 13", 13, "changed"),
            ("DELETE FROM audit WHERE seq = 20", 20, "missing"),
            ("DELETE FROM audit WHERE seq BETWEEN 3 AND 9", 3, "7 rows are missing"),
            ("DELETE FROM audit WHERE seq < 5", 1, "4 rows are missing"),
            ("DELETE FROM audit WHERE seq > 35", 36, "the log has row 40"),
            ("DELETE FROM audit", 1, "the log has row 40"),
            ("UPDATE audit SET seq = 41 WHERE seq = 40", 40, "missing"),
            ("UPDATE audit_anchor SET seq = 3", 4, "does not continue"),
            (
                "DELETE FROM audit WHERE seq < 5; UPDATE audit_anchor SET seq = 4", 5,
                "does not continue"
            ),
        ]
    )
    func `A break in the file is found`(_ sql: String, _ seq: Int64, _ what: String) async throws {
        let store = try open()
        for number in 0..<40 { try await store.commit(.audited(Self.entry(number))) }
        let head = try #require(store.store.auditHead())
        store.store.close()
        try sqlite(sql)
        // The daemon starts in any case, answers, and goes on with the chain.
        let again = try open()
        _ = try again.store.recover()
        let verdict = Self.verdict(again.store, head)
        #expect(verdict.firstBreak?.seq == seq, "\(verdict)")
        #expect(verdict.firstBreak?.what.contains(what) == true, "\(verdict)")
        _ = again.store.audit(AuditQuery(limit: 100))
        try await again.commit(.audited(Self.entry(1)))
        again.store.close()
    }

    @Test(.timeLimit(.minutes(5)))
    func `A rewritten chain is found by the head in the log`() async throws {
        let store = try open()
        for number in 0..<9 { try await store.commit(.audited(Self.entry(number))) }
        let head = try #require(store.store.auditHead())
        store.store.close()
        try sqlite("DELETE FROM audit WHERE seq > 5")
        let again = try open()
        for number in 20..<30 { try await again.commit(.audited(Self.entry(number))) }
        #expect(Self.verdict(again.store).firstBreak == nil)
        let verdict = Self.verdict(again.store, head)
        #expect(verdict.firstBreak?.seq == 9)
        #expect(verdict.firstBreak?.what.contains("the log has") == true)
        again.store.close()
    }

    @Test(.timeLimit(.minutes(5)), arguments: ["rows", "age", "size"])
    func `Old rows are deleted in pieces, and the chain holds`(limit: String) async throws {
        let settings =
            switch limit {
            case "rows": AuditSettings(rows: 100)
            case "age": AuditSettings(age: .seconds(3600))
            default: AuditSettings(bytes: 30_000)
            }
        let store = try open(settings)
        let old = limit == "age" ? 1_000_000_000 : Self.now
        for number in 0..<2000 {
            store.store.commit([.audited(Self.entry(number, at: old))]) { _ in }
        }
        for number in 0..<40 { try await store.commit(.audited(Self.entry(number))) }
        let query = AuditQuery(limit: 5000)
        var forward = query
        forward.after = 0
        while true {
            let rows = store.store.audit(query).rows
            let ascending = store.store.audit(forward).rows
            let verdict = Self.verdict(store.store)
            // Each piece leaves a chain that holds.
            #expect(verdict.firstBreak == nil)
            // Nothing was deleted between the three looks.
            guard rows.count > 150 || verdict.rows != Int64(rows.count) else {
                #expect(rows.count >= 40 && rows.first?.seq == 2040)
                #expect(ascending == rows.reversed())
                #expect(verdict.deleted == 2040 - Int64(rows.count))
                break
            }
            await withCheckedContinuation { turn in store.store.answer { turn.resume() } }
        }
        store.store.close()
        // A start counts what is left, and the numbers go on.
        let again = try open(settings)
        try await again.commit(.audited(Self.entry(1)))
        #expect(again.store.auditHead()?.seq == 2041)
        #expect(Self.verdict(again.store).firstBreak == nil)
        again.store.close()
    }

    @Test(.timeLimit(.minutes(5)))
    func `A check goes on while rows are deleted and added`() async throws {
        let store = try open(AuditSettings(rows: 1000))
        for number in 0..<6000 {
            store.store.commit([.audited(Self.entry(number))], isAwaited: false) { _ in }
        }
        try await store.commit(.audited(Self.entry(1)))
        var check = AuditCheck()
        var next = 0
        while !check.isFinished, let further = store.store.advance(check) {
            check = further
            for _ in 0..<20 {
                next += 1
                try await store.commit(.audited(Self.entry(next)))
            }
        }
        #expect(check.verdict.firstBreak == nil, "\(check.verdict)")
        store.store.close()
    }

    @Test(.timeLimit(.minutes(5)))
    func `A transaction that is not stored leaves no row`() async throws {
        let store = try open()
        try await store.commit(.accepted(Sample.request(1), replacing: nil))
        try await store.commit(.runStarted(Sample.begun(8, request: 1)))
        // A leased request cannot be accepted again.
        let again = Sample.request(1)
        await #expect(throws: StoreError.self) {
            try await withCheckedThrowingContinuation { done in
                store.store.commit([
                    .audited(Self.entry(1)), .accepted(again, replacing: nil),
                ]) { done.resume(with: $0.mapError { $0 as any Error }) }
            }
        }
        #expect(store.store.audit(AuditQuery(limit: 9)).rows.isEmpty)
        try await store.commit(.audited(Self.entry(2)))
        #expect(store.store.auditHead()?.seq == 1)
        #expect(Self.verdict(store.store).firstBreak == nil)
        store.store.close()
    }
}
