// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostModel
internal import BghostPolicy

/// A transaction that waits to be written.
struct CommitJob: Sendable {
    typealias Completion = @Sendable (Result<Void, StoreError>) -> Void

    let changes: [StoreChange]
    let onFailure: CommitFailurePolicy
    /// Its approximate memory use, bytes; 0 if its caller writes it.
    var bytes = 0
    let completion: Completion
}

/// The queue and state of a committer, protected by its lock.
struct CommitInbox {
    /// The holder of the write permit.
    ///
    /// It keeps the permit until it has answered all that it wrote, so that the answers keep the
    /// order of the commits.
    enum Permit {
        case free
        case caller
        case thread
    }

    /// The limits for waiting transactions, for a slow disk and for one that fails.
    ///
    /// They are limited because each query about the past scans the waiting transactions.
    private static let countMax = (slow: 65_536, failing: 4096)
    private static let bytesMax = (slow: 64 << 20, failing: 16 << 20)

    /// In order; transactions that are retried come first.
    var waiting: [CommitJob] = []
    var underway: [CommitJob] = []
    private var bytes = 0
    var permit = Permit.free
    /// Whether the thread will check the inbox again by itself.
    var isAwake = false
    var isClosed = false
    var wantsCheckpoint = false
    /// Whether history may have to be deleted.
    var isTrimDue = false
    /// The limits of the history that the thread is to take up.
    var newPolicy: HistoryPolicy?
    var pace = CommitPace()
    var retry = CommitRetry()
    private(set) var failure: StoreHealth.Failure?
    private(set) var isPressed = false
    /// Called by the thread in its next turn.
    var questions: [@Sendable () -> Void] = []
    /// The callers of `flush`, each with its own semaphore.
    var flushing: [Semaphore] = []
    /// Whether the shutdown was forced, so that `flush` no longer waits.
    var isFlushAborted = false

    var health: StoreHealth {
        StoreHealth(
            failure: failure,
            waiting: waiting.count + underway.count,
            isPressed: isPressed
        )
    }

    /// Whether the thread waits until it may retry.
    var isRetrying: Bool { failure?.isFinal == false }

    /// Whether the thread has work and must be woken.
    mutating func mustWake() -> Bool {
        let hasWork = !waiting.isEmpty || isClosed || wantsCheckpoint || isTrimDue || isRetrying
        guard hasWork, !isAwake, permit == .free else { return false }
        isAwake = true
        return true
    }

    mutating func add(_ job: CommitJob) {
        waiting.append(job)
        bytes += job.bytes
        updatePressure()
    }

    /// Removes the next batch to write.
    mutating func takeBatch(max: Int) -> [CommitJob] {
        if waiting.count <= max {
            swap(&underway, &waiting)
        } else {
            underway = Array(waiting.prefix(max))
            waiting.removeFirst(max)
        }
        return underway
    }

    /// Records the end of a batch; the transactions in `again` are retried.
    mutating func finishBatch(retrying again: [CommitJob]) {
        for job in underway { bytes -= job.bytes }
        underway.removeAll(keepingCapacity: true)
        waiting.insert(contentsOf: again, at: 0)
        for job in again { bytes += job.bytes }
    }

    /// Records the outcome of an attempt to write, with the failure if it failed.
    ///
    /// - Returns: whether the health changed in a way that the store's owner must know.
    mutating func attempted(
        _ error: (StoreError, isFinal: Bool)?,
        now: MonotonicInstant,
        unix: Int64
    ) -> Bool {
        let before = (failure, isPressed)
        if let error {
            failure = StoreHealth.Failure(
                since: failure?.since ?? unix,
                error: error.0,
                isFinal: error.isFinal
            )
            retry.failed(now: now)
        } else {
            failure = nil
            retry.succeeded()
        }
        updatePressure()
        return before.0 != failure || before.1 != isPressed
    }

    private mutating func updatePressure() {
        let count = waiting.count + underway.count
        let (countMax, bytesMax) =
            failure == nil
            ? (Self.countMax.slow, Self.bytesMax.slow)
            : (Self.countMax.failing, Self.bytesMax.failing)
        if failure?.isFinal == true || count >= countMax || bytes >= bytesMax {
            isPressed = true
        } else if isPressed {
            // Release the pressure only at half of the limits, so that it does not change with each
            // transaction.
            isPressed = count > countMax / 2 || bytes > bytesMax / 2
        }
    }
}
