// SPDX-License-Identifier: Apache-2.0

@testable import BghostCalendar
import Testing

/// Plans with times that were served out of order, since the clock was ahead or they were withdrawn.
@Suite struct ServedTimesTests {
    private static let hour: Int64 = 3_600_000_000_000
    private let hourly: Recurrence

    init() throws {
        hourly = try Recurrence.calendar(CalendarExpression("@hourly"), zone: .utc)
    }

    /// Ranges of served hours.
    private static func served(_ ranges: ClosedRange<Int64>...) -> ServedTimes {
        ServedTimes(
            ranges.map {
                ServedTimes.Range(from: $0.lowerBound * hour, through: $0.upperBound * hour)
            }
        )
    }

    private func plan(
        last: Int64,
        now: Double,
        _ served: ServedTimes,
        policy: MisfirePlan.Policy = .once
    ) -> MisfirePlan {
        MisfirePlan(
            hourly,
            history: MisfirePlan.History(lastServedTime: last * Self.hour, editedAt: 0),
            now: Int64(now * Double(Self.hour)),
            rules: MisfirePlan.Rules(policy: policy),
            served: served
        )
    }

    @Test func `A time that comes after the clock was ahead is due`() {
        // The clock was at 48, and was set back to 10.
        let plan = plan(last: 10, now: 11.001, Self.served(1...10, 48...48))
        #expect(plan.times == [11 * Self.hour] && plan.missedCount == 0)
        #expect(plan.next == 12 * Self.hour)
    }

    @Test func `Served times are neither due nor missed`() {
        let served = Self.served(1...3, 5...6, 8...8)
        for policy in [MisfirePlan.Policy.once, .all(max: 9)] {
            let all = plan(last: 2, now: 9.5, served, policy: policy)
            let times: [Int64] = policy == .once ? [9] : [4, 7, 9]
            #expect(all.times == times.map { $0 * Self.hour })
            #expect(all.missedCount == 3 - times.count)
            #expect(all.missedFrom == (policy == .once ? 4 * Self.hour : nil))
        }
        let none = plan(last: 4, now: 6.5, served)
        #expect(none.times.isEmpty && none.missedCount == 0 && none.missedFrom == nil)
        #expect(none.next == 7 * Self.hour)
        // The last one was served before its time came.
        let older = plan(last: 6, now: 8.5, served)
        #expect(older.times == [7 * Self.hour] && older.missedCount == 0)
    }

    @Test func `Those of an interval move with it, and are forgotten when they are over`() throws {
        let interval = try Recurrence.every(Self.hour, anchor: 1)
        let calendar = Self.served(1...3, 5...6)
        var served = calendar
        served.insert(8 * Self.hour + 1, before: nil)
        #expect(served.times(of: interval).ranges.count == 1)
        #expect(served.times(of: hourly) == calendar)
        served.move(by: Self.hour, of: interval)
        #expect(served.contains(9 * Self.hour + 1) && !served.contains(8 * Self.hour + 1))
        #expect(served.times(of: hourly) == calendar)
        served.forget(through: 9 * Self.hour, of: interval)
        #expect(served.contains(9 * Self.hour + 1))
        served.forget(through: 9 * Self.hour + 1, of: interval)
        #expect(served == calendar)
    }

    @Test func `A range of many served times costs no more than one`() throws {
        let each = try Recurrence.calendar(CalendarExpression("* * * * * *"), zone: .utc)
        let year = 365 * 24 * Self.hour
        let served = ServedTimes([ServedTimes.Range(from: 2_000_000_000, through: year)])
        let plan = MisfirePlan(
            each,
            history: MisfirePlan.History(lastServedTime: 0, editedAt: nil),
            now: year,
            rules: MisfirePlan.Rules(policy: .once),
            served: served
        )
        #expect(plan.times == [1_000_000_000] && plan.missedCount == 0)
    }
}
