// SPDX-License-Identifier: Apache-2.0

import BghostBase
@testable import BghostStore
import BghostTestSupport
import Testing

/// Which thread carries out a commit, from what was seen of those before.
@Suite(.ownThreads) struct CommitPaceTests {
    private var pace = CommitPace()
    private var now: MonotonicInstant = 1_000_000_000

    /// A commit that finds nothing under way, so long after the last answer.
    ///
    /// - Returns: whether its caller carries it out.
    private mutating func commit(after pause: UInt64, took: UInt64 = 150_000) -> Bool {
        now += pause
        let isHere = pace.mayCommitHere(now: now)
        now += took
        if isHere {
            pace.committedHere(took: took, now: now)
        } else {
            pace.committedThere(took: took, wasAlone: true, now: now)
        }
        return isHere
    }

    /// Whether the caller of a commit may carry it out, so long after the last answer.
    private mutating func isHere(after pause: UInt64) -> Bool {
        pace.mayCommitHere(now: now + pause)
    }

    private mutating func transaction(took: UInt64 = 150_000, wasAlone: Bool) {
        now += took
        pace.committedThere(took: took, wasAlone: wasAlone, now: now)
    }

    @Test mutating func `A lone commit runs on its caller's thread`() {
        for _ in 0..<10 { #expect(commit(after: 100_000)) }
    }

    @Test mutating func `Many commits use the thread until they are done`() {
        #expect(commit(after: 100_000))
        // The next one has waited for the first.
        #expect(!isHere(after: 1000))
        for _ in 0..<5 {
            transaction(wasAlone: false)
            #expect(!isHere(after: 50_000))
        }
        transaction(wasAlone: true)
        #expect(!isHere(after: 50_000))
        transaction(wasAlone: true)
        #expect(isHere(after: 50_000))
    }

    @Test mutating func `Commits return to the caller after a pause`() {
        #expect(commit(after: 100_000))
        #expect(!isHere(after: 1000))
        transaction(wasAlone: false)
        #expect(!isHere(after: CommitPace.concurrencyTimeout - 1))
        #expect(isHere(after: CommitPace.concurrencyTimeout))
    }

    /// One after the other without a pause: only a few are spent on finding out that it is no crowd.
    @Test mutating func `A caller that alternates is detected`() {
        let there = (0..<10_000).count { _ in !commit(after: 1000) }
        #expect((1...200).contains(there), "\(there)")
    }

    /// Trust is of the one who has earned it: after a pause it may be another's turn.
    @Test mutating func `Trust ends with a pause`() {
        for _ in 0..<10 { _ = commit(after: 1000) }
        #expect(commit(after: 1000))
        #expect(commit(after: 100_000))
        #expect(!commit(after: 1000))
    }

    @Test mutating func `The thread waits for a slow disk`() {
        #expect(commit(after: 100_000, took: CommitPace.inlineMax + 1))
        #expect(!commit(after: 1_000_000_000, took: CommitPace.inlineMax + 1))
        #expect(!commit(after: 1_000_000_000))
        #expect(!commit(after: 1_000_000_000))
        #expect(commit(after: 1_000_000_000))
    }
}
