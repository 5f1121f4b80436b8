// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostModel
internal import BghostPolicy
internal import CSQLite
internal import Glibc
internal import Synchronization

/// Writes transactions to the disk; those that arrive together become one.
///
/// One sync then serves many callers, and the more callers wait, the fewer syncs each one costs. A
/// thread of its own writes; the caller writes a commit itself only if no other is being written
/// and the caller waits for the answer. Under overload the transactions become longer, up to
/// `batchMax` lists each, and the rest waits in memory, as `health` reports.
///
/// A transaction that must be kept but cannot be written now returns to the front of the queue, and
/// no later transaction is written before it; the thread retries with growing pauses.
final class Committer: Sendable {
    private static let batchMax = 1024
    /// How long `flush` waits for the disk after a forced shutdown, nanoseconds.
    private static let lastTurn: UInt64 = 1_000_000_000

    private let path: String
    private let writer: BatchWriter
    private let inbox = Mutex(CommitInbox())
    private let observer = Mutex<(@Sendable () -> Void)?>(nil)
    private let wake = Semaphore()
    private let ended = Semaphore()

    /// Starts the writing thread, which ends with `close`.
    init(_ writer: BatchWriter, path: String) throws(SQLiteFailure) {
        self.path = path
        self.writer = writer
        let context = Unmanaged.passRetained(self)
        var thread = pthread_t()
        let code = pthread_create(
            &thread,
            nil,
            { context in
                guard let context else { return nil }
                Unmanaged<Committer>.fromOpaque(context).takeRetainedValue().work()
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

    // MARK: Callers

    private enum Way {
        case closed
        case pressed
        case here
        case there(mustWake: Bool, isNews: Bool)
    }

    func commit(
        _ changes: [StoreChange],
        isAwaited: Bool,
        onFailure: CommitFailurePolicy,
        _ completion: @escaping CommitJob.Completion
    ) {
        let job = CommitJob(changes: changes, onFailure: onFailure, completion: completion)
        let start = isAwaited ? Self.now : .zero
        let way: Way = inbox.withLock { inbox in
            guard !inbox.isClosed else { return .closed }
            if isAwaited, inbox.permit == .free, inbox.waiting.isEmpty,
                inbox.pace.mayCommitHere(now: start)
            {
                inbox.permit = .caller
                inbox.underway.append(job)
                return .here
            }
            return enqueue(job, &inbox)
        }
        switch way {
        case .closed: completion(.failure(StoreError("the store \(path) is closed")))
        case .pressed: completion(.failure(pressure))
        case .here: commitHere(job, start)
        case .there(let mustWake, let isNews):
            if mustWake { wake.signal() }
            if isNews { notifyObserver() }
        }
    }

    private func enqueue(_ job: CommitJob, _ inbox: inout CommitInbox) -> Way {
        let wasPressed = inbox.isPressed
        if job.onFailure == .refuse, wasPressed, !inbox.isRetrying { return .pressed }
        var job = job
        job.bytes = job.changes.reduce(128) { $0 + $1.approximateBytes }
        inbox.add(job)
        let isNews = inbox.isPressed != wasPressed
        // A transaction that is retried anyway wakes no thread; one whose caller may wait advances
        // the retry.
        if inbox.isRetrying {
            guard job.onFailure == .refuse else { return .there(mustWake: false, isNews: isNews) }
            inbox.retry.hint()
        }
        return .there(mustWake: inbox.mustWake(), isNews: isNews)
    }

    private var pressure: StoreError {
        let health = health
        return health.failure?.error
            ?? StoreError(
                "transactions that wait to be written to \(path): \(health.waiting); the disk is too slow"
                    + " for them; try again later",
                kind: .full
            )
    }

    private func commitHere(_ job: CommitJob, _ start: MonotonicInstant) {
        let failure = writer.keep(CollectionOfOne(job.changes))
        let end = Self.now
        let mustRetry = failure?.isTransient == true && job.onFailure == .retry
        finish(mustRetry ? [job] : [], failure, at: end)
        if !mustRetry {
            job.completion(failure.map { .failure($0.error) } ?? .success(()))
        }
        let (wantsCheckpoint, isTrimDue) = (writer.wantsCheckpoint, writer.isTrimDue)
        let mustWake = inbox.withLock { inbox in
            inbox.permit = .free
            inbox.wantsCheckpoint = wantsCheckpoint
            inbox.isTrimDue = isTrimDue || inbox.newPolicy != nil
            inbox.pace.committedHere(took: end.since(start), now: end)
            return inbox.mustWake()
        }
        if mustWake { wake.signal() }
    }

    /// Records the outcome of a batch.
    private func finish(
        _ again: [CommitJob],
        _ failure: BatchWriter.Failure?,
        at now: MonotonicInstant
    ) {
        let isNews = inbox.withLock { inbox in
            inbox.finishBatch(retrying: again)
            return note(failure, now, &inbox)
        }
        if isNews { notifyObserver() }
    }

    private func note(
        _ failure: BatchWriter.Failure?,
        _ now: MonotonicInstant,
        _ inbox: inout CommitInbox
    ) -> Bool {
        // A transaction that is itself at fault says nothing about the store's health.
        let counts = failure.map { $0.isTransient || $0.isFinal } ?? true
        guard counts, failure != nil || inbox.failure != nil || inbox.isPressed else {
            return false
        }
        let error = failure.map { ($0.error, isFinal: $0.isFinal) }
        return inbox.attempted(error, now: now, unix: failure == nil ? 0 : Self.unix)
    }

    /// Waits until all earlier commits are answered, or are waiting for room.
    func flush() {
        let answered = Semaphore()
        commit([], isAwaited: false, onFailure: .refuse) { _ in answered.signal() }
        answered.wait()
    }

    /// The changes that are not on the disk yet, in order.
    var uncommitted: Uncommitted {
        let (underway, waiting) = inbox.withLock { ($0.underway, $0.waiting) }
        return Uncommitted(changes: underway.flatMap(\.changes) + waiting.flatMap(\.changes))
    }

    var health: StoreHealth { inbox.withLock { $0.health } }

    /// Sets a function to call when the failure or the pressure changes, on any thread; it must be
    /// short.
    func onHealthChange(_ body: @escaping @Sendable () -> Void) {
        observer.withLock { $0 = body }
    }

    private func notifyObserver() { observer.withLock { $0 }?() }

    /// Advances the next attempt.
    func hint() {
        let mustWake = inbox.withLock { inbox in
            guard inbox.isRetrying else { return false }
            inbox.retry.hint()
            return inbox.mustWake()
        }
        if mustWake { wake.signal() }
    }

    /// Sets how much history is kept; the thread deletes the rest.
    func keep(_ policy: HistoryPolicy) {
        let mustWake = inbox.withLock { inbox in
            inbox.newPolicy = policy
            inbox.isTrimDue = true
            return inbox.mustWake()
        }
        if mustWake { wake.signal() }
    }

    /// Calls a function on the thread in its next turn.
    func answer(_ body: @escaping @Sendable () -> Void) {
        inbox.withLock { $0.questions.append(body) }
        // If the thread is awake, this costs it one more turn.
        wake.signal()
    }

    /// Waits until everything is written, at most until the deadline, and not after `abortFlush`.
    ///
    /// - Returns: how many transactions are not written.
    func flush(until deadline: MonotonicInstant) -> Int {
        let done = Semaphore()
        let (isFlushAborted, mustWake) = inbox.withLock { inbox in
            inbox.flushing.append(done)
            inbox.retry.isClosing = true
            return (inbox.isFlushAborted, inbox.mustWake())
        }
        if mustWake { wake.signal() }
        commit([], isAwaited: false, onFailure: .retry) { _ in done.signal() }
        // Even after a forced shutdown, wait for one more attempt.
        _ = done.wait(
            until: isFlushAborted ? min(deadline, Self.now + Self.lastTurn) : deadline
        )
        return inbox.withLock { inbox in
            inbox.flushing.removeAll { $0 === done }
            // Empty jobs only wait for others.
            return inbox.waiting.count { !$0.changes.isEmpty }
                + inbox.underway.count { !$0.changes.isEmpty }
        }
    }

    /// Ends the waits of `flush` for transactions that cannot be written.
    func abortFlush() {
        let flushing = inbox.withLock { inbox in
            inbox.isFlushAborted = true
            return inbox.flushing
        }
        for wait in flushing { wait.signal() }
    }

    /// Attempts once more to write what waits, answers every commit, and waits until the thread has
    /// ended.
    func close() {
        let (wasClosed, mustWake) = inbox.withLock { inbox in
            guard !inbox.isClosed else { return (true, false) }
            inbox.isClosed = true
            return (false, inbox.mustWake())
        }
        guard !wasClosed else { return }
        if mustWake { wake.signal() }
        ended.wait()
    }

    // MARK: Thread

    private enum Turn {
        case keep([CommitJob], isLast: Bool)
        case probe
        case checkpoint
        case trim(HistoryPolicy?)
        case answer([@Sendable () -> Void])
        case rest(until: MonotonicInstant?)
        case end
    }

    private func work() {
        while true {
            switch takeTurn() {
            case .keep(let batch, let isLast):
                keep(batch, isLast: isLast)
                // Under load there is no turn for it alone.
                if writer.isTrimDue, !isLast, health.failure == nil { writer.trim() }
                if writer.needsCheckpoint { writer.checkpoint() }
                putDownPermit()
            case .probe:
                finish([], writer.probe(), at: Self.now)
                putDownPermit()
            case .checkpoint:
                writer.checkpoint()
                putDownPermit()
            case .trim(let policy):
                if let policy { writer.keep(policy) }
                writer.trim()
                putDownPermit()
            case .answer(let questions): for answer in questions { answer() }
            case .rest(nil): wake.wait()
            // The next turn asks for the next step, whichever of the two ended the wait.
            case .rest(let moment?): _ = wake.wait(until: moment)
            case .end:
                writer.close()
                ended.signal()
                return
            }
        }
    }

    private func takeTurn() -> Turn {
        inbox.withLock { inbox in
            if !inbox.questions.isEmpty {
                defer { inbox.questions = [] }
                return .answer(inbox.questions)
            }
            // A caller that holds the permit wakes this thread when it is done.
            guard inbox.permit == .free else {
                inbox.isAwake = false
                return .rest(until: nil)
            }
            if inbox.isRetrying, !inbox.isClosed {
                guard inbox.retry.due <= Self.now else {
                    inbox.isAwake = false
                    return .rest(until: inbox.retry.due)
                }
                inbox.isAwake = true
                inbox.permit = .thread
                guard !inbox.waiting.isEmpty else { return .probe }
            }
            if !inbox.waiting.isEmpty {
                inbox.permit = .thread
                return .keep(inbox.takeBatch(max: Self.batchMax), isLast: inbox.isClosed)
            }
            if inbox.isClosed {
                inbox.permit = .thread
                return .end
            }
            if inbox.isTrimDue {
                inbox.permit = .thread
                defer { inbox.newPolicy = nil }
                return .trim(inbox.newPolicy)
            }
            if inbox.wantsCheckpoint {
                inbox.permit = .thread
                return .checkpoint
            }
            inbox.isAwake = false
            return .rest(until: nil)
        }
    }

    private func putDownPermit() {
        let (wantsCheckpoint, isTrimDue) = (writer.wantsCheckpoint, writer.isTrimDue)
        inbox.withLock { inbox in
            inbox.permit = .free
            inbox.wantsCheckpoint = wantsCheckpoint
            inbox.isTrimDue = isTrimDue || inbox.newPolicy != nil
        }
    }

    private func keep(_ batch: [CommitJob], isLast: Bool) {
        let start = Self.now
        guard let failure = writer.keep(batch.lazy.map(\.changes)) else {
            return keptAll(batch, since: start)
        }
        var answers: [(CommitJob, BatchWriter.Failure?)] = []
        var again: [CommitJob] = []
        var last: BatchWriter.Failure? = failure
        for job in batch {
            // One of them may be at fault, or together they may be too large for the room that is
            // left. So write each in its own transaction, unless an earlier one must be written
            // first.
            if again.isEmpty, batch.count > 1 {
                last = writer.keep(CollectionOfOne(job.changes))
            }
            if let last, last.isTransient, job.onFailure == .retry, !isLast {
                again.append(job)
            } else {
                answers.append((job, last))
            }
        }
        finish(again, last, at: Self.now)
        for (job, failure) in answers {
            job.completion(failure.map { .failure($0.error) } ?? .success(()))
        }
    }

    private func keptAll(_ batch: [CommitJob], since start: MonotonicInstant) {
        let end = Self.now
        let isNews = inbox.withLock { inbox in
            inbox.finishBatch(retrying: [])
            inbox.pace.committedThere(
                took: end.since(start),
                wasAlone: batch.count == 1 && inbox.waiting.isEmpty,
                now: end
            )
            return note(nil, end, &inbox)
        }
        if isNews { notifyObserver() }
        for job in batch { job.completion(.success(())) }
    }
}
