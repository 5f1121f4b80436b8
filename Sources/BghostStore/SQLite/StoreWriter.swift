// SPDX-License-Identifier: Apache-2.0

internal import BghostModel
internal import BghostPolicy

/// The writing side of a store: the connection, the statements, and the lock file.
final class StoreWriter {
    private let connection: Connection
    /// `nil` once it is closed: statements must be finalized before their connection is closed.
    private var changes: ChangeWriter?
    private let lock: StoreLock
    /// The WAL is copied into the database when it has more frames than this.
    private var checkpointAt = StoreWriter.checkpointFrames

    /// SQLite's own default: 4 MiB.
    private static let checkpointFrames: Int32 = 1000

    init(
        _ connection: Connection,
        _ lock: StoreLock,
        _ damaged: DamagedRows,
        retention: SQLiteStore.Retention
    ) throws(SQLiteFailure) {
        self.connection = connection
        self.lock = lock
        let changes = try ChangeWriter(connection, damaged, retention: retention)
        self.changes = changes
        connection.countLogFrames()
        lock.accept(changes.sizes.journal.last)
    }

    /// Writes these lists in one transaction.
    func keep(_ lists: some Sequence<[StoreChange]>) throws(SQLiteFailure) {
        guard let changes else { return }
        lock.accept(try changes.transaction(lists))
    }

    /// Sets how much history is kept.
    func keep(_ policy: HistoryPolicy) { changes?.keep(policy) }

    /// Whether history may have to be deleted.
    var isTrimDue: Bool { changes?.isTrimDue ?? false }

    /// Deletes a piece of the history that exceeds its limits.
    func trim() throws(SQLiteFailure) { try changes?.trim() }

    /// Rewrites a page without changing it, to find out whether there is room.
    func probe() throws(SQLiteFailure) {
        do throws(SQLiteFailure) {
            try connection.run("UPDATE meta SET clean = clean")
        } catch  where error.isFull {
            try checkpoint()
            try connection.run("UPDATE meta SET clean = clean")
        }
    }

    /// Whether the WAL is long enough to be copied when there is time.
    var wantsCheckpoint: Bool { connection.logFrames >= checkpointAt }

    /// Whether the WAL is so long that further commits must wait until it is copied.
    var needsCheckpoint: Bool { connection.logFrames >= checkpointAt + 4 * Self.checkpointFrames }

    /// Copies the WAL into the database, as far as readers permit.
    func checkpoint() throws(SQLiteFailure) {
        do throws(SQLiteFailure) {
            checkpointAt = try connection.checkpoint() + Self.checkpointFrames
        } catch {
            // Frames that could not be copied, because of a reader or for lack of room, stay in the
            // WAL. The next attempt follows when the WAL has grown.
            checkpointAt = connection.logFrames + Self.checkpointFrames
            guard error.isBusy else { throw error }
        }
    }

    /// Copies the whole WAL into the database, marks the store as closed cleanly, and closes the
    /// files.
    func close() throws(SQLiteFailure) {
        changes = nil
        defer { lock.release() }
        do throws(SQLiteFailure) {
            try ClosingTotals.write(connection)
            try connection.run("PRAGMA wal_checkpoint(TRUNCATE)")
        } catch {
            // Closing the last connection also copies the WAL, which must not be attempted again
            // after a failed sync. Report the earlier error.
            if error.isFatal { connection.keepOpen() } else { try? connection.close() }
            throw error
        }
        try connection.close()
    }

    /// Releases the lock without writing to the file again.
    func abandon() {
        changes = nil
        connection.keepOpen()
        lock.release()
    }
}
