// SPDX-License-Identifier: Apache-2.0

import BghostBase
@testable import BghostStore
import BghostTestSupport
import Testing

/// When a commit that failed is tried again.
@Suite struct CommitRetryTests {
    @Test func `Pauses grow to a bound`() {
        var retry = CommitRetry()
        var now: MonotonicInstant = 1_000_000_000_000
        var pauses: [UInt64] = []
        for _ in 0..<10 {
            retry.failed(now: now)
            pauses.append(retry.due.since(now))
            now = retry.due
        }
        #expect(pauses.first == CommitRetry.pauseMin)
        #expect(
            zip(pauses, pauses.dropFirst()).allSatisfy { $1 == min(2 * $0, CommitRetry.pauseMax) }
        )
        #expect(pauses.last == CommitRetry.pauseMax)
        retry.succeeded()
        retry.failed(now: now)
        #expect(retry.due.since(now) == CommitRetry.pauseMin)
    }

    @Test func `A hint retries sooner and many hints no sooner`() {
        var retry = CommitRetry()
        let now: MonotonicInstant = 1_000_000_000_000
        for _ in 0..<10 { retry.failed(now: now) }
        for _ in 0..<1000 { retry.hint() }
        #expect(retry.due == now + CommitRetry.hintPause)
    }

    @Test func `A caller waits only briefly for the end`() {
        var retry = CommitRetry()
        let now: MonotonicInstant = 1_000_000_000_000
        for _ in 0..<10 { retry.failed(now: now) }
        retry.isClosing = true
        #expect(retry.due <= now + CommitRetry.closingPauseMax)
        retry.failed(now: now)
        #expect(retry.due <= now + CommitRetry.closingPauseMax)
    }
}
