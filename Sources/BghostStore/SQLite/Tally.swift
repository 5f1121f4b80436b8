// SPDX-License-Identifier: Apache-2.0

internal import GRDBSQLite

/// What the writer knows by heart of the tables, so that no change has to ask.
///
/// A value: a transaction that is rolled back gives back the one from before.
struct Tally {
    var places = Places()
    var journal = Stretch()
    var runs = Stretch()

    /// How many requests there are, and the exclusive or of where each stands.
    struct Places: Equatable {
        private(set) var count: Int64 = 0
        private(set) var sum: UInt64 = 0

        init() {}

        init(count: Int64, sum: UInt64) {
            self.count = count
            self.sum = sum
        }

        mutating func add(_ place: UInt64) {
            count += 1
            sum ^= place
        }

        mutating func remove(_ place: UInt64) {
            count -= 1
            sum ^= place
        }
    }

    /// A table that grows at one end and is trimmed at the other.
    struct Stretch {
        /// The number of the newest row; 0 before the first.
        var last: Int64 = 0
        /// The number of the oldest row that is still there.
        var first: Int64 = 1
        /// All bytes ever written to it.
        var size: Int64 = 0
        /// Rows written since it was last looked at whether some must go.
        var untrimmed = 0

        /// Nothing checks what the file says of its history's size: it may be any number.
        mutating func append(bytes: Int) -> (seq: Int64, size: Int64) {
            last &+= 1
            size &+= Int64(bytes)
            untrimmed += 1
            return (last, size)
        }
    }

    init(reading connection: OpaquePointer) throws(SQLiteFailure) {
        let newest = try Statement(
            """
            SELECT seq, count, at, size, requests, places, lines, sum FROM journal
            ORDER BY seq DESC LIMIT 1
            """,
            on: connection
        )
        try newest.rows { row throws(SQLiteFailure) in
            journal.last = row.int()
            _ = row.int()
            _ = row.int()
            journal.size = row.int()
            places = Places(count: row.int(), sum: row.uint())
            _ = row.bytes()
            try row.checkSum("the journal")
            return false
        }
        let newestRun = try Statement(
            "SELECT seq, size FROM run ORDER BY seq DESC LIMIT 1",
            on: connection
        )
        try newestRun.rows { row in
            runs.last = row.int()
            runs.size = row.int()
            return false
        }
        journal.first = try Self.first("journal", on: connection) ?? journal.last + 1
        runs.first = try Self.first("run", on: connection) ?? runs.last + 1
    }

    private static func first(
        _ table: String,
        on connection: OpaquePointer
    ) throws(SQLiteFailure) -> Int64? {
        var first: Int64?
        let oldest = try Statement(
            "SELECT seq FROM \(table) ORDER BY seq LIMIT 1",
            on: connection
        )
        try oldest.rows { row in
            first = row.int()
            return false
        }
        return first
    }
}
