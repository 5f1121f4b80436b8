// SPDX-License-Identifier: Apache-2.0

internal import BghostModel
internal import BghostPolicy

/// The checksum of all rows that the next start reads, besides requests, as of a clean end.
///
/// A changed byte in a page of SQLite's can hide whole rows, which the checksums of the rows do not
/// detect: a plugin that was disabled would run, and a handler with a checkpoint would begin from the
/// start. The journal has such a checksum of the requests after each transaction. The other tables are
/// small, and are read once more at the end.
enum ClosingTotal {
    /// The version of the store that brought the column: the migration's place in the list.
    static let version: Int32 = 17

    /// NULL where no daemon has ended cleanly.
    static let migration = "ALTER TABLE meta ADD COLUMN closing_total INTEGER"

    /// Stores the checksum, and that the daemon ended cleanly.
    static func write(_ connection: Connection) throws(SQLiteFailure) {
        // A row that cannot be read fails the next start, which names it. The end goes on, to copy the WAL.
        let total = try? connection.total { () throws(SQLiteFailure) in
            var state = RecoveredState(incarnation: 0)
            try Recovery.readRest(connection, Schema.version, &state)
        }
        let update = try Statement(
            "UPDATE meta SET clean = 1, closing_total = ?",
            on: connection
        )
        try update.run {
            if let total { $0.add(total) } else { $0.addNull() }
        }
    }

    /// Compares the checksum of what a start has read, if the last daemon ended cleanly.
    static func check(
        _ total: UInt64,
        _ connection: Connection,
        version: Int32
    ) throws(SQLiteFailure) {
        guard version >= Self.version else { return }
        var expected: UInt64?
        let stored = try Statement(
            "SELECT closing_total FROM meta WHERE clean <> 0 AND closing_total IS NOT NULL",
            on: connection
        )
        try stored.rows { row in
            expected = row.uint()
            return false
        }
        guard expected == nil || expected == total else {
            throw .damaged(
                "its tables do not have the rows that they had when the last daemon ended; a backup has them"
            )
        }
    }
}
