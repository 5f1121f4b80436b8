// SPDX-License-Identifier: Apache-2.0

internal import CSQLite

/// The marks of a database of ours, and the migrations from older versions.
///
/// The header of the file contains both: `application_id`, and `user_version`, the number of its
/// migrations. Older versions of bghost also kept a table `grdb_migrations`. It stays in the file and
/// is not read, since each migration also set `user_version` in the same transaction.
struct DatabaseFormat {
    let applicationID: Int32
    /// SQL scripts; one that was released never changes, and a new one follows it.
    let migrations: [String]

    /// The format that this bghost writes.
    var version: Int32 { Int32(migrations.count) }

    /// Whether the process that created the file ended before it had created the tables.
    func isUnfinished(_ connection: Connection) throws(SQLiteFailure) -> Bool {
        guard try connection.number("PRAGMA application_id") == 0,
            try connection.number("PRAGMA user_version") == 0
        else { return false }
        let tables = try connection.number(
            "SELECT count(*) FROM sqlite_master WHERE tbl_name <> 'grdb_migrations'"
        )
        return tables == 0
    }

    /// Rejects the database of another program, a format that this bghost does not know, and a file that holds more
    /// than the tables and indexes of bghost.
    ///
    /// - Parameter advice: what to do about a newer format.
    /// - Returns: the format of the file.
    func check(_ connection: Connection, advice: String) throws(SQLiteFailure) -> Int64 {
        guard try connection.number("PRAGMA application_id") == Int64(applicationID) else {
            throw SQLiteFailure(code: SQLITE_NOTADB, text: "it is the database of another program")
        }
        let found = try connection.number("PRAGMA user_version")
        guard found > 0 else { throw .damaged("its header has the format \(found)") }
        guard found <= Int64(version) else {
            throw SQLiteFailure(
                code: SQLITE_ERROR,
                text: "it was written by a newer bghost (format \(found), this one knows"
                    + " \(version)); \(advice)"
            )
        }
        try checkObjects(connection)
        return found
    }

    /// Rejects what no migration has made, such as a trigger in a backup from elsewhere.
    ///
    /// An index of another program runs its expressions at each change, and a unique one makes changes fail.
    private func checkObjects(_ connection: Connection) throws(SQLiteFailure) {
        let model = try Connection(path: ":memory:", isReadOnly: false, pragmas: "")
        for script in migrations { try model.run(script) }
        let others = try Self.objects(connection).subtracting(Self.objects(model))
        guard let other = others.min() else { return }
        throw .damaged(
            "it has the \(other), which bghost did not make; if an operator added it, drop it with"
                + " `sqlite3`"
        )
    }

    /// The types and names of all that a file has, without what SQLite itself and earlier versions add.
    private static func objects(_ connection: Connection) throws(SQLiteFailure) -> Set<String> {
        var objects: Set<String> = []
        let schema = try Statement(
            """
            SELECT CASE WHEN sql LIKE 'CREATE VIRTUAL %' THEN 'virtual ' ELSE '' END || type || ' ' || name
            FROM sqlite_schema WHERE NOT (type IN ('table', 'index') AND name LIKE 'sqlite~_%' ESCAPE '~')
            AND NOT (type = 'table' AND name = 'grdb_migrations')
            """,
            on: connection
        )
        try schema.rows { row in
            objects.insert(row.text())
            return true
        }
        return objects
    }

    /// Runs the missing migrations, each in its own transaction.
    ///
    /// The file must be new or have passed `check`.
    func migrate(_ connection: Connection) throws(SQLiteFailure) {
        let found = try connection.number("PRAGMA user_version")
        guard (0..<Int64(version)).contains(found) else { return }
        let transaction = try Transaction(on: connection)
        for (index, script) in migrations.enumerated().dropFirst(Int(found)) {
            do throws(SQLiteFailure) {
                try transaction.run { () throws(SQLiteFailure) in
                    try connection.run(script)
                    try connection.run("PRAGMA application_id = \(applicationID)")
                    try connection.run("PRAGMA user_version = \(index + 1)")
                }
            } catch {
                var error = error
                let step =
                    index == 0 ? "make its tables" : "take it from format \(index) to \(index + 1)"
                error.text = "cannot \(step): \(error.text)"
                throw error
            }
        }
    }
}
