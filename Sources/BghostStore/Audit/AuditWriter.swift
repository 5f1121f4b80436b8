// SPDX-License-Identifier: Apache-2.0

internal import BghostAudit
internal import BghostBase
internal import BghostModel

/// Writes the rows of the audit, and deletes those that exceed its limits.
final class AuditWriter {
    /// What the writer knows of the table, so that a row needs no query.
    ///
    /// A value type: after a rollback, the previous value is restored.
    struct State {
        var head: AuditHead
        /// The last row that was deleted.
        var anchor: Int64
        /// All bytes ever written to the table, and those up to the anchor.
        var size: Int64
        var deletedSize: Int64
        /// Rows written since the last trim.
        var untrimmed = 0

        // The file may contain any number, so compute with wrap-around.
        var rows: Int64 { head.seq &- anchor }
        var bytes: Int64 { size &- deletedSize }
    }

    /// The most rows of one piece, which bounds how long the next transaction waits.
    private static let pieceMax: Int64 = 512

    var state: State
    var settings: AuditSettings { didSet { isUnfinished = true } }
    private let chunk: Int
    /// Whether the last piece left something to delete; a starting daemon does not know.
    private var isUnfinished = true
    private let insert: Statement
    private let oldest: Statement
    private let delete: Statement
    private let keepAnchor: Statement
    private var dates: RowDates

    init(
        _ connection: Connection,
        _ settings: AuditSettings,
        chunk: Int
    ) throws(SQLiteFailure) {
        self.settings = settings
        self.chunk = chunk
        state = try Self.state(connection)
        insert = try Statement(
            """
            INSERT INTO audit (\(AuditColumns.names), size)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16,
                ?17)
            """,
            on: connection
        )
        oldest = try Statement(
            "SELECT seq, at, size, sum FROM audit ORDER BY seq LIMIT ?",
            on: connection
        )
        delete = try Statement("DELETE FROM audit WHERE seq <= ?", on: connection)
        keepAnchor = try Statement(
            "INSERT OR REPLACE INTO audit_anchor VALUES (1, ?, ?, ?)",
            on: connection
        )
        dates = try RowDates("audit", on: connection)
    }

    private static func state(_ connection: Connection) throws(SQLiteFailure) -> State {
        let anchor = try AuditAnchor.read(connection)
        var state = State(
            head: anchor.head,
            anchor: anchor.head.seq,
            size: anchor.size,
            deletedSize: anchor.size
        )
        let newest = try Statement(
            "SELECT seq, size, sum FROM audit ORDER BY seq DESC LIMIT 1",
            on: connection
        )
        try newest.rows { row in
            let (seq, size) = (row.int(), row.int())
            (state.head, state.size) = (AuditHead(seq: seq, sum: row.bytes()), size)
            return false
        }
        return state
    }

    /// Appends a row to the chain; call it in a transaction.
    func write(_ entry: AuditEntry) throws(SQLiteFailure) {
        let row = AuditChain.row(entry, after: state.head)
        let size = state.size &+ Int64(entry.approximateBytes)
        try insert.run { AuditColumns.bind(row, size: size, to: &$0) }
        state.head = AuditHead(seq: row.seq, sum: row.sum)
        state.size = size
        state.untrimmed += 1
    }

    // MARK: Retention

    var isTrimDue: Bool { isUnfinished || state.untrimmed >= chunk }

    /// Gives up until there are new rows, after a piece has failed.
    func postponeTrim() {
        isUnfinished = false
        state.untrimmed = 0
    }

    /// Deletes one piece of what exceeds the limits; call it in a transaction.
    func trim(_ look: AgeClock.Look) throws(SQLiteFailure) {
        postponeTrim()
        let date = look.oldest(settings.age)
        dates.begin()
        let bytes = Int64(clamping: settings.bytes)
        var last: AuditAnchor?
        var count: Int64 = 0
        var next = state
        try oldest.rows({ $0.add(Self.pieceMax) }) { row throws(SQLiteFailure) in
            let (seq, at, size) = (row.int(), row.int(), row.int())
            // The newest row stays, so that its number and its sum are not only in the anchor.
            guard seq < next.head.seq else { return false }
            if next.rows <= Int64(settings.rows), next.bytes <= bytes {
                guard try dates.isOld(seq, at, before: date, now: look.now) else { return false }
            }
            (next.anchor, next.deletedSize) = (seq, size)
            last = AuditAnchor(head: AuditHead(seq: seq, sum: row.bytes()), size: size)
            count += 1
            return true
        }
        isUnfinished = dates.isUnfinished || count == Self.pieceMax
        guard let last else { return }
        try delete.run { $0.add(last.head.seq) }
        try keepAnchor.run { row in
            row.add(last.head.seq)
            row.add(last.size)
            row.add(last.head.sum)
        }
        state = next
    }
}

/// The last row of the audit that was deleted.
struct AuditAnchor {
    var head = AuditHead(seq: 0, sum: AuditChain.start)
    /// All bytes written to the table up to it.
    var size: Int64 = 0

    static func read(_ connection: Connection) throws(SQLiteFailure) -> AuditAnchor {
        var anchor = AuditAnchor()
        let stored = try Statement("SELECT seq, size, sum FROM audit_anchor", on: connection)
        try stored.rows { row in
            let (seq, size) = (row.int(), row.int())
            anchor = AuditAnchor(head: AuditHead(seq: seq, sum: row.bytes()), size: size)
            return false
        }
        return anchor
    }
}
