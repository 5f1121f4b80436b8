// SPDX-License-Identifier: Apache-2.0

/// All that the writer says to SQLite, prepared once.
struct WriterStatements {
    let begin: Statement
    let commit: Statement
    let rollback: Statement

    let insertRequest: Statement
    let removePending: Statement
    let removeDead: Statement
    let removeRequest: Statement
    let lease: Statement
    let release: Statement
    let insertRun: Statement
    let remember: Statement
    let switchOff: Statement
    let switchOn: Statement
    let note: Statement

    let runAge: Statement
    let lineAge: Statement
    let trimRuns: Statement
    let trimJournal: Statement

    init(_ connection: OpaquePointer) throws(SQLiteFailure) {
        func prepare(_ sql: String) throws(SQLiteFailure) -> Statement {
            try Statement(sql, on: connection)
        }
        func insert(_ table: String, _ columns: String, _ count: Int) -> String {
            "INSERT INTO \(table) (\(columns)) VALUES (\(Self.marks(count)))"
        }
        // Immediate: a lock that is missing is then seen before anything is written.
        begin = try prepare("BEGIN IMMEDIATE")
        commit = try prepare("COMMIT")
        rollback = try prepare("ROLLBACK")

        let request = RequestColumns.names + ", " + RequestColumns.placeNames
        insertRequest = try prepare(insert("request", request, RequestColumns.count))
        removePending = try prepare(
            """
            DELETE FROM request WHERE id = ?1 AND died_at IS NULL
            AND NOT EXISTS (SELECT 1 FROM lease WHERE request = ?1)
            """
        )
        removeDead = try prepare("DELETE FROM request WHERE id = ? AND died_at IS NOT NULL")
        removeRequest = try prepare("DELETE FROM request WHERE id = ?")

        // The second column is the request's id.
        lease = try prepare(
            """
            INSERT OR IGNORE INTO lease (\(RunColumns.names))
            SELECT \(Self.marks(RunColumns.count))
            WHERE EXISTS (SELECT 1 FROM request WHERE id = ?2 AND died_at IS NULL)
            """
        )
        release = try prepare("DELETE FROM lease WHERE request = ? AND id = ? AND epoch = ?")
        insertRun = try prepare(
            insert("run", "seq, at, size, " + RunColumns.names, 3 + RunColumns.count)
        )
        remember = try prepare(
            "INSERT OR REPLACE INTO task (\(TaskColumns.names)) VALUES"
                + " (\(Self.marks(TaskColumns.count)))"
        )
        switchOff = try prepare("INSERT OR REPLACE INTO switched_off VALUES (?, ?, ?)")
        switchOn = try prepare("DELETE FROM switched_off WHERE plugin = ?")
        note = try prepare("INSERT INTO journal VALUES (\(Self.marks(10)))")

        runAge = try prepare("SELECT at, size FROM run WHERE seq = ?")
        lineAge = try prepare("SELECT at, size FROM journal WHERE seq = ?")
        trimRuns = try prepare("DELETE FROM run WHERE seq <= ?")
        trimJournal = try prepare("DELETE FROM journal WHERE seq <= ?")
    }

    private static func marks(_ count: Int) -> String {
        (1...count).map { "?\($0)" }.joined(separator: ", ")
    }
}
