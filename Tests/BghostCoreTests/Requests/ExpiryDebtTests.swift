// SPDX-License-Identifier: Apache-2.0

import BghostCore
import Testing

@Suite struct ExpiryDebtTests {
    private static let minute: Int64 = 60_000_000_000
    private static let hour: Int64 = 60 * minute

    @Test func growsWithEachExpiryAndShrinksWithSuccess() {
        var debt = ExpiryDebt()
        #expect(debt.nextStart(now: 0) == nil)
        debt.take(.expired, now: 10)
        #expect(debt.points == 1)
        #expect(debt.nextStart(now: 10) == Self.minute + 10)
        debt.take(.killed, now: 20)
        #expect(debt.points == 3)
        #expect(debt.nextStart(now: 20) == 15 * Self.minute + 20)
        debt.take(.succeeded, now: 30)
        #expect(debt.points == 2)
        #expect(debt.nextStart(now: 30) == 5 * Self.minute + 30)
        #expect(debt.nextStart(now: 5 * Self.minute + 30) == nil)
    }

    @Test func isNeverNegative() {
        var debt = ExpiryDebt()
        debt.take(.succeeded, now: 1)
        #expect(debt.points == 0)
    }

    @Test func isForgivenByTimeAndByTheOperator() {
        var debt = ExpiryDebt()
        for _ in 0..<3 { debt.take(.killed, now: 0) }
        #expect(debt.points(now: 0) == 6)
        #expect(debt.points(now: 6 * Self.hour - 1) == 6)
        #expect(debt.points(now: 6 * Self.hour) == 5)
        #expect(debt.points(now: 36 * Self.hour) == 0)
        #expect(debt.points(now: .max) == 0)
        debt.clear(now: 5)
        #expect(debt.nextStart(now: 5) == nil)
    }

    @Test func neverDelaysBeyondADay() {
        var debt = ExpiryDebt()
        for _ in 0..<1_000 { debt.take(.killed, now: 0) }
        #expect(debt.level(now: 0) == 6)
        #expect(debt.nextStart(now: 0) == 24 * Self.hour)
        #expect(debt.nextStart(now: 24 * Self.hour) == nil)
        // Nor is what was owed in a bad week owed for a year.
        #expect(debt.points(now: 72 * Self.hour) == 0)
    }

    /// Six points are a day's delay, but six hours later they are five, which are four hours.
    @Test func whatTimeForgivesShortensTheDelay() {
        var debt = ExpiryDebt()
        for _ in 0..<3 { debt.take(.killed, now: 0) }
        #expect(debt.nextStart(now: 0) == 6 * Self.hour)
        #expect(debt.nextStart(now: 6 * Self.hour - 1) == 6 * Self.hour)
        #expect(debt.nextStart(now: 6 * Self.hour) == nil)
    }

    /// systemd waited years for a date that a clock in the future had written.
    @Test func aClockThatWasAheadDelaysNothing() throws {
        var debt = ExpiryDebt()
        debt.take(.expired, now: 1_000 * Self.hour)
        let start = try #require(debt.nextStart(now: 5))
        #expect(start == 5 + 60_000_000_000)
    }

    @Test(
        arguments: [
            (.succeeded, nil, .succeeded), (.cancelledClean, .expired, .expired),
            (.cancelledClean, .quota, .expired), (.killed(.graceExceeded), .expired, .killed),
            (.killed(.graceExceeded), .quota, .killed), (.killed(.memory), .quota, .killed),
            (.killed(.cpu), nil, .killed), (.abandoned, .expired, .killed),
            (.killed(.graceExceeded), .user, nil), (.cancelledClean, .drain, nil),
            (.cancelledClean, .condition, nil), (.failed, .quota, nil), (.lost, nil, nil),
        ] as [(Outcome, StopReason?, ExpiryDebt.Event?)]
    )
    func `Who did not stop in time owes, and not whom somebody else stopped`(
        outcome: Outcome,
        reason: StopReason?,
        event: ExpiryDebt.Event?
    ) {
        #expect(ExpiryDebt.Event(outcome, reason) == event)
    }
}
