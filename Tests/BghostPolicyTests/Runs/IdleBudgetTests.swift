// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostModel
import BghostTestSupport
import Testing

@Suite struct IdleBudgetTests {
    private static let ms: Int64 = 1_000_000

    @Test func `A worker that keeps working after its run exceeds the budget soon`() {
        var budget = IdleBudget(now: 0)
        budget.becameIdle(used: 5 * Self.ms)
        var used = 5 * Self.ms
        // It is looked at after each 10 ms of its processor time, which take as long here.
        for look in 1...10 {
            used += 10 * Self.ms
            budget.update(used: used, now: MonotonicInstant(nanoseconds: UInt64(look) * 10_000_000))
            #expect(!budget.isSpent, "\(look)")
        }
        for look in 11...12 {
            used += 10 * Self.ms
            budget.update(used: used, now: MonotonicInstant(nanoseconds: UInt64(look) * 10_000_000))
        }
        #expect(budget.isSpent)
    }

    @Test func `Processor time during a run does not count`() {
        var budget = IdleBudget(now: 0)
        for run in 0..<100 {
            let begin = Int64(run) * 1000 * Self.ms
            budget.runBegan(used: begin, now: 0)
            budget.becameIdle(used: begin + 999 * Self.ms)
            budget.runBegan(used: begin + 999 * Self.ms, now: 0)
        }
        #expect(!budget.isSpent)
    }

    @Test func `A worker may always use a hundredth of a processor`() {
        var budget = IdleBudget(now: 0)
        budget.becameIdle(used: 0)
        for second in 1...10_000 {
            budget.update(
                used: Int64(second) * 9 * Self.ms,
                now: MonotonicInstant(nanoseconds: UInt64(second) * 1_000_000_000)
            )
        }
        #expect(!budget.isSpent)
        // And twice that it may not.
        for second in 10_001...10_020 {
            budget.update(
                used: 90_000 * Self.ms + Int64(second - 10_000) * 30 * Self.ms,
                now: MonotonicInstant(nanoseconds: UInt64(second) * 1_000_000_000)
            )
        }
        #expect(budget.isSpent)
    }

    @Test func `Frequent runs do not hide work between them`() {
        var budget = IdleBudget(now: 0)
        var used: Int64 = 0
        var runs = 0
        // Each takes 1 ms, and 9 ms of work are hidden behind it.
        while !budget.isSpent, runs < 1000 {
            runs += 1
            budget.runBegan(used: used, now: MonotonicInstant(nanoseconds: UInt64(used)))
            used += Self.ms
            budget.becameIdle(used: used)
            used += 9 * Self.ms
        }
        #expect((10...20).contains(runs), "\(runs)")
    }

    @Test func `Without a measured end of a run, the first measurement starts the count`() {
        var budget = IdleBudget(now: 0)
        budget.becameIdle(used: nil)
        budget.update(used: 3_600_000 * Self.ms, now: 0)
        #expect(!budget.isSpent)
        budget.update(used: 3_600_101 * Self.ms, now: 0)
        #expect(budget.isSpent)
    }
}
