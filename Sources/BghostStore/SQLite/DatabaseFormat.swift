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

    /// Rejects the database of another program and a format that this bghost does not know.
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
        return found
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
