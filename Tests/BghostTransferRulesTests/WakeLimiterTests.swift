// SPDX-License-Identifier: Apache-2.0

import BghostTransferRules
import Testing

/// The delays of wakes for a session that starts new transfers in each wake.
@Suite struct WakeLimiterTests {
    private static let second: Int64 = 1_000_000_000
    private static let start: Int64 = 1_790_000_000 * second

    @Test func `A session without new transfers is never delayed`() {
        var limiter = WakeLimiter()
        for hour in 0..<10 {
            #expect(limiter.earliest(now: Self.start + Int64(hour)) == nil)
        }
    }

    @Test func `The delay doubles up to an hour`() {
        var limiter = WakeLimiter()
        var now = Self.start
        for seconds in [60, 120, 240, 480, 960, 1920, 3600, 3600] as [Int64] {
            limiter.created(now: now)
            #expect(limiter.delay == seconds * Self.second)
            let due = limiter.earliest(now: now + Self.second)
            #expect(due == now + seconds * Self.second)
            now = due ?? now
        }
    }

    @Test func `A delay that passes unused ends it`() {
        var limiter = WakeLimiter()
        limiter.created(now: Self.start)
        #expect(limiter.earliest(now: Self.start + 60 * Self.second) == nil)
        limiter.created(now: Self.start + 61 * Self.second)
        #expect(limiter.delay == 60 * Self.second)
    }

    /// A wake that was held back to the end of its delay, and begins nothing, ends it too.
    @Test func `A wake that begins nothing ends it`() {
        var limiter = WakeLimiter()
        limiter.created(now: Self.start)
        #expect(limiter.earliest(now: Self.start + 1) == Self.start + 60 * Self.second)
        #expect(limiter.earliest(now: Self.start + 70 * Self.second) == nil)
        #expect(limiter == WakeLimiter())
    }

    @Test func `The first delay is the configured one`() {
        var limiter = WakeLimiter(base: Self.second)
        limiter.created(now: Self.start)
        #expect(limiter.delay == Self.second)
        #expect(limiter.earliest(now: Self.start + 2 * Self.second) == nil)
        limiter.created(now: Self.start + 3 * Self.second)
        #expect(limiter.delay == Self.second)
    }
}
