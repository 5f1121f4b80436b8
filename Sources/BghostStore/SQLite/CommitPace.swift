// SPDX-License-Identifier: Apache-2.0

/// Decides whether a commit is carried out by the thread that brings it, or by the committer's own.
///
/// The first saves two wake-ups, which is half of what a lone commit costs; the second lets those
/// that come meanwhile share one sync, which is worth more as soon as there are any. Who brings
/// them all from one thread cannot be seen waiting, so it is found out: a commit that comes on the
/// heels of the last answer goes to the committer, and if others arrive before that is done, there
/// is a crowd. A caller that only takes turns with its commits is known by nobody arriving.
///
/// Pure: it knows no clock. Times are monotonic nanoseconds.
package struct CommitPace {
    /// Whoever is made to wait for longer than this could do better: the host is one thread, and
    /// while it waits it stops no run whose time is up.
    package static let patience: UInt64 = 2_000_000
    /// A commit that comes so soon after the last answer may have waited for it.
    static let heels: UInt64 = 30_000
    /// After so long without a commit nobody presses any more.
    package static let lull: UInt64 = 1_000_000
    /// How many commits on the heels of others are carried out where they come from, once it is
    /// known that their caller is alone.
    static let trust = 256
    /// So many commits without company end a crowd, and so many quick ones a slow disk.
    static let proofs = 2

    private var isCrowded = false
    private var isSlow = false
    private var proofs = 0
    private var trust = 0
    private var answeredAt: UInt64 = 0

    package init() {}

    /// Whether the caller of a commit that finds nothing under way may carry it out itself.
    package mutating func mayCommitHere(now: UInt64) -> Bool {
        let pause = now &- answeredAt
        if pause >= Self.lull { isCrowded = false }
        guard !isCrowded, !isSlow else { return false }
        guard pause < Self.heels else {
            trust = 0
            return true
        }
        if trust > 0 {
            trust -= 1
            return true
        }
        isCrowded = true
        proofs = 0
        return false
    }

    /// The caller has carried out its commit.
    package mutating func committedHere(took: UInt64, now: UInt64) {
        answeredAt = now
        guard took > Self.patience else { return }
        isSlow = true
        proofs = 0
    }

    /// The committer's thread has carried out a transaction.
    ///
    /// - Parameter wasAlone: one commit was in it, and none arrived while it was on its way.
    package mutating func committedThere(took: UInt64, wasAlone: Bool, now: UInt64) {
        answeredAt = now
        guard wasAlone, took <= Self.patience else {
            isCrowded = isCrowded || !wasAlone
            isSlow = took > Self.patience
            proofs = 0
            return
        }
        proofs += 1
        guard proofs >= Self.proofs else { return }
        if isCrowded { trust = Self.trust }
        isCrowded = false
        isSlow = false
    }
}
