// SPDX-License-Identifier: Apache-2.0

internal import BghostCore
internal import GRDB
internal import GRDBSQLite
internal import Glibc

/// A store that is this process's and passed all checks but that of its rows, which are read next.
struct FoundStore: Sendable {
    let opening: StoreOpening
    let reader: Connection
    /// `nil` for an old store, which is not written to before all of it has been read.
    let writer: Connection?
    let lock: StoreLock

    /// Lets go of the files without a write to them.
    func close() {
        try? reader.close()
        try? writer?.close()
        lock.release()
    }
}

/// How a store is opened.
///
/// Nothing is written before all checks are passed: a file that is refused is left as it was.
struct StoreOpening: Sendable {
    let path: String
    /// A store that was not closed is checked page by page if it is not bigger than this, bytes.
    let quickCheckMax: Int64

    func find() throws(StoreError) -> FoundStore {
        let lock = try StoreLock(database: path)
        do throws(SQLiteFailure) {
            guard size(path) <= 0 else { return try findOld(lock) }
            try checkThatNothingIsMissing(lock)
            try create()
            return try makeNew(lock)
        } catch {
            throw error.error("open the store", in: path)
        }
    }

    // MARK: A new store

    private func checkThatNothingIsMissing(_ lock: StoreLock) throws(SQLiteFailure) {
        guard lock.acceptedBefore > 0 || size(path + "-wal") > 0 else { return }
        throw .damaged(
            "it is missing or empty, and the files beside it tell of what it held; to begin with"
                + " nothing, remove \(path)-lock and \(path)-wal"
        )
    }

    /// Makes the file: SQLite would let everyone read it, and parameters may hold secrets.
    ///
    /// The other files of the database take over the mode of this one.
    private func create() throws(SQLiteFailure) {
        let fd = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard fd >= 0 else {
            throw SQLiteFailure(
                code: SQLITE_CANTOPEN,
                systemError: errno,
                text: "it cannot be made"
            )
        }
        close(fd)
    }

    private func makeNew(_ lock: StoreLock) throws(SQLiteFailure) -> FoundStore {
        let writer = try openWriter()
        do throws(SQLiteFailure) {
            // SQLite syncs the folder for its journals, not for a database that was there.
            try Folder.sync(of: path)
            let reader = try openReader()
            return FoundStore(opening: self, reader: reader, writer: writer, lock: lock)
        } catch {
            try? writer.close()
            throw error
        }
    }

    // MARK: A store that was there

    private func findOld(_ lock: StoreLock) throws(SQLiteFailure) -> FoundStore {
        try WriteAheadLog.check(path + "-wal")
        // A connection that only reads copies nothing into the database when it is closed.
        let reader = try openReader()
        do throws(SQLiteFailure) {
            guard try !isUnfinished(reader) else {
                guard lock.acceptedBefore == 0 else { throw vanished(lock.acceptedBefore) }
                try reader.close()
                return try makeNew(lock)
            }
            try check(reader, lock)
            return FoundStore(opening: self, reader: reader, writer: nil, lock: lock)
        } catch {
            try? reader.close()
            throw error
        }
    }

    /// Whether the daemon that made it was stopped before it had made the tables.
    private func isUnfinished(_ reader: Connection) throws(SQLiteFailure) -> Bool {
        let isMarked = try reader.number("PRAGMA application_id") != 0
        let tables = try reader.number(
            "SELECT count(*) FROM sqlite_master WHERE tbl_name <> 'grdb_migrations'"
        )
        return !isMarked && tables == 0
    }

    private func check(_ reader: Connection, _ lock: StoreLock) throws(SQLiteFailure) {
        guard try reader.number("PRAGMA application_id") == Int64(Schema.applicationID) else {
            throw SQLiteFailure(code: SQLITE_NOTADB, text: "it is the database of another program")
        }
        let version = try reader.number("PRAGMA user_version")
        guard version <= Int64(Schema.version) else {
            throw SQLiteFailure(
                code: SQLITE_ERROR,
                text: "it was written by a newer bghost (format \(version), this one knows"
                    + " \(Schema.version)); start that one, or put a copy back that was made before"
            )
        }
        try checkThatNothingVanished(reader, lock)
        try checkPages(reader)
        if version == Int64(Schema.version) { try checkThatAllCanBeSaid(reader) }
    }

    /// Prepares every statement that it will be used with.
    ///
    /// A column whose name was damaged is then seen before anything is written. To prepare is not to
    /// run, so a reader can do it.
    private func checkThatAllCanBeSaid(_ reader: Connection) throws(SQLiteFailure) {
        _ = try WriterStatements(reader.handle)
        _ = try StoreReader(reader)
    }

    /// A transaction that was answered is in the database or in the WAL.
    ///
    /// SQLite ends the WAL at the first frame whose checksum is wrong, without a word: right for
    /// one that was being written, wrong for one that was answered.
    private func checkThatNothingVanished(
        _ reader: Connection,
        _ lock: StoreLock
    ) throws(SQLiteFailure) {
        let last = try Tally(reading: reader.handle).journal.last
        guard last < lock.acceptedBefore else { return }
        guard try reader.number("SELECT copied FROM meta") == 0 else { return }
        throw vanished(lock.acceptedBefore - last)
    }

    private func vanished(_ count: Int64) -> SQLiteFailure {
        .damaged(
            "the last \(count) changes that were accepted are missing: its -wal was damaged, cut or"
                + " removed, or an older file was put in its place; to go on without them, remove"
                + " \(path)-lock"
        )
    }

    /// Reads all pages once, if the last daemon was killed and there are not too many: a gigabyte
    /// would take a second and more.
    private func checkPages(_ reader: Connection) throws(SQLiteFailure) {
        guard try reader.number("SELECT clean FROM meta") == 0 else { return }
        let pages = try reader.number("PRAGMA page_count")
        let size = try reader.number("PRAGMA page_size")
        guard pages <= quickCheckMax / max(1, size) else { return }
        let report = try reader.text("PRAGMA quick_check(1)")
        guard report == "ok" else { throw .damaged(report) }
    }

    // MARK: Connections

    private func openReader() throws(SQLiteFailure) -> Connection {
        let reader = try Connection(path: path, isReadOnly: true)
        do throws(SQLiteFailure) {
            try reader.run("PRAGMA cell_size_check = ON; PRAGMA trusted_schema = OFF")
            return reader
        } catch {
            try? reader.close()
            throw error
        }
    }

    /// Opens the connection that writes, and writes that a daemon has begun to.
    func openWriter() throws(SQLiteFailure) -> Connection {
        let writer = try Connection(path: path, isReadOnly: false) { queue in
            let mode = try queue.inDatabase { database in
                try database.execute(sql: "PRAGMA synchronous = FULL")
                return try String.fetchOne(database, sql: "PRAGMA journal_mode = WAL")
            }
            guard mode == "wal" else {
                throw SQLiteFailure(
                    code: SQLITE_ERROR,
                    text: "its file system has no shared memory"
                )
            }
            try Schema.migrate(queue)
        }
        do throws(SQLiteFailure) {
            try writer.run(
                """
                PRAGMA cell_size_check = ON;
                PRAGMA trusted_schema = OFF;
                PRAGMA temp_store = MEMORY;
                PRAGMA cache_size = -16384;
                PRAGMA journal_size_limit = 67108864;
                """
            )
            if size(path + "-wal") > 0 { try beginLog(writer) }
            try writer.run(
                "UPDATE meta SET incarnation = incarnation + 1, clean = 0, copied = 0"
            )
            return writer
        } catch {
            try? writer.close()
            throw error
        }
    }

    /// Copies what the daemon before this one left in the log, and begins a new one: what a torn
    /// transaction has left in it must not look like one that was kept, should this daemon be
    /// killed too.
    private func beginLog(_ writer: Connection) throws(SQLiteFailure) {
        do throws(SQLiteFailure) {
            try writer.run("PRAGMA wal_checkpoint(TRUNCATE)")
        } catch  where error.isFull {
            // It can be read where it is, and there is no room for more anyway.
        }
    }

    /// Bytes, or -1 if it is not there.
    private func size(_ path: String) -> Int64 {
        var status = stat()
        return stat(path, &status) == 0 ? Int64(status.st_size) : -1
    }
}
