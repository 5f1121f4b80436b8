// SPDX-License-Identifier: Apache-2.0

internal import BghostAudit
internal import BghostModel

/// Answers questions about the audit, on the read-only connection.
final class AuditReader {
    /// The rows that one piece of a check compares.
    private static let pieceMax = 2_000

    private let connection: Connection
    private let newestFirst: Statement
    private let oldestFirst: Statement
    private let newest: Statement

    init(_ connection: Connection) throws(SQLiteFailure) {
        self.connection = connection
        let select = "SELECT \(AuditColumns.names) FROM audit"
        newestFirst = try Statement(
            "\(select) WHERE seq < ? ORDER BY seq DESC LIMIT ?",
            on: connection
        )
        oldestFirst = try Statement("\(select) WHERE seq > ? ORDER BY seq LIMIT ?", on: connection)
        newest = try Statement(
            "SELECT seq, sum FROM audit ORDER BY seq DESC LIMIT 1",
            on: connection
        )
    }

    func page(_ query: AuditQuery) throws(SQLiteFailure) -> AuditPage {
        var page = AuditPage(newest: try head()?.seq ?? 0)
        var scanned = 0
        var last: Int64?
        let isUpward = query.after != nil
        try (isUpward ? oldestFirst : newestFirst).rows({ row in
            row.add(isUpward ? query.after ?? 0 : query.before ?? .max)
            row.add(AuditQuery.scanMax + 1)
        }) { row in
            guard page.rows.count < query.limit, scanned < AuditQuery.scanMax else {
                page.next = last
                return false
            }
            let found = AuditColumns.read(&row)
            if isUpward, let before = query.before, found.seq >= before { return false }
            scanned += 1
            last = found.seq
            if query.matches(found.entry) { page.rows.append(found) }
            return true
        }
        return page
    }

    /// The newest row; `nil` if there is none.
    func head() throws(SQLiteFailure) -> AuditHead? {
        var head: AuditHead?
        try newest.rows { row in
            let seq = row.int()
            head = AuditHead(seq: seq, sum: row.bytes())
            return false
        }
        return head
    }

    /// Compares the next piece of the chain.
    func advance(_ check: inout AuditCheck) throws(SQLiteFailure) {
        // One transaction, so that no row is deleted between the two questions.
        try connection.run("BEGIN")
        // A transaction that only reads has nothing to lose.
        defer { try? connection.run("COMMIT") }
        check.begin(after: try AuditAnchor.read(connection).head)
        var count = 0
        var next = check
        try oldestFirst.rows({ row in
            row.add(next.last?.seq ?? 0)
            row.add(Self.pieceMax)
        }) { row in
            next.add(AuditColumns.read(&row))
            count += 1
            return !next.isFinished
        }
        check = next
        if count < Self.pieceMax { check.finish() }
    }
}
