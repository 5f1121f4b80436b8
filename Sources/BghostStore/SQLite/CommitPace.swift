// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

/// Decides whether the calling thread writes a commit, or the committer's own thread.
///
/// Writing on the calling thread saves two wake-ups, which is half the cost of a single commit. On
/// the committer's thread, commits that arrive meanwhile share one sync, which saves more as soon
/// as there are any. Several commits from one thread cannot be detected as waiting, so they are
/// probed: a commit that closely follows the last answer goes to the committer, and if others
/// arrive before it is done, there are concurrent commits. If none arrive, the caller only
/// alternates with its own commits.
///
/// Pure: it reads no clock.
struct CommitPace {
    /// Above this duration (2 ms), commits go to the committer's thread: the host has one thread,
    /// and while that waits it stops no run whose time is up.
    static let inlineMax: UInt64 = 2_000_000
    /// A commit that follows the last answer within this time may have waited for it.
    static let followMax: UInt64 = 30_000
    /// After this time without a commit, no commits are concurrent any longer.
    static let concurrencyTimeout: UInt64 = 1_000_000
    /// How many closely following commits the caller writes itself, once it is known to be the only
    /// one.
    static let inlineBudget = 256
    /// How many single commits end the assumption of concurrency, and how many fast ones that of a
    /// slow disk.
    static let samplesMin = 2

    private var isConcurrent = false
    private var isSlow = false
    private var samples = 0
    private var inlineBudget = 0
    private var answeredAt: MonotonicInstant = .zero

    init() {}

    /// Whether the caller of a commit may write it, if no other is being written.
    mutating func mayCommitHere(now: MonotonicInstant) -> Bool {
        let pause = now.since(answeredAt)
        if pause >= Self.concurrencyTimeout { isConcurrent = false }
        guard !isConcurrent, !isSlow else { return false }
        guard pause < Self.followMax else {
            inlineBudget = 0
            return true
        }
        if inlineBudget > 0 {
            inlineBudget -= 1
            return true
        }
        isConcurrent = true
        samples = 0
        return false
    }

    /// Records that the caller has written its commit.
    mutating func committedHere(took: UInt64, now: MonotonicInstant) {
        answeredAt = now
        guard took > Self.inlineMax else { return }
        isSlow = true
        samples = 0
    }

    /// Records that the committer's thread has written a transaction.
    ///
    /// - Parameter wasAlone: whether it contained one commit and no other arrived meanwhile.
    mutating func committedThere(took: UInt64, wasAlone: Bool, now: MonotonicInstant) {
        answeredAt = now
        guard wasAlone, took <= Self.inlineMax else {
            isConcurrent = isConcurrent || !wasAlone
            isSlow = took > Self.inlineMax
            samples = 0
            return
        }
        samples += 1
        guard samples >= Self.samplesMin else { return }
        if isConcurrent { inlineBudget = Self.inlineBudget }
        isConcurrent = false
        isSlow = false
    }
}
