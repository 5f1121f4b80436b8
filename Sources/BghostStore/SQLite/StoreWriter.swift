// SPDX-License-Identifier: Apache-2.0

internal import BghostCore
internal import GRDB
internal import GRDBSQLite

/// The one who writes: the connection, the statements, and the lock file.
final class StoreWriter {
    private let connection: Connection
    /// `nil` once it is closed: statements must go before their connection.
    private var changes: ChangeWriter?
    private let lock: StoreLock
    /// Frames in the WAL as of the last commit; at an address of its own, since SQLite writes it.
    private let frames: UnsafeMutablePointer<Int32>
    /// The WAL is copied into the database when it is longer than this.
    private var checkpointAt = StoreWriter.checkpointFrames

    /// As many as SQLite itself takes by default: 4 MiB.
    private static let checkpointFrames: Int32 = 1000

    init(
        _ connection: Connection,
        _ lock: StoreLock,
        retention: SQLiteStore.Retention
    ) throws(SQLiteFailure) {
        self.connection = connection
        self.lock = lock
        frames = .allocate(capacity: 1)
        frames.initialize(to: 0)
        let changes = try ChangeWriter(connection.handle, retention: retention)
        self.changes = changes
        // In place of SQLite's own checkpoint, which delays the answer to a commit and keeps its
        // failures, such as a failed sync, to itself.
        _ = sqlite3_wal_hook(
            connection.handle,
            { context, _, _, count in
                context?.assumingMemoryBound(to: Int32.self).pointee = count
                return SQLITE_OK
            },
            frames
        )
        lock.accept(changes.tally.journal.last)
    }

    deinit {
        frames.deallocate()
    }

    /// Keeps these lists in one transaction.
    func keep(_ lists: some Sequence<[StoreChange]>) throws(SQLiteFailure) {
        guard let changes else { return }
        lock.accept(try changes.transaction(lists))
    }

    /// Whether the WAL is so long that it should be copied when there is time.
    var wantsCheckpoint: Bool { frames.pointee >= checkpointAt }

    /// Whether it is so long that others have to wait for it.
    var needsCheckpoint: Bool { frames.pointee >= checkpointAt + 4 * Self.checkpointFrames }

    /// Copies the WAL into the database, as far as readers let it.
    func checkpoint() throws(SQLiteFailure) {
        var length: Int32 = 0
        var copied: Int32 = 0
        let mode = SQLITE_CHECKPOINT_PASSIVE
        let code = sqlite3_wal_checkpoint_v2(connection.handle, nil, mode, &length, &copied)
        // What could not be copied, because of a reader or for want of room, stays in the WAL and
        // is tried again when that has grown.
        guard code == SQLITE_OK else {
            checkpointAt = frames.pointee + Self.checkpointFrames
            if code & 0xFF == SQLITE_BUSY { return }
            throw SQLiteFailure(of: connection.handle)
        }
        checkpointAt = length - copied + Self.checkpointFrames
        if length == copied { frames.pointee = 0 }
    }

    /// Copies the whole WAL into the database, says that it was left in order, and lets go of it.
    func close() throws(SQLiteFailure) {
        changes = nil
        defer { lock.release() }
        do throws(SQLiteFailure) {
            try connection.run("UPDATE meta SET clean = 1")
            try connection.run("PRAGMA wal_checkpoint(TRUNCATE)")
        } catch {
            // Closing the last connection copies the WAL too, which must not be tried once more
            // after a failed sync.
            if error.isFatal { keepOpen() } else { try? connection.close() }
            throw error
        }
        try connection.close()
    }

    /// Lets go of the file without a further write to it.
    func abandon() {
        changes = nil
        keepOpen()
        lock.release()
    }

    /// Keeps the connection open until the process ends.
    private func keepOpen() { _ = Unmanaged.passRetained(connection.queue) }
}
