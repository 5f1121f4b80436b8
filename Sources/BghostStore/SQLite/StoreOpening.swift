// SPDX-License-Identifier: Apache-2.0

internal import CBghostSystem
internal import CSQLite
internal import Glibc

/// A locked store that passed all checks except those of its rows, which are read next.
struct FoundStore: Sendable {
    let opening: StoreOpening
    let reader: Connection
    /// `nil` for an existing store, which is not written to before all of it has been read.
    let writer: Connection?
    let lock: StoreLock

    /// Closes the files without writing to them.
    func close() {
        // Nothing waits to be written, so a failure loses nothing.
        try? reader.close()
        try? writer?.close()
        lock.release()
    }
}

/// Opens a store.
///
/// It writes nothing before all checks are passed: a rejected file stays unchanged. Only a transaction that was
/// interrupted before the file had a `-wal` is undone first.
struct StoreOpening: Sendable {
    let path: String
    /// A store that was not closed is checked page by page unless it is larger than this, bytes.
    let quickCheckMax: Int64
    /// The file of the backup that this one is a copy of; `nil` for the store of a daemon.
    var backup: String?

    func find() throws(StoreError) -> FoundStore {
        let lock = try StoreLock(database: path)
        do throws(SQLiteFailure) {
            let size = size(path)
            if size > 0 { try RollbackJournal.undo(path, size: size) }
            guard self.size(path) <= 0 else { return try findOld(lock) }
            try checkThatNothingIsMissing(lock)
            try create()
            return try makeNew(lock)
        } catch {
            throw error.error(
                "open the store",
                in: backup ?? path,
                for: backup == nil ? .start : .restore
            )
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

    /// Creates the file.
    ///
    /// SQLite would make it readable for all users, and parameters may contain secrets.
    ///
    /// SQLite gives the other files of the database the same mode.
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
        let writer = try openWriter(lock)
        do throws(SQLiteFailure) {
            // SQLite syncs the folder when it creates its journals, but not for a database that
            // already exists.
            try Folder.sync(of: path)
            let reader = try openReader()
            return FoundStore(opening: self, reader: reader, writer: writer, lock: lock)
        } catch {
            // Here and below: report the earlier error.
            try? writer.close()
            throw error
        }
    }

    // MARK: An existing store

    private func findOld(_ lock: StoreLock) throws(SQLiteFailure) -> FoundStore {
        try WriteAheadLog.check(path + "-wal")
        // A read-only connection does not checkpoint when it is closed.
        let reader = try openReader()
        do throws(SQLiteFailure) {
            guard try !Schema.format.isUnfinished(reader) else {
                guard lock.acceptedBefore == 0 else { throw vanished(lock.acceptedBefore) }
                try reader.close()
                return try makeNew(lock)
            }
            try check(reader, lock)
            return FoundStore(opening: self, reader: reader, writer: nil, lock: lock)
        } catch {
            // The file was not changed by it, and the first failure is the one to report.
            try? reader.close()
            throw error
        }
    }

    private func check(_ reader: Connection, _ lock: StoreLock) throws(SQLiteFailure) {
        let version = try Schema.format.check(
            reader,
            advice: backup == nil
                ? "start that one, or put a copy back that was made before"
                : "restore it with that one"
        )
        try checkThatNothingVanished(reader, lock)
        try checkPages(reader)
        if version == Int64(Schema.version) { try checkThatAllCanBeSaid(reader) }
    }

    /// Prepares every statement that will be used.
    ///
    /// This detects a damaged column name before anything is written. Preparing does not run a
    /// statement, so the reader can do it.
    private func checkThatAllCanBeSaid(_ reader: Connection) throws(SQLiteFailure) {
        _ = try WriterStatements(reader)
        _ = try StoreReader(reader, DamagedRows(path: path) { _ in })
    }

    /// Checks that every answered transaction is in the database or in the WAL.
    ///
    /// SQLite silently ends the WAL at the first frame with a wrong checksum. That is right for a
    /// transaction that was being written, and wrong for one that was answered.
    private func checkThatNothingVanished(
        _ reader: Connection,
        _ lock: StoreLock
    ) throws(SQLiteFailure) {
        let last = try TableSizes(reading: reader).journal.last
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

    /// Reads all pages once if the last daemon was killed and the file is not too large: a gigabyte
    /// would take more than a second.
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
        try Connection(
            path: path,
            isReadOnly: true,
            pragmas: "PRAGMA cell_size_check = ON; PRAGMA trusted_schema = OFF"
        )
    }

    /// Opens the writing connection, and records that a daemon has started to write.
    func openWriter(_ lock: StoreLock) throws(SQLiteFailure) -> Connection {
        let writer = try Connection(
            path: path,
            isReadOnly: false,
            pragmas: """
                PRAGMA synchronous = FULL;
                PRAGMA cell_size_check = ON;
                PRAGMA trusted_schema = OFF;
                PRAGMA temp_store = MEMORY;
                PRAGMA cache_size = -16384;
                PRAGMA journal_size_limit = 67108864;
                """
        )
        do throws(SQLiteFailure) {
            guard try writer.useLog() else {
                throw SQLiteFailure(
                    code: SQLITE_ERROR,
                    text: "its file system has no shared memory"
                )
            }
            try Schema.format.migrate(writer)
            if size(path + "-wal") > 0 { try beginLog(writer) }
            try recordStart(writer, lock)
            return writer
        } catch {
            // A transaction that was not committed is rolled back; the first failure is the one to report.
            try? writer.close()
            throw error
        }
    }

    private func recordStart(_ writer: Connection, _ lock: StoreLock) throws(SQLiteFailure) {
        // A copy that replaced the store ends before the line in the lock file. Lower that line first: a kill must
        // not leave a store without the mark of a copy and with a line that it does not have.
        if try writer.number("SELECT copied FROM meta") != 0 {
            try lock.lower(to: TableSizes(reading: writer).journal.last)
        }
        let incarnation = Incarnation.next(
            after: try Incarnation.read(writer),
            locked: lock.incarnation,
            now: bgs_realtime_ns()
        )
        lock.record(incarnation: incarnation)
        try writer.run(
            """
            BEGIN IMMEDIATE;
            UPDATE meta SET incarnation = \(incarnation), clean = 0, copied = 0;
            DELETE FROM closing;
            COMMIT;
            """
        )
    }

    /// Copies the WAL of the previous daemon into the database and starts a new one: if this daemon
    /// is killed too, a torn transaction of the old WAL must not look like a committed one.
    private func beginLog(_ writer: Connection) throws(SQLiteFailure) {
        do throws(SQLiteFailure) {
            try writer.run("PRAGMA wal_checkpoint(TRUNCATE)")
        } catch  where error.isFull {
            // The WAL can be read where it is, and there is no room for more anyway.
        }
    }

    /// The size in bytes, or -1 if the file does not exist.
    private func size(_ path: String) -> Int64 {
        var status = stat()
        return stat(path, &status) == 0 ? Int64(status.st_size) : -1
    }
}
