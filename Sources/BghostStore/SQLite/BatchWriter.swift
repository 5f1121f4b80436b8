// SPDX-License-Identifier: Apache-2.0

internal import BghostCore

/// Keeps transactions, several at once where they come together, until one fails for good.
///
/// `@unchecked`: it is used by one thread at a time, the one that holds the pen of the committer.
final class BatchWriter: @unchecked Sendable {
    private let writer: StoreWriter
    private let path: String
    private let report: @Sendable (StoreError) -> Void
    /// Why nothing is written any more.
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

    /// Keeps one transaction.
    func keep(_ changes: [StoreChange]) -> Result<Void, StoreError> {
        Self.result(attempt(CollectionOfOne(changes)), path)
    }

    /// Keeps transactions, as one if they can be.
    ///
    /// - Returns: what came of each; of all, if it is but one.
    func keep(_ lists: [[StoreChange]]) -> [Result<Void, StoreError>] {
        guard let failure = attempt(lists) else { return [.success(())] }
        guard lists.count > 1 else { return [Self.result(failure, path)] }
        // One of them may be at fault, or all of them too big for the room that is left: each gets
        // a transaction of its own, so that one does not take the others with it.
        return lists.map { keep($0) }
    }

    private static func result(_ failure: SQLiteFailure?, _ path: String) -> Result<
        Void, StoreError
    > {
        failure.map { .failure($0.error("keep a transaction", in: path)) } ?? .success(())
    }

    private func attempt(_ lists: some Sequence<[StoreChange]>) -> SQLiteFailure? {
        if let fault { return fault }
        guard lists.contains(where: { !$0.isEmpty }) else { return nil }
        do throws(SQLiteFailure) {
            do throws(SQLiteFailure) {
                try writer.keep(lists)
            } catch  where error.isFull {
                // The room that the WAL takes can be used again once it has been copied.
                try writer.checkpoint()
                try writer.keep(lists)
            }
            return nil
        } catch {
            if error.isFatal { fault = error }
            return error
        }
    }

    /// Whether the WAL is so long that it should be copied when there is time.
    var wantsCheckpoint: Bool { fault == nil && writer.wantsCheckpoint }

    /// Whether it is so long that others have to wait for it.
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
