// SPDX-License-Identifier: Apache-2.0

/// The transactions of a connection that writes.
struct Transaction {
    private let connection: Connection
    private let begin: Statement
    private let commit: Statement
    private let rollback: Statement

    init(on connection: Connection) throws(SQLiteFailure) {
        self.connection = connection
        // IMMEDIATE: a missing lock is then detected before anything is written.
        begin = try Statement("BEGIN IMMEDIATE", on: connection)
        commit = try Statement("COMMIT", on: connection)
        rollback = try Statement("ROLLBACK", on: connection)
    }

    /// Commits all that a body writes, or nothing if it throws, the commit fails or the files were moved away.
    func run(_ body: () throws(SQLiteFailure) -> Void) throws(SQLiteFailure) {
        do throws(SQLiteFailure) {
            try begin.run()
            try body()
            try connection.place?.check()
            try commit.run()
        } catch {
            // SQLite rolls back after some failures. If this fails too, the next BEGIN reports it.
            if connection.isInTransaction { _ = try? rollback.run() }
            throw error
        }
    }
}
