// SPDX-License-Identifier: Apache-2.0

/// In-memory counters of the tables, mirrored in the journal row, so that a change needs no query.
///
/// A value type: after a rollback, the previous value is restored.
struct TableSizes {
    var places = Places()
    var journal = Extent()
    var runs = Extent()
    var outputs = Extent()
    /// Its sizes are not counted.
    var starts = Extent()

    /// The number of requests, and the exclusive or of their states.
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

    /// What a row of `run` and of `output` counts besides its texts, bytes.
    static let runOverhead = 200
    static let outputOverhead = 40

    /// A table that grows at one end and is trimmed, mostly at the other.
    struct Extent {
        /// The number of the newest row; 0 if there is none.
        var last: Int64 = 0
        /// The number of the oldest row that still exists.
        var first: Int64 = 1
        /// All bytes ever written to the table.
        var size: Int64 = 0
        /// `size` before the oldest row.
        var start: Int64 = 0
        /// Rows between the oldest and the newest that were deleted.
        var missing = Missing()
        /// Rows written since the last trim.
        var untrimmed = 0
        /// Whether rows were deleted since `settle`.
        private(set) var isChanged = false

        struct Missing: Equatable {
            var rows: Int64 = 0
            var bytes: Int64 = 0
        }

        // The file may contain any number as the size of its history, so compute with wrap-around.

        /// The number of rows.
        var rows: Int64 { last &- first &+ 1 &- missing.rows }

        /// The approximate size of the rows, bytes.
        var bytes: Int64 { size &- start &- missing.bytes }

        mutating func append(bytes: Int) -> (seq: Int64, size: Int64) {
            last &+= 1
            size &+= Int64(bytes)
            untrimmed += 1
            return (last, size)
        }

        /// Records that any row was deleted.
        mutating func remove(bytes: Int64) {
            missing.rows &+= 1
            missing.bytes &+= bytes
            isChanged = true
        }

        /// Adopts the oldest row, after rows were deleted: those before it are not missing any more.
        mutating func settle(first: Int64?, start: Int64?) {
            let (rows, bytes) = (rows, bytes)
            self.first = first ?? last &+ 1
            self.start = start ?? size
            missing.rows = last &- self.first &+ 1 &- rows
            missing.bytes = size &- self.start &- bytes
            isChanged = false
        }
    }

    /// Counts a change that the next row of the journal is to stand for.
    mutating func countChange() { _ = journal.append(bytes: 0) }

    init(reading connection: Connection) throws(SQLiteFailure) {
        let newest = try Statement(
            """
            SELECT seq, count, at, size, requests, places, lines, sum FROM journal
            ORDER BY seq DESC LIMIT 1
            """,
            on: connection
        )
        try newest.rows { row throws(SQLiteFailure) in
            journal.last = row.int()
            // What is read of a row is checked with all of it.
            _ = row.int()
            _ = row.int()
            journal.size = row.int()
            places = Places(count: row.int(), sum: row.uint())
            // As above.
            _ = row.bytes()
            try row.checkSum("the journal")
            // Numbers of lines are subtracted from each other, and the next line needs one.
            guard (0..<Int64.max / 2).contains(journal.last) else {
                throw .damaged("the journal has a line with the impossible number \(journal.last)")
            }
            return false
        }
        runs = try Self.extent("run", TrimStatements.runBytes, on: connection)
        journal.first = try Self.first("journal", on: connection) ?? journal.last + 1
        // A file that is not migrated yet has no such tables.
        if try Self.has("output", on: connection) {
            outputs = try Self.extent("output", TrimStatements.outputSize, on: connection)
        }
        if try Self.has("extent", on: connection) {
            runs.missing = try Self.missing("run", on: connection)
            outputs.missing = try Self.missing("output", on: connection)
            starts.last =
                try connection.number("SELECT coalesce(max(seq), 0) FROM start")
            starts.first = try Self.first("start", on: connection) ?? starts.last + 1
        }
    }

    private static func missing(
        _ table: String,
        on connection: Connection
    ) throws(SQLiteFailure) -> Extent.Missing {
        var missing = Extent.Missing()
        let stored = try Statement(
            "SELECT missing_rows, missing_bytes FROM extent WHERE name = ?",
            on: connection
        )
        try stored.rows({ $0.add(table) }) { row in
            missing = Extent.Missing(rows: row.int(), bytes: row.int())
            return false
        }
        return missing
    }

    private static func extent(
        _ table: String,
        _ bytes: String,
        on connection: Connection
    ) throws(SQLiteFailure) -> Extent {
        var extent = Extent()
        let newest = try Statement(
            "SELECT seq, size FROM \(table) ORDER BY seq DESC LIMIT 1",
            on: connection
        )
        try newest.rows { row in
            extent.last = row.int()
            extent.size = row.int()
            return false
        }
        extent.first = extent.last &+ 1
        extent.start = extent.size
        let oldest = try Statement(
            "SELECT seq, size, \(bytes) FROM \(table) ORDER BY seq LIMIT 1",
            on: connection
        )
        try oldest.rows { row in
            extent.first = row.int()
            extent.start = row.int() &- row.int()
            return false
        }
        return extent
    }

    private static func has(
        _ table: String,
        on connection: Connection
    ) throws(SQLiteFailure) -> Bool {
        var isThere = false
        let look = try Statement(
            "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?",
            on: connection
        )
        try look.rows({ $0.add(table) }) { _ in
            isThere = true
            return false
        }
        return isThere
    }

    private static func first(
        _ table: String,
        on connection: Connection
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
