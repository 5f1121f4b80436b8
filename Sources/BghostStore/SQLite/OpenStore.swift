// SPDX-License-Identifier: Apache-2.0

internal import BghostModel
internal import CSQLite
internal import Synchronization

/// An open store: its committer and its reader.
final class OpenStore: Sendable {
    let committer: Committer
    /// What questions have found.
    let damaged: DamagedRows
    private let reader: Mutex<StoreReader?>

    private init(_ committer: Committer, _ reader: StoreReader, _ damaged: DamagedRows) {
        self.committer = committer
        self.damaged = damaged
        self.reader = Mutex(reader)
    }

    /// Reads the whole store, and only then starts to write to it.
    ///
    /// If this fails, the store is closed.
    static func open(
        _ found: FoundStore,
        _ retention: SQLiteStore.Retention,
        _ report: @escaping @Sendable (StoreError) -> Void,
        _ expect: (Int) -> Void,
        _ each: (Request) -> Void
    ) throws(SQLiteFailure) -> (OpenStore, RecoveredState) {
        var opened: Connection?
        do throws(SQLiteFailure) {
            var state = try Recovery.read(found.reader, expecting: expect, each)
            // Without the lock file the operator goes on with what is left.
            if found.lock.acceptedBefore > 0 {
                try ClosingTotals.check(found.reader, path: found.opening.path)
            }
            let connection: Connection
            if let writer = found.writer {
                connection = writer
            } else {
                connection = try found.opening.openWriter(found.lock)
                opened = connection
                state.incarnation = try Incarnation.read(connection)
            }
            let path = found.opening.path
            let damaged = DamagedRows(path: path, report: report)
            let reader = try StoreReader(found.reader, damaged)
            let writer = try StoreWriter(connection, found.lock, damaged, retention: retention)
            let batches = BatchWriter(writer, path: path, report: report)
            let committer = try Committer(batches, path: path)
            return (OpenStore(committer, reader, damaged), state)
        } catch {
            // Nothing was written that closing could lose; report the earlier error.
            try? opened?.close()
            found.close()
            throw error
        }
    }

    /// Queries the second connection on this thread.
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

    func close() {
        committer.flush()
        // Close the reader first: the last connection that closes removes the WAL.
        reader.withLock { reader in
            let connection = reader?.connection
            reader = nil
            // Reading needs no error handling at the end.
            try? connection?.close()
        }
        committer.close()
    }
}
