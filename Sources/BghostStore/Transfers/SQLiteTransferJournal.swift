// SPDX-License-Identifier: Apache-2.0

package import BghostBase
package import BghostTransferRules
internal import CBghostSystem
internal import CSQLite
internal import Dispatch
internal import Glibc
internal import Synchronization

/// A journal of transfers in its own SQLite file.
///
/// It is separate from the store's file, to which only one connection may write: no submission
/// should wait for the progress of a thousand transfers.
///
/// A dispatch queue writes all changes that have arrived in one transaction, since the sync is what
/// costs. After a failed sync or a damaged page every further commit fails. If the disk is full,
/// commits that do not fit fail, and changes that must be kept wait in memory until there is
/// room. After either the queue writes a small transaction from time to time, so that `health`
/// tells when there is room again although no caller commits.
package final class SQLiteTransferJournal: TransferJournal {
    private struct Job: Sendable {
        let changes: [TransferChange]
        /// `nil` for changes that must be kept.
        let completion: (@Sendable (Result<Void, TransferJournalError>) -> Void)?
    }

    private struct Inbox {
        var waiting: [Job] = []
        /// Whether the queue will check the inbox again by itself.
        var isAwake = false
        var isClosed = false
        /// The failure after which nothing is written.
        var fault: SQLiteFailure?
        /// Changes that must be kept and could not be written yet; they precede all waiting jobs.
        var backlog = TransferBacklog()
        var retry = CommitRetry()
        /// Whether a retry of the backlog, or a probe, is scheduled.
        var isRetryDue = false
        var failure: TransferJournalHealth.Failure?

        /// Whether the queue has to try again by itself.
        var mustRetry: Bool { !backlog.isEmpty || failure?.isFinal == false }
    }

    private let path: String
    private let queue = DispatchQueue(label: "bghost.transfers")
    /// `nil` once it is closed.
    private let tables: Mutex<TransferTables?>
    private let inbox = Mutex(Inbox())
    private let observer = Mutex<(@Sendable (TransferJournalError?) -> Void)?>(nil)

    /// Opens the file or creates it.
    ///
    /// - Parameter path: the file; its folder must exist. `-wal` is created beside it.
    package init(path: String) throws(TransferJournalError) {
        self.path = path
        do throws(SQLiteFailure) {
            tables = Mutex(try TransferTables(path: path))
        } catch {
            throw Self.error(error, "open the journal of transfers", path, for: .start)
        }
    }

    package func commit(
        _ changes: [TransferChange],
        completion: @escaping @Sendable (Result<Void, TransferJournalError>) -> Void
    ) {
        if !enqueue(Job(changes: changes, completion: completion)) {
            completion(.failure(TransferJournalError("the journal \(path) is closed")))
        }
    }

    package func keep(_ changes: [TransferChange]) {
        let isTaken = enqueue(Job(changes: changes, completion: nil))
        if !isTaken { notifyObserver(TransferJournalError("the journal \(path) is closed")) }
    }

    /// - Returns: whether the journal is open.
    private func enqueue(_ job: Job) -> Bool {
        let (isClosed, mustWake) = inbox.withLock { inbox in
            guard !inbox.isClosed else { return (true, false) }
            inbox.waiting.append(job)
            defer { inbox.isAwake = true }
            return (false, !inbox.isAwake)
        }
        if mustWake { queue.async { self.work() } }
        return !isClosed
    }

    package func onHealthChange(_ body: @escaping @Sendable (TransferJournalError?) -> Void) {
        observer.withLock { $0 = body }
    }

    package var health: TransferJournalHealth {
        inbox.withLock { TransferJournalHealth(failure: $0.failure, waiting: $0.backlog.count) }
    }

    private func notifyObserver(_ error: TransferJournalError?) { observer.withLock { $0 }?(error) }

    package func flush(until deadline: MonotonicInstant) -> Int {
        while true {
            work()
            let (left, isOver) = inbox.withLock { inbox in
                (inbox.backlog.count, inbox.fault != nil || inbox.isClosed)
            }
            let now = Self.now
            guard left > 0, !isOver, now < deadline else { return left }
            // Poll, since the caller has nothing else to do, and no event reports that there is
            // room.
            let pause = min(CommitRetry.closingPauseMax, deadline.since(now))
            usleep(UInt32(clamping: pause / 1000))
        }
    }

    private static var now: MonotonicInstant {
        MonotonicInstant(nanoseconds: bgs_monotonic_ns())
    }

    package func recover() throws(TransferJournalError) -> [TransferRecord] {
        do throws(SQLiteFailure) {
            return try tables.withLock { tables throws(SQLiteFailure) in
                guard let tables else {
                    throw SQLiteFailure(code: SQLITE_MISUSE, text: "it is closed")
                }
                // Write the waiting changes first, so that this reads them too.
                work(tables)
                return try tables.records()
            }
        } catch {
            throw Self.error(error, "read the transfers", path, for: .start)
        }
    }

    /// No other connection can read the file, so this keeps changes waiting until the copy is written.
    package func backup(to path: String) throws(TransferJournalError) {
        do throws(SQLiteFailure) {
            try tables.withLock { tables throws(SQLiteFailure) in
                guard let tables else {
                    throw SQLiteFailure(code: SQLITE_MISUSE, text: "it is closed")
                }
                try StoreBackup.copy(tables.connection, to: path)
            }
            try Folder.sync(contentsOf: path)
        } catch {
            throw Self.error(error, "write a copy of \(self.path)", path, for: .backup)
        }
    }

    package func close() {
        let wasClosed = inbox.withLock { inbox in
            defer { inbox.isClosed = true }
            return inbox.isClosed
        }
        guard !wasClosed else { return }
        tables.withLock { tables in
            if let tables { work(tables) }
            let connection = tables?.connection
            // Statements must be released before their connection is closed.
            tables = nil
            // Everything kept is synced; the end of the process closes the rest.
            try? connection?.close()
        }
    }

    // MARK: Queue

    private func work() {
        tables.withLock { tables in
            // `close` has written all changes that had arrived.
            if let tables { work(tables) }
        }
    }

    /// Writes all waiting changes and the backlog, until no more changes arrive.
    private func work(_ tables: TransferTables) {
        var mustTry = true
        while true {
            let (jobs, backlog, fault) = inbox.withLock { inbox in
                defer { inbox.waiting = [] }
                let isIdle = inbox.waiting.isEmpty && (!mustTry || !inbox.mustRetry)
                if isIdle { inbox.isAwake = false }
                return (isIdle ? nil : inbox.waiting, inbox.backlog, inbox.fault)
            }
            guard let jobs else { return }
            mustTry = false
            if let fault {
                drop(jobs, fault)
            } else {
                keep(jobs, behind: backlog, tables)
            }
        }
    }

    private func keep(_ jobs: [Job], behind backlog: TransferBacklog, _ tables: TransferTables) {
        let before = backlog.isEmpty ? [] : [backlog.changes]
        guard var failure = attempt(before + jobs.map(\.changes), tables) else {
            finishBatch(TransferBacklog(), nil)
            for job in jobs { job.completion?(.success(())) }
            return
        }
        // One of them may be at fault, or together they may be too large for the room that is left.
        var left = backlog
        if !before.isEmpty, jobs.count > 0 {
            if let still = attempt(before, tables) { failure = still } else { left = .init() }
        }
        var last: SQLiteFailure? = failure
        for job in jobs {
            // Changes that must be kept are written before all later ones.
            if left.isEmpty {
                let isAlone = jobs.count == 1 && before.isEmpty
                last = isAlone ? failure : attempt([job.changes], tables)
            }
            guard let last else {
                job.completion?(.success(()))
                continue
            }
            if let completion = job.completion {
                completion(.failure(Self.error(last, "keep a transfer", path)))
            } else if last.isTransient {
                left.add(job.changes)
            } else {
                notifyObserver(Self.error(last, "keep a transfer", path))
            }
        }
        finishBatch(left, last)
    }

    private func drop(_ jobs: [Job], _ fault: SQLiteFailure) {
        let error = Self.error(fault, "keep a transfer", path)
        for job in jobs { job.completion?(.failure(error)) }
        finishBatch(TransferBacklog(), fault)
    }

    /// Records what could not be written, and schedules a retry.
    private func finishBatch(_ backlog: TransferBacklog, _ failure: SQLiteFailure?) {
        // A change that is itself at fault says nothing about the disk, in either direction.
        let relevant = failure.flatMap { failure in
            !backlog.isEmpty || failure.isTransient || failure.isFatal ? failure : nil
        }
        let (isNews, pause) = inbox.withLock { inbox -> (Bool, UInt64?) in
            let before = inbox.failure
            inbox.backlog = backlog
            let now = relevant.map {
                TransferJournalHealth.Failure(
                    since: before?.since ?? bgs_realtime_ns(),
                    error: Self.error($0, "keep a transfer", path),
                    isFinal: $0.isFatal
                )
            }
            inbox.failure = failure == nil ? nil : now ?? before
            let isNews = before?.isFinal != inbox.failure?.isFinal
            guard inbox.mustRetry else {
                inbox.retry.succeeded()
                return (isNews, nil)
            }
            inbox.retry.failed(now: .zero)
            defer { inbox.isRetryDue = true }
            let pause = inbox.isRetryDue || inbox.isClosed ? nil : inbox.retry.due.since(.zero)
            return (isNews, pause)
        }
        if isNews { notifyObserver(relevant.map { Self.error($0, "keep a transfer", path) }) }
        guard let pause else { return }
        // The task ends by itself; after `close` it has nothing to do.
        Task { [weak self] in
            // If it wakes early, it only retries early.
            try? await Task.sleep(nanoseconds: pause)
            self?.retry()
        }
    }

    private func retry() {
        let mustWake = inbox.withLock { inbox in
            inbox.isRetryDue = false
            guard !inbox.isClosed, inbox.mustRetry else { return false }
            defer { inbox.isAwake = true }
            return !inbox.isAwake
        }
        if mustWake { queue.async { self.work() } }
    }

    private func attempt(_ lists: [[TransferChange]], _ tables: TransferTables) -> SQLiteFailure? {
        if let fault = inbox.withLock({ $0.fault }) { return fault }
        let isProbe = !lists.contains { !$0.isEmpty }
        // An empty list must not hide that the last attempt failed.
        if isProbe, health.failure == nil { return nil }
        do throws(SQLiteFailure) {
            if isProbe { try tables.probe() } else { try tables.keep(lists) }
            return nil
        } catch {
            if error.isFatal { inbox.withLock { $0.fault = error } }
            return error
        }
    }

    private static func error(
        _ failure: SQLiteFailure,
        _ doing: String,
        _ path: String,
        for purpose: SQLiteFailure.Purpose = .running
    ) -> TransferJournalError {
        TransferJournalError(failure.error(doing, in: path, for: purpose).message)
    }
}
