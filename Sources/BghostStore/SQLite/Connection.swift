// SPDX-License-Identifier: Apache-2.0

internal import GRDB
internal import GRDBSQLite

/// One of the two connections of a store.
///
/// SQLite before 3.51.3, which is what Debian 12 has, can corrupt a database when two connections
/// write or checkpoint at once just as the WAL begins anew. So exactly one connection here ever
/// writes or checkpoints; the other is opened read only, and nobody but this process opens the
/// file at all. Nothing here opens the database by another descriptor either, not even to look at
/// it: closing that one would drop the POSIX locks that SQLite holds.
///
/// `@unchecked`: each connection is used by one part of the store only, under that part's lock or
/// on its thread.
struct Connection: @unchecked Sendable {
    let queue: DatabaseQueue
    /// For the statements, by whoever holds the lock of the part that this connection belongs to;
    /// GRDB itself uses it only when it is opened and closed.
    let handle: OpaquePointer

    /// - Parameter prepare: what GRDB has to do on it; nothing may be done through GRDB later.
    init(
        path: String,
        isReadOnly: Bool,
        prepare: (DatabaseQueue) throws -> Void = { _ in }
    ) throws(SQLiteFailure) {
        var configuration = Configuration()
        configuration.readonly = isReadOnly
        configuration.foreignKeysEnabled = false
        // Nobody else may hold a lock, so there is nobody to wait for.
        configuration.busyMode = .immediateError
        do {
            queue = try DatabaseQueue(path: path, configuration: configuration)
            guard let handle = queue.inDatabase({ $0.sqliteConnection }) else {
                throw SQLiteFailure(code: SQLITE_MISUSE, text: "the connection is closed")
            }
            self.handle = handle
            try prepare(queue)
            // They trap when SQLite calls them beyond GRDB's own queue.
            _ = sqlite3_commit_hook(handle, nil, nil)
            _ = sqlite3_rollback_hook(handle, nil, nil)
            sqlite3_set_authorizer(handle, nil, nil)
        } catch {
            throw SQLiteFailure(error)
        }
    }

    func run(_ sql: String) throws(SQLiteFailure) {
        guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else {
            throw SQLiteFailure(of: handle)
        }
    }

    func number(_ sql: String) throws(SQLiteFailure) -> Int64 {
        var number: Int64 = 0
        try Statement(sql, on: handle).rows { row in
            number = row.int()
            return false
        }
        return number
    }

    func text(_ sql: String) throws(SQLiteFailure) -> String {
        var text = ""
        try Statement(sql, on: handle).rows { row in
            text = row.text()
            return false
        }
        return text
    }

    func close() throws(SQLiteFailure) {
        do { try queue.close() } catch { throw SQLiteFailure(error) }
    }
}
