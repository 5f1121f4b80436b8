// SPDX-License-Identifier: Apache-2.0

internal import BghostCore
internal import GRDBSQLite
internal import Synchronization

/// A store that is written to: the one who commits, and the one who answers.
final class OpenStore: Sendable {
    let committer: Committer
    private let reader: Mutex<StoreReader?>

    private init(_ committer: Committer, _ reader: StoreReader) {
        self.committer = committer
        self.reader = Mutex(reader)
    }

    /// Reads all that a store holds, and only then begins to write to it.
    ///
    /// What was found is closed if this fails.
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
            let connection: Connection
            if let writer = found.writer {
                connection = writer
            } else {
                connection = try found.opening.openWriter()
                opened = connection
                state.incarnation &+= 1
            }
            let reader = try StoreReader(found.reader)
            let writer = try StoreWriter(connection, found.lock, retention: retention)
            let path = found.opening.path
            let batches = BatchWriter(writer, path: path, report: report)
            return (OpenStore(try Committer(batches, path: path), reader), state)
        } catch {
            try? opened?.close()
            found.close()
            throw error
        }
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

    func close() {
        committer.flush()
        // The reader goes first: the last connection to leave takes the WAL away with it.
        reader.withLock { reader in
            let connection = reader?.connection
            reader = nil
            try? connection?.close()
        }
        committer.close()
    }
}
