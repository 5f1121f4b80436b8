// SPDX-License-Identifier: Apache-2.0

package import BghostCore
internal import GRDBSQLite
internal import Synchronization

/// A store in one SQLite file, which survives the daemon and the machine.
///
/// `commit` hands its transaction to a thread of its own and returns at once; the completion is
/// called on that thread after the sync, so it must be short and must neither call `recover` nor
/// `close`. The questions are answered on the caller's thread from a second connection, which does
/// not wait for syncs, and from what waits to be written.
///
/// After a failed sync or a damaged page every further commit fails: what the disk then holds is
/// not known, and only a new start looks. A full disk fails the commits that do not fit, and no
/// others.
package final class SQLiteStore: Store {
    let path: String
    let committer: Committer
    let reader: Mutex<StoreReader?>
    /// What was read when it was opened, until somebody takes it or changes it.
    private let opened: Mutex<RecoveredState?>
    let report: @Sendable (StoreError) -> Void

    /// Opens the file, or makes it.
    ///
    /// Reads all requests once and checks them, so that a damaged file is refused before anything
    /// is written to it. `recover` then returns them at once.
    ///
    /// - Parameters:
    ///   - path: of the database; its folder must exist. `-wal`, `-shm` and `-lock` lie beside it.
    ///   - retention: how much of the past is kept.
    ///   - quickCheckMax: a store that was not closed is read page by page at its opening, unless it
    ///     is bigger than this, bytes.
    ///   - report: faults that no caller is told of, on any thread.
    package init(
        path: String,
        retention: Retention = Retention(),
        quickCheckMax: Int64 = 64 << 20,
        report: @escaping @Sendable (StoreError) -> Void = { _ in }
    ) throws(StoreError) {
        let store = try StoreOpening(path: path, quickCheckMax: quickCheckMax).open()
        let committer = Committer(path: path, report: report)
        do throws(SQLiteFailure) {
            reader = try Mutex(StoreReader(store.reader))
            // Before the last property is set: an object that is whole would be closed when this
            // fails, and wait for a thread that does not run.
            try committer.start(StoreWriter(store.writer, store.lock, retention: retention))
        } catch {
            throw error.error("open the store", in: path)
        }
        self.path = path
        self.report = report
        self.committer = committer
        opened = Mutex(store.state)
    }

    deinit { close() }

    package func commit(
        _ changes: [StoreChange],
        completion: @escaping @Sendable (Result<Void, StoreError>) -> Void
    ) {
        opened.withLock { $0 = nil }
        committer.commit(changes, completion)
    }

    /// Transactions that are not answered yet: what an overloaded host refuses new ones by.
    package var waiting: Int { committer.waiting }

    /// Reads all that it holds, and checks it.
    ///
    /// The first call after opening returns what was read then. Waits for all commits otherwise.
    package func recover() throws(StoreError) -> RecoveredState {
        let first = opened.withLock { state in
            defer { state = nil }
            return state
        }
        if let first { return first }
        committer.flush()
        do throws(SQLiteFailure) {
            return try ask { reader throws(SQLiteFailure) in try Recovery.read(reader.connection) }
        } catch {
            throw error.error("read the requests", in: path)
        }
    }

    package func backup(to path: String) throws(StoreError) {
        committer.flush()
        try StoreBackup(source: self.path, target: path).run()
    }

    package func close() {
        committer.flush()
        // The reader goes first: the last connection to leave takes the WAL away with it.
        reader.withLock { reader in
            let connection = reader?.connection
            reader = nil
            try? connection?.close()
        }
        committer.close()
    }

    /// Reads from the second connection, on this thread.
    func ask<Answer: Sendable>(
        _ body: (StoreReader) throws(SQLiteFailure) -> Answer
    ) throws(SQLiteFailure) -> Answer {
        try reader.withLock { reader throws(SQLiteFailure) in
            guard let reader else {
                throw SQLiteFailure(code: SQLITE_MISUSE, text: "the store is closed")
            }
            return try body(reader)
        }
    }
}
