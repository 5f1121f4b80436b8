// SPDX-License-Identifier: Apache-2.0

internal import BghostCore
internal import GRDBSQLite
internal import Glibc
internal import Synchronization

/// Brings transactions to the disk: those that have arrived together as one.
///
/// One sync then serves many callers, and the more of them wait the fewer syncs each costs. A
/// thread of its own does that; only a commit that finds nothing under way, and that somebody waits
/// for, is carried out by its caller. Nothing is ever dropped: under overload the transactions
/// become longer, up to `batchMax` lists each, and the rest waits in memory, as `waiting` tells.
final class Committer: Sendable {
    typealias Completion = @Sendable (Result<Void, StoreError>) -> Void

    private struct Job: Sendable {
        let changes: [StoreChange]
        let completion: Completion
    }

    /// Who may write; it keeps the pen until all that it wrote is answered, so that the answers keep
    /// the order of the commits.
    private enum Pen {
        case free
        case caller
        case thread
    }

    private struct Inbox {
        var waiting: [Job] = []
        var underway: [Job] = []
        var pen = Pen.free
        /// Whether the thread will look into the inbox again by itself.
        var isAwake = false
        var isClosed = false
        var wantsCheckpoint = false
        var pace = CommitPace()

        /// Whether there is something to do for the thread, which must then be woken.
        mutating func mustWake() -> Bool {
            let hasWork = !waiting.isEmpty || isClosed || wantsCheckpoint
            guard hasWork, !isAwake, pen == .free else { return false }
            isAwake = true
            return true
        }
    }

    private static let batchMax = 1024

    private let path: String
    private let writer: BatchWriter
    private let inbox = Mutex(Inbox())
    private let wake = Semaphore()
    private let ended = Semaphore()

    /// Begins to write, with a thread of its own that ends with `close`.
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

    private static var now: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
    }

    // MARK: The callers

    private enum Way {
        case closed
        case here
        case there(mustWake: Bool)
    }

    func commit(_ changes: [StoreChange], isAwaited: Bool, _ completion: @escaping Completion) {
        let job = Job(changes: changes, completion: completion)
        let start = isAwaited ? Self.now : 0
        let way: Way = inbox.withLock { inbox in
            guard !inbox.isClosed else { return .closed }
            if isAwaited, inbox.pen == .free, inbox.waiting.isEmpty,
                inbox.pace.mayCommitHere(now: start)
            {
                inbox.pen = .caller
                inbox.underway.append(job)
                return .here
            }
            inbox.waiting.append(job)
            return .there(mustWake: inbox.mustWake())
        }
        switch way {
        case .closed: completion(.failure(StoreError("the store \(path) is closed")))
        case .here: commitHere(job, start)
        case .there(let mustWake): if mustWake { wake.signal() }
        }
    }

    private func commitHere(_ job: Job, _ start: UInt64) {
        let result = writer.keep(job.changes)
        let end = Self.now
        inbox.withLock { $0.underway.removeAll(keepingCapacity: true) }
        job.completion(result)
        let wantsCheckpoint = writer.wantsCheckpoint
        let mustWake = inbox.withLock { inbox in
            inbox.pen = .free
            inbox.wantsCheckpoint = wantsCheckpoint
            inbox.pace.committedHere(took: end &- start, now: end)
            return inbox.mustWake()
        }
        if mustWake { wake.signal() }
    }

    /// Waits until all that was committed before is answered.
    func flush() {
        let answered = Semaphore()
        commit([], isAwaited: false) { _ in answered.signal() }
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
            guard !inbox.isClosed else { return (true, false) }
            inbox.isClosed = true
            return (false, inbox.mustWake())
        }
        guard !wasClosed else { return }
        if mustWake { wake.signal() }
        ended.wait()
    }

    // MARK: The thread

    private enum Turn {
        case keep([Job])
        case checkpoint
        case rest
        case end
    }

    private func work() {
        while true {
            switch takeTurn() {
            case .keep(let batch):
                keep(batch)
                if writer.needsCheckpoint { writer.checkpoint() }
                putDownPen()
            case .checkpoint:
                writer.checkpoint()
                putDownPen()
            case .rest: wake.wait()
            case .end:
                writer.close()
                ended.signal()
                return
            }
        }
    }

    private func takeTurn() -> Turn {
        inbox.withLock { inbox in
            // The caller who has it wakes this thread when it is done.
            guard inbox.pen == .free else {
                inbox.isAwake = false
                return .rest
            }
            if !inbox.waiting.isEmpty {
                inbox.pen = .thread
                if inbox.waiting.count <= Self.batchMax {
                    swap(&inbox.underway, &inbox.waiting)
                } else {
                    inbox.underway = Array(inbox.waiting.prefix(Self.batchMax))
                    inbox.waiting.removeFirst(Self.batchMax)
                }
                return .keep(inbox.underway)
            }
            if inbox.isClosed {
                inbox.pen = .thread
                return .end
            }
            if inbox.wantsCheckpoint {
                inbox.pen = .thread
                return .checkpoint
            }
            inbox.isAwake = false
            return .rest
        }
    }

    private func putDownPen() {
        let wantsCheckpoint = writer.wantsCheckpoint
        inbox.withLock { inbox in
            inbox.pen = .free
            inbox.wantsCheckpoint = wantsCheckpoint
        }
    }

    private func keep(_ batch: [Job]) {
        let start = Self.now
        let results = writer.keep(batch.map(\.changes))
        let end = Self.now
        inbox.withLock { inbox in
            inbox.underway = []
            inbox.pace.committedThere(
                took: end &- start,
                wasAlone: batch.count == 1 && inbox.waiting.isEmpty,
                now: end
            )
        }
        for (index, job) in batch.enumerated() {
            job.completion(results.count == 1 ? results[0] : results[index])
        }
    }
}
