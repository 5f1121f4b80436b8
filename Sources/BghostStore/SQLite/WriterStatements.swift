// SPDX-License-Identifier: Apache-2.0

/// All statements of the writer, prepared once.
struct WriterStatements {
    let transaction: Transaction

    let insertRequest: Statement
    let removePending: Statement
    let removeDead: Statement
    let removeRequest: Statement
    let mayLease: Statement
    let lease: Statement
    let release: Statement
    let insertRun: Statement
    let remember: Statement
    let forget: Statement
    let keepRuntime: Statement
    let trimRuntime: Statement
    let switchOff: Statement
    let switchOn: Statement
    let quarantine: Statement
    let liftQuarantine: Statement
    let pause: Statement
    let manifest: Statement
    let alert: Statement
    let removeAlert: Statement
    let progress: Statement
    let removeProgress: Statement
    let resume: Statement
    let keepNotification: Statement
    let removeNotification: Statement
    let writeJournal: Statement
    let findOrigin: Statement
    let insertOrigin: Statement
    let trimOrigins: Statement
    let insertOutput: Statement
    let insertStart: Statement

    let trimJournal: Statement

    init(_ connection: Connection) throws(SQLiteFailure) {
        func prepare(_ sql: String) throws(SQLiteFailure) -> Statement {
            try Statement(sql, on: connection)
        }
        func insert(_ table: String, _ columns: String, _ count: Int) -> String {
            "INSERT INTO \(table) (\(columns)) VALUES (\(Self.marks(count)))"
        }
        transaction = try Transaction(on: connection)

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

        mayLease = try prepare(
            """
            SELECT 1 FROM request WHERE id = ?1 AND died_at IS NULL
            AND NOT EXISTS (SELECT 1 FROM lease WHERE request = ?1)
            """
        )
        lease = try prepare(insert("lease", RunColumns.names, RunColumns.count))
        release = try prepare("DELETE FROM lease WHERE request = ? AND id = ? AND epoch = ?")
        insertRun = try prepare(
            insert("run", "seq, at, size, " + RunColumns.names, 3 + RunColumns.count)
        )
        remember = try prepare(
            "INSERT OR REPLACE INTO task (\(TaskColumns.names)) VALUES"
                + " (\(Self.marks(TaskColumns.count)))"
        )
        forget = try prepare("DELETE FROM task WHERE identifier = ?")
        keepRuntime = try prepare("INSERT OR REPLACE INTO runtime VALUES (?, ?, ?, ?, ?)")
        trimRuntime = try prepare("DELETE FROM runtime WHERE minute < ? OR minute > ?")
        switchOff = try prepare("INSERT OR REPLACE INTO switched_off VALUES (?, ?, ?)")
        switchOn = try prepare("DELETE FROM switched_off WHERE plugin = ?")
        quarantine = try prepare(
            "INSERT OR REPLACE INTO quarantine VALUES (\(Self.marks(6)))"
        )
        liftQuarantine = try prepare("DELETE FROM quarantine WHERE plugin = ?")
        pause = try prepare(
            "INSERT OR REPLACE INTO pause (\(PauseColumns.names)) VALUES"
                + " (\(Self.marks(PauseColumns.count)))"
        )
        manifest = try prepare(
            "INSERT OR REPLACE INTO manifest (\(ManifestColumns.names)) VALUES"
                + " (\(Self.marks(ManifestColumns.count)))"
        )
        resume = try prepare("DELETE FROM pause WHERE scope = ? AND name = ?")
        alert = try prepare(
            "INSERT OR REPLACE INTO alert (\(AlertColumns.names)) VALUES"
                + " (\(Self.marks(AlertColumns.count)))"
        )
        removeAlert = try prepare("DELETE FROM alert WHERE rule = ? AND subject = ?")
        progress = try prepare(
            "INSERT OR REPLACE INTO progress (\(AlertColumns.progressNames)) VALUES"
                + " (\(Self.marks(AlertColumns.progressCount)))"
        )
        removeProgress = try prepare("DELETE FROM progress WHERE task = ?")
        keepNotification = try prepare(
            "INSERT OR REPLACE INTO notification (\(NotificationColumns.names)) VALUES"
                + " (\(Self.marks(NotificationColumns.count)))"
        )
        removeNotification = try prepare("DELETE FROM notification WHERE plugin = ? AND id = ?")
        writeJournal = try prepare("INSERT INTO journal VALUES (\(Self.marks(8)))")
        findOrigin = try prepare(
            "SELECT number FROM origin WHERE version = ? AND library = ? AND manifest = ?"
        )
        insertOrigin = try prepare(
            """
            INSERT INTO origin (number, version, library, manifest, sum)
            VALUES ((SELECT coalesce(max(number), 0) + 1 FROM origin), ?1, ?2, ?3, ?4)
            """
        )
        trimOrigins = try prepare(
            "DELETE FROM origin WHERE number <= (SELECT max(number) FROM origin) - ?"
        )
        insertOutput = try prepare(
            insert("output", "seq, at, size, success, lines, sum", 6)
        )

        insertStart = try prepare(
            insert("start", "seq, at, " + SkippedStartColumns.names, 2 + SkippedStartColumns.count)
        )
        trimJournal = try prepare("DELETE FROM journal WHERE seq <= ?")
    }

    private static func marks(_ count: Int) -> String {
        (1...count).map { "?\($0)" }.joined(separator: ", ")
    }
}
