// SPDX-License-Identifier: Apache-2.0

internal import BghostModel
internal import BghostPolicy

/// Writes transactions, several in one SQLite transaction if they arrive together, until a fatal
/// failure.
///
/// `@unchecked`: one thread at a time uses it, the thread that holds the committer's permit.
final class BatchWriter: @unchecked Sendable {
    private let writer: StoreWriter
    private let path: String
    private let report: @Sendable (StoreError) -> Void
    /// The failure after which nothing is written.
    private var fault: SQLiteFailure?

    init(
        _ writer: StoreWriter,
        path: String,
        report: @escaping @Sendable (StoreError) -> Void
    ) {
        self.writer = writer
        self.path = path
        self.report = report
    }

    /// Writes several lists of changes as one transaction.
    ///
    /// - Returns: why none of them was written; `nil` if all were.
    func keep(_ lists: some Sequence<[StoreChange]>) -> Failure? {
        attempt(lists).map {
            Failure(
                error: $0.error("keep a transaction", in: path),
                isTransient: $0.isTransient,
                isFinal: $0.isFatal
            )
        }
    }

    /// Checks whether there is room for a small transaction.
    func probe() -> Failure? {
        if let fault { return Failure(error: fault.error("write", in: path), isFinal: true) }
        do throws(SQLiteFailure) {
            try writer.probe()
            return nil
        } catch {
            if error.isFatal { fault = error }
            return Failure(
                error: error.error("keep a transaction", in: path),
                isTransient: error.isTransient,
                isFinal: error.isFatal
            )
        }
    }

    /// Why a transaction was not written.
    struct Failure {
        let error: StoreError
        /// Whether it may succeed later.
        var isTransient = false
        /// Whether nothing will be written from now on.
        var isFinal = false
    }

    private func attempt(_ lists: some Sequence<[StoreChange]>) -> SQLiteFailure? {
        if let fault { return fault }
        guard lists.contains(where: { !$0.isEmpty }) else { return nil }
        do throws(SQLiteFailure) {
            do throws(SQLiteFailure) {
                try writer.keep(lists)
            } catch  where error.isFull {
                // The space of the WAL can be reused once its content has been copied into the
                // database.
                try writer.checkpoint()
                try writer.keep(lists)
            }
            return nil
        } catch {
            if error.isFatal { fault = error }
            return error
        }
    }

    /// Sets how much history is kept.
    func keep(_ policy: HistoryPolicy) { writer.keep(policy) }

    /// Whether history may have to be deleted.
    var isTrimDue: Bool { fault == nil && writer.isTrimDue }

    /// Deletes a piece of the history that exceeds its limits.
    func trim() {
        guard fault == nil else { return }
        do {
            try writer.trim()
        } catch {
            if error.isFatal { fault = error }
            // Without room nothing can be deleted now; new rows start another attempt.
            guard !error.isTransient else { return }
            report(error.error("delete old history", in: path))
        }
    }

    /// Whether the WAL is long enough to be copied when there is time.
    var wantsCheckpoint: Bool { fault == nil && writer.wantsCheckpoint }

    /// Whether the WAL is so long that further commits must wait until it is copied.
    var needsCheckpoint: Bool { fault == nil && writer.needsCheckpoint }

    func checkpoint() {
        guard fault == nil else { return }
        do {
            try writer.checkpoint()
        } catch {
            if error.isFatal { fault = error }
            report(error.error("copy the write-ahead log", in: path))
        }
    }

    func close() {
        guard fault == nil else { return writer.abandon() }
        do { try writer.close() } catch { report(error.error("close the store", in: path)) }
    }
}
