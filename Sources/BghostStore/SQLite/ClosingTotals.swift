// SPDX-License-Identifier: Apache-2.0

/// What the tables held when the last daemon ended cleanly: of each, the number of its rows and the sum
/// of their checksums.
///
/// A changed byte in a page of SQLite's can hide whole rows, which the checksums of the rows do not
/// detect: a plugin that was disabled would run, and a handler with a checkpoint would begin from the
/// start. The journal has such a number of the requests after each transaction. The other tables that a
/// start reads are small, and are read once more at the end.
///
/// While a daemon runs there are no totals, so neither a store after a kill nor a backup has any.
enum ClosingTotals {
    /// The version of the store that brought the table: the migration's place in the list.
    static let version: Int32 = 17

    /// `format` is the version of the store: the next one may have other rows.
    static let migration = """
        CREATE TABLE closing (
            name TEXT PRIMARY KEY NOT NULL,
            format INTEGER NOT NULL,
            rows INTEGER NOT NULL,
            total INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        """

    /// The tables that a start reads besides those of requests; each has a checksum in `sum`.
    static let tables = [
        "alert", "checkpoint", "manifest", "notification", "pause",
        "progress", "quarantine", "runtime", "switched_off", "task",
    ]

    private struct Total: Equatable {
        var rows: Int64 = 0
        var sum: UInt64 = 0

        init() {}

        init(rows: Int64, sum: UInt64) { (self.rows, self.sum) = (rows, sum) }

        init(of table: String, _ connection: Connection) throws(SQLiteFailure) {
            let sums = try Statement("SELECT sum FROM \(table)", on: connection)
            try sums.rows { row in
                rows += 1
                sum &+= row.uint()
                return true
            }
        }
    }

    /// Stores the totals, and that the daemon ended cleanly.
    static func write(_ connection: Connection) throws(SQLiteFailure) {
        let insert = try Statement(
            "INSERT OR REPLACE INTO closing (name, format, rows, total) VALUES (?, ?, ?, ?)",
            on: connection
        )
        try Transaction(on: connection).run { () throws(SQLiteFailure) in
            for table in tables {
                let total = try Total(of: table, connection)
                try insert.run {
                    $0.add(table)
                    $0.add(Int64(Schema.version))
                    $0.add(total.rows)
                    $0.add(total.sum)
                }
            }
            try connection.run("UPDATE meta SET clean = 1")
        }
    }

    /// Compares the tables with the totals of the last clean end, if there are any.
    ///
    /// - Parameter path: the path of the database, for the error.
    static func check(_ connection: Connection, path: String) throws(SQLiteFailure) {
        let version = try connection.number("PRAGMA user_version")
        guard version >= Int64(Self.version) else { return }
        var totals: [String: Total] = [:]
        let stored = try Statement(
            "SELECT name, rows, total FROM closing WHERE format = ?",
            on: connection
        )
        try stored.rows({ $0.add(version) }) { row in
            totals[row.text()] = Total(rows: row.int(), sum: row.uint())
            return true
        }
        var changed: [String] = []
        for table in tables {
            guard let total = totals[table] else { continue }
            let found = try Total(of: table, connection)
            if found != total {
                changed.append("\(table) (\(found.rows) rows, and \(total.rows) before)")
            }
        }
        guard !changed.isEmpty else { return }
        throw .damaged(
            "these tables do not have the rows that they had when the last daemon ended:"
                + " \(changed.joined(separator: ", ")); to go on with what they have, remove \(path)-lock"
        )
    }
}
