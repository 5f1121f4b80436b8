// SPDX-License-Identifier: Apache-2.0

internal import CSQLite
internal import Glibc

/// A connection to a database.
///
/// SQLite before 3.51.3, which includes the version in Debian 12, can corrupt a database when two
/// connections write or checkpoint at the moment when the WAL restarts. So only one connection of a
/// store writes and checkpoints; the other is read-only, and only this process opens the file at all.
/// This module also never opens the database through another descriptor, not even to read it:
/// closing that descriptor would drop the POSIX locks that SQLite holds.
///
/// `@unchecked`: SQLite's mutexes are off; only one part of the store uses each connection and its
/// statements, under that part's lock or on its thread.
final class Connection: @unchecked Sendable {
    let handle: OpaquePointer
    /// `nil` if it only reads.
    let place: DatabasePlace?
    private var isOpen = true
    /// The number of frames in the WAL after the last commit; 0 before `countLogFrames`.
    private(set) var logFrames: Int32 = 0

    /// Opens an existing database.
    ///
    /// Only this process may hold a lock, so SQLite never waits for one: it fails with `SQLITE_BUSY`.
    ///
    /// - Parameter pragmas: run before the file is read.
    init(path: String, isReadOnly: Bool, pragmas: String) throws(SQLiteFailure) {
        let access = isReadOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE
        var handle: OpaquePointer?
        errno = 0
        let code = sqlite3_open_v2(path, &handle, access | SQLITE_OPEN_NOMUTEX, nil)
        guard let handle else {
            throw SQLiteFailure(code: code, text: String(cString: sqlite3_errstr(code)))
        }
        self.handle = handle
        place = isReadOnly ? nil : DatabasePlace(path)
        // From here on `deinit` closes it, even if it could not be opened.
        guard code == SQLITE_OK else { throw SQLiteFailure(of: handle) }
        sqlite3_extended_result_codes(handle, 1)
        csqlite_refuse_double_quoted_texts(handle)
        csqlite_refuse_triggers_and_views(handle)
        try run(pragmas)
        // SQLite reads the file only when it must; a file that is not a database fails here.
        try run("SELECT 1 FROM sqlite_master LIMIT 1")
    }

    deinit {
        // If statements are left, SQLite frees it with the last of them.
        if isOpen { sqlite3_close_v2(handle) }
    }

    /// Closes the connection; all its statements must be finalized.
    func close() throws(SQLiteFailure) {
        guard isOpen else { return }
        errno = 0
        guard sqlite3_close(handle) == SQLITE_OK else { throw SQLiteFailure(of: handle) }
        isOpen = false
    }

    /// Leaves the connection open until the process ends, because closing it writes to the file.
    func keepOpen() { _ = Unmanaged.passRetained(self) }

    // MARK: Statements that run once

    /// Runs statements without arguments, and ignores their rows.
    func run(_ sql: String) throws(SQLiteFailure) {
        errno = 0
        guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else {
            throw SQLiteFailure(of: handle)
        }
    }

    /// The first value of the first row, or 0.
    func number(_ sql: String) throws(SQLiteFailure) -> Int64 {
        var number: Int64 = 0
        try Statement(sql, on: self).rows { row in
            number = row.int()
            return false
        }
        return number
    }

    /// The first value of the first row, or "".
    func text(_ sql: String) throws(SQLiteFailure) -> String {
        var text = ""
        try Statement(sql, on: self).rows { row in
            text = row.text()
            return false
        }
        return text
    }

    /// Whether a transaction is open.
    var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

    // MARK: The write-ahead log

    /// Switches the database to write-ahead logging, with a `-wal` beside the file.
    ///
    /// - Returns: whether the file system supports it.
    func useLog() throws(SQLiteFailure) -> Bool {
        try text("PRAGMA journal_mode = WAL") == "wal"
    }

    /// Counts the frames of the log, and turns SQLite's own checkpoints off: they delay the answer to
    /// a commit and do not report their failures, such as a failed sync.
    func countLogFrames() {
        // The call returns the context of the previous hook; there was none.
        _ = sqlite3_wal_hook(
            handle,
            { context, _, _, count in
                guard let context else { return SQLITE_OK }
                Unmanaged<Connection>.fromOpaque(context).takeUnretainedValue().logFrames = count
                return SQLITE_OK
            },
            Unmanaged.passUnretained(self).toOpaque()
        )
    }

    /// Copies the log into the database, as far as readers permit.
    ///
    /// - Returns: how many frames could not be copied.
    func checkpoint() throws(SQLiteFailure) -> Int32 {
        var length: Int32 = 0
        var copied: Int32 = 0
        errno = 0
        let code = sqlite3_wal_checkpoint_v2(
            handle,
            nil,
            SQLITE_CHECKPOINT_PASSIVE,
            &length,
            &copied
        )
        guard code == SQLITE_OK else { throw SQLiteFailure(of: handle) }
        if length == copied { logFrames = 0 }
        return length - copied
    }
}
