// SPDX-License-Identifier: Apache-2.0

internal import BghostCore
internal import GRDBSQLite
internal import Glibc
internal import Synchronization

/// The thread that writes: it takes all transactions that have arrived and keeps them as one.
///
/// One sync then serves many callers, and the more of them wait the fewer syncs each costs. Nothing
/// is ever dropped: under overload the transactions become longer, up to `batchMax` lists each, and
/// the rest waits in memory, as `waiting` tells.
final class Committer: Sendable {
    typealias Completion = @Sendable (Result<Void, StoreError>) -> Void

    private struct Job: Sendable {
        let changes: [StoreChange]
        let completion: Completion
    }

    private struct Inbox {
        var waiting: [Job] = []
        var underway: [Job] = []
        /// Whether the thread will look into the inbox again by itself.
        var isAwake = false
        var isClosed = false
    }

    private static let batchMax = 1024

    private let path: String
    private let inbox = Mutex(Inbox())
    private let wake = Semaphore()
    private let ended = Semaphore()
    private let report: @Sendable (StoreError) -> Void

    init(path: String, report: @escaping @Sendable (StoreError) -> Void) {
        self.path = path
        self.report = report
    }

    /// Begins to write, on a thread of its own that ends with `close`.
    ///
    /// - Parameter writer: is used by that thread only.
    func start(_ writer: sending StoreWriter) throws(SQLiteFailure) {
        let context = Unmanaged.passRetained(Start(committer: self, writer: writer))
        var thread = pthread_t()
        let code = pthread_create(
            &thread,
            nil,
            { context in
                guard let context else { return nil }
                let start = Unmanaged<Start>.fromOpaque(context).takeRetainedValue()
                start.committer.work(start.writer)
                return nil
            },
            context.toOpaque()
        )
        guard code == 0 else {
            context.release()
            throw SQLiteFailure(
                code: SQLITE_ERROR,
                systemError: code,
                text: "its thread cannot be started"
            )
        }
        pthread_detach(thread)
    }

    private final class Start {
        let committer: Committer
        let writer: StoreWriter

        init(committer: Committer, writer: StoreWriter) {
            self.committer = committer
            self.writer = writer
        }
    }

    // MARK: The callers

    func commit(_ changes: [StoreChange], _ completion: @escaping Completion) {
        let (isClosed, mustWake) = inbox.withLock { inbox in
            guard !inbox.isClosed else { return (true, false) }
            inbox.waiting.append(Job(changes: changes, completion: completion))
            let mustWake = !inbox.isAwake
            inbox.isAwake = true
            return (false, mustWake)
        }
        if mustWake { wake.signal() }
        if isClosed { completion(.failure(StoreError("the store \(path) is closed"))) }
    }

    /// Waits until all that was committed before is answered.
    func flush() {
        let answered = Semaphore()
        commit([]) { _ in answered.signal() }
        answered.wait()
    }

    /// What is not on the disk yet, in order.
    var uncommitted: Uncommitted {
        let (underway, waiting) = inbox.withLock { ($0.underway, $0.waiting) }
        return Uncommitted(changes: underway.flatMap(\.changes) + waiting.flatMap(\.changes))
    }

    /// How many transactions have not been answered yet.
    var waiting: Int { inbox.withLock { $0.underway.count + $0.waiting.count } }

    /// Waits for all transactions and for the thread's end.
    func close() {
        let (wasClosed, mustWake) = inbox.withLock { inbox in
            let before = (inbox.isClosed, !inbox.isAwake)
            inbox.isClosed = true
            inbox.isAwake = true
            return before
        }
        guard !wasClosed else { return }
        if mustWake { wake.signal() }
        ended.wait()
    }

    // MARK: The thread

    private func work(_ writer: StoreWriter) {
        var fault: SQLiteFailure?
        while true {
            let batch = take()
            guard batch.isEmpty else {
                keep(batch, writer, &fault)
                if writer.needsCheckpoint { checkpoint(writer, &fault) }
                continue
            }
            if writer.wantsCheckpoint { checkpoint(writer, &fault) }
            guard rest() else { break }
        }
        if fault == nil {
            do { try writer.close() } catch { report(error.error("close the store", in: path)) }
        } else {
            writer.abandon()
        }
        ended.signal()
    }

    private func take() -> [Job] {
        inbox.withLock { inbox in
            if inbox.waiting.count <= Self.batchMax {
                swap(&inbox.underway, &inbox.waiting)
            } else {
                inbox.underway = Array(inbox.waiting.prefix(Self.batchMax))
                inbox.waiting.removeFirst(Self.batchMax)
            }
            return inbox.underway
        }
    }

    /// Sleeps until there is something to do.
    ///
    /// - Returns: `false` once the store is closed and nothing waits.
    private func rest() -> Bool {
        let (isClosed, isEmpty) = inbox.withLock { inbox in
            if inbox.waiting.isEmpty, !inbox.isClosed { inbox.isAwake = false }
            return (inbox.isClosed, inbox.waiting.isEmpty)
        }
        guard isEmpty else { return true }
        guard !isClosed else { return false }
        wake.wait()
        return true
    }

    private func keep(_ batch: [Job], _ writer: StoreWriter, _ fault: inout SQLiteFailure?) {
        var failures: [SQLiteFailure?] = []
        if let failure = attempt(batch[...], writer, &fault) {
            if batch.count == 1 {
                failures = [failure]
            } else {
                // One of them may be at fault, or all of them too big for the room that is left:
                // each gets a transaction of its own, so that one does not take the others with it.
                failures = batch.indices.map { attempt(batch[$0...$0], writer, &fault) }
            }
        }
        inbox.withLock { $0.underway = [] }
        for (index, job) in batch.enumerated() {
            let failure = index < failures.count ? failures[index] : nil
            job.completion(
                failure.map { .failure($0.error("keep a transaction", in: path)) } ?? .success(())
            )
        }
    }

    private func attempt(
        _ jobs: ArraySlice<Job>,
        _ writer: StoreWriter,
        _ fault: inout SQLiteFailure?
    ) -> SQLiteFailure? {
        if let fault { return fault }
        let lists = jobs.lazy.map(\.changes)
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

    private func checkpoint(_ writer: StoreWriter, _ fault: inout SQLiteFailure?) {
        guard fault == nil else { return }
        do {
            try writer.checkpoint()
        } catch {
            if error.isFatal { fault = error }
            report(error.error("copy the write-ahead log", in: path))
        }
    }
}
