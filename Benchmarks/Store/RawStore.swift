// SPDX-License-Identifier: Apache-2.0

import GRDBSQLite

/// SQLite itself with the least around it: the floor that the store is measured against.
///
/// One table with an index on the begin date, as a hand-written queue would have it.
final class RawStore {
    private let database: OpaquePointer
    private let begin: OpaquePointer
    private let insert: OpaquePointer
    private let commit: OpaquePointer
    private let payload: String

    init(path: String, payload: String) {
        var handle: OpaquePointer?
        guard sqlite3_open(path, &handle) == SQLITE_OK, let handle else { fatalError("open") }
        let schema = """
            PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
            CREATE TABLE IF NOT EXISTS task (
                id INTEGER PRIMARY KEY, state INT, begin_at INT, kind TEXT, payload BLOB);
            CREATE INDEX IF NOT EXISTS due ON task (state, begin_at);
            """
        guard sqlite3_exec(handle, schema, nil, nil, nil) == SQLITE_OK else { fatalError("schema") }
        database = handle
        begin = Self.prepare("BEGIN IMMEDIATE", handle)
        insert = Self.prepare(
            "INSERT INTO task (state, begin_at, kind, payload) VALUES (0, ?1, 'noop', ?2)",
            handle
        )
        commit = Self.prepare("COMMIT", handle)
        self.payload = payload
    }

    static func prepare(_ sql: String, _ database: OpaquePointer) -> OpaquePointer {
        var statement: OpaquePointer?
        guard sqlite3_prepare_v2(database, sql, -1, &statement, nil) == SQLITE_OK, let statement
        else { fatalError(sql) }
        return statement
    }

    func transaction(_ rows: Range<Int>) {
        run(begin)
        payload.utf8.withContiguousStorageIfAvailable { bytes in
            for row in rows {
                sqlite3_bind_int64(insert, 1, Int64(row * 7919 % 100_000))
                sqlite3_bind_blob(insert, 2, bytes.baseAddress, Int32(bytes.count), nil)
                run(insert)
            }
        }
        run(commit)
    }

    private func run(_ statement: OpaquePointer) {
        guard sqlite3_step(statement) == SQLITE_DONE else { fatalError("step") }
        sqlite3_reset(statement)
    }

    /// Reads every column of every row, as a program that loads its queue does.
    ///
    /// - Returns: how many there are.
    static func scan(path: String, table: String) -> Int {
        var handle: OpaquePointer?
        guard sqlite3_open(path, &handle) == SQLITE_OK, let handle else { fatalError("open") }
        defer { sqlite3_close(handle) }
        let statement = prepare("SELECT * FROM \(table)", handle)
        defer { sqlite3_finalize(statement) }
        let columns = sqlite3_column_count(statement)
        var count = 0
        var sum = 0
        while sqlite3_step(statement) == SQLITE_ROW {
            count += 1
            for column in 0..<columns {
                switch sqlite3_column_type(statement, column) {
                case SQLITE_INTEGER: sum &+= Int(sqlite3_column_int64(statement, column))
                case SQLITE_NULL: break
                default:
                    sum &+= Int(bitPattern: sqlite3_column_blob(statement, column))
                    sum &+= Int(sqlite3_column_bytes(statement, column))
                }
            }
        }
        return sum == 0 ? 0 : count
    }
}
