// SPDX-License-Identifier: Apache-2.0

import BghostBase
@testable import BghostServices
import BghostTestSupport
import Testing

/// A flood of refusals must leave room for other rows.
@Suite struct AuditLimiterTests {
    private static let second: UInt64 = 1_000_000_000

    @Test func `A year of refusals takes about a quarter of the rows`() {
        var limiter = AuditLimiter()
        var noted = 0
        // Ten a second, by one user after the other.
        for step in 0..<(365 * 24 * 360) {
            let now = MonotonicInstant(nanoseconds: UInt64(step) * 10 * Self.second)
            for user in 0..<10 {
                if limiter.admit(user: UInt32(user + step % 7), now: now) != nil { noted += 1 }
            }
        }
        #expect(noted > 26_000 && noted < 26_500)
    }

    @Test func `One user leaves room for another, and what is dropped is counted`() {
        var limiter = AuditLimiter()
        var answers: [Int?] = []
        for _ in 0..<100 { answers.append(limiter.admit(user: 7, now: 5)) }
        #expect(answers.compactMap { $0 }.count == AuditLimiter.burstOfUser)
        #expect(limiter.admit(user: nil, now: 5) == 80)
        #expect(limiter.admit(user: 8, now: 5) == 0)
        #expect(limiter.admit(user: 7, now: 5 + AuditLimiter.period - 1) == nil)
        #expect(limiter.admit(user: 7, now: 5 + AuditLimiter.period) == 1)
        #expect(limiter.admit(user: 7, now: 5 + AuditLimiter.period) == nil)
    }

    @Test func `Many users at once have a limit in memory and in rows`() {
        var limiter = AuditLimiter()
        let noted = (0..<10_000).compactMap { limiter.admit(user: UInt32($0), now: 9) }
        #expect(noted.count == AuditLimiter.burst)
        // After a quiet day, everyone may be noted again.
        let later = MonotonicInstant(nanoseconds: 86_400 * Self.second)
        let again = (0..<10_000).compactMap { limiter.admit(user: UInt32($0), now: later) }
        #expect(again.count == AuditLimiter.burst)
    }
}
