// SPDX-License-Identifier: Apache-2.0

import BghostBase
@testable import BghostCalendar
import BghostTestSupport
import Glibc
import Testing

@Suite(.ownThreads) struct RecurrenceTests {
    /// What comes on a day in Berlin on which the clock is put forward from 2 to 3, and on one on
    /// which it is put back from 3 to 2.
    @Test(arguments: [
        // Fixed hours.
        DayCase("30 2 * * *", .shift, .first, .gap, ["01:00"]),
        DayCase("30 2 * * *", .skip, .first, .gap, []),
        DayCase("0,30 2 * * *", .shift, .first, .gap, ["01:00"]),
        DayCase("0 2,3 * * *", .shift, .first, .gap, ["01:00"]),
        DayCase("0 2,3 * * *", .skip, .first, .gap, ["01:00"]),
        DayCase("30 1-3 * * *", .shift, .first, .gap, ["00:30", "01:00", "01:30"]),
        DayCase("30 1-3 * * *", .skip, .first, .gap, ["00:30", "01:30"]),
        DayCase("0 3 * * *", .skip, .first, .gap, ["01:00"]),
        DayCase("59 59 1,2 * * *", .shift, .first, .gap, ["00:59:59", "01:00"]),
        DayCase("30 2 * * *", .shift, .first, .fold, ["00:30"]),
        DayCase("30 2 * * *", .shift, .second, .fold, ["01:30"]),
        DayCase("30 2 * * *", .shift, .both, .fold, ["00:30", "01:30"]),
        DayCase("0 2,3 * * *", .skip, .first, .fold, ["00:00", "02:00"]),
        DayCase("0 2,3 * * *", .skip, .second, .fold, ["01:00", "02:00"]),
        DayCase("0 2,3 * * *", .skip, .both, .fold, ["00:00", "01:00", "02:00"]),
        DayCase("30 1-3 * * *", .skip, .first, .fold, ["23:30", "00:30", "02:30"]),
        DayCase("30 1-3 * * *", .skip, .second, .fold, ["23:30", "01:30", "02:30"]),
        // Absolute time: the policies do not matter.
        DayCase("30 */3 * * *", .shift, .both, .gap, ["23:30", "01:30", "04:30"], until: 5),
        DayCase("0 */2 * * *", .shift, .first, .gap, ["23:00", "02:00", "04:00"], until: 5),
        DayCase("0 * * * *", .shift, .first, .fold, ["22:00", "23:00", "00:00", "01:00", "02:00"]),
        DayCase("0 * * * *", .skip, .second, .gap, ["23:00", "00:00", "01:00", "02:00"]),
        DayCase("30 0-23/2 * * *", .skip, .first, .fold, ["22:30", "00:30", "01:30"]),
    ])
    fileprivate func `Skipped and repeated hours are obeyed`(day: DayCase) throws {
        let recurrence = try Recurrence.calendar(
            CalendarExpression(day.text),
            zone: ZoneFixture.berlin(),
            gap: day.gap,
            fold: day.fold
        )
        // From local midnight.
        let start = try seconds(day.day == .gap ? "2026-03-28T23:00:00Z" : "2026-10-24T22:00:00Z")
        let end = try seconds(day.day == .gap ? "2026-03-29T00:00:00Z" : "2026-10-25T00:00:00Z")
        let high = (end + day.until * 3600) * 1_000_000_000 - 1
        let times = recurrence.times(after: start * 1_000_000_000 - 1, through: high)
        let texts = times.map { time -> String in
            let time = Timestamp.text(unixNanoseconds: time).split(separator: "T")[1].prefix(8)
            return String(time.hasSuffix(":00") ? time.prefix(5) : time)
        }
        #expect(texts == day.expected)
        #expect(recurrence.count(after: start * 1_000_000_000 - 1, through: high) == times.count)
    }

    @Test func `Makes up for a whole day that was left out`() throws {
        // Samoa went over the date line and had no 30 December 2011.
        let change = try seconds("2011-12-30T10:00:00Z")
        let zone = try ZoneTable(
            name: "Samoa",
            tzif: ZoneFixture(changes: [(change, 1)], offsets: [-36_000, 50_400]).bytes
        )
        let noon = try CalendarExpression("0 12 * * *")
        let from = (change - 86_400) * 1_000_000_000
        let shift = try Recurrence.calendar(noon, zone: zone)
        #expect(
            shift.times(after: from, through: from + 2 * 86_400_000_000_000) == [
                (change - 43_200) * 1_000_000_000, change * 1_000_000_000,
                (change + 43_200) * 1_000_000_000,
            ]
        )
        #expect(shift.isShifted(change * 1_000_000_000))
        #expect(!shift.isShifted((change + 43_200) * 1_000_000_000))
        let skip = try Recurrence.calendar(noon, zone: zone, gap: .skip)
        #expect(skip.count(after: from, through: from + 2 * 86_400_000_000_000) == 2)
    }

    // MARK: - Intervals

    @Test(arguments: [
        (Int64(10), Int64(3), Int64(0), Int64(3), Int64(-7)), (10, 3, 3, 13, 3),
        (10, 3, 12, 13, 3), (10, 3, -8, -7, -17), (1, 0, 5, 6, 5), (10, -3, 0, 7, -3),
    ])
    func `Comes every so often`(
        interval: Int64,
        anchor: Int64,
        at: Int64,
        next: Int64,
        latest: Int64
    ) throws {
        let every = try Recurrence.every(interval, anchor: anchor, minInterval: 1)
        #expect(every.next(after: at) == next)
        #expect(every.latest(atOrBefore: at) == latest)
        #expect(every.last(before: next) == latest)
        #expect(every.count(after: at, through: at + 10 * interval) == 10)
    }

    @Test func `Recurrences that flood are refused`() throws {
        let tooOften = RecurrenceError.tooOften(interval: 999_999_999, minInterval: 1_000_000_000)
        #expect(throws: tooOften) { try Recurrence.every(999_999_999, anchor: 0) }
        #expect(throws: RecurrenceError.notPositive(0)) { try Recurrence.every(0, anchor: 0) }
        #expect(throws: RecurrenceError.notPositive(.min)) {
            try Recurrence.every(.min, anchor: 0, minInterval: .min)
        }
        let minute: Int64 = 60_000_000_000
        let often = try CalendarExpression("*/30 * * * * *")
        #expect(throws: RecurrenceError.tooOften(interval: minute / 2, minInterval: minute)) {
            try Recurrence.calendar(often, zone: .utc, minInterval: minute)
        }
    }

    // MARK: - The ends of time

    @Test(arguments: ["* * * * * *", "30 2 * * *", "0 0 29 2 *", "0 0 L * 5L"])
    func `Ends where nanoseconds do`(text: String) throws {
        for zone in [ZoneTable.utc, try ZoneFixture.berlin(), try ZoneFixture.zone("WAY14")] {
            let recurrence = try Recurrence.calendar(CalendarExpression(text), zone: zone)
            let first = try #require(recurrence.next(after: .min))
            let last = try #require(recurrence.latest(atOrBefore: .max))
            #expect(recurrence.last(before: first) == nil)
            #expect(recurrence.latest(atOrBefore: first) == first)
            #expect(recurrence.latest(atOrBefore: .min) == nil)
            #expect(recurrence.last(before: .min) == nil)
            #expect(recurrence.next(after: last) == nil)
            #expect(recurrence.next(after: .max) == nil)
            #expect(recurrence.next(after: last - 1) == last)
            #expect(recurrence.count(after: .min, through: .max) > 100)
            #expect(recurrence.count(after: first, through: first) == 0)
            #expect(recurrence.count(after: .max, through: .min) == 0)
        }
        let all = try Recurrence.calendar(CalendarExpression("* * * * * *"), zone: .utc)
        #expect(all.count(after: .min, through: .max) == 2 * 9_223_372_036 + 1)
    }

    @Test(arguments: [Int64.min, -1, 0, Int64.max])
    func `Ends where nanoseconds do every`(anchor: Int64) throws {
        for interval in [1, 7, 1_000_000_000, Int64.max] {
            let every = try Recurrence.every(interval, anchor: anchor, minInterval: 1)
            let last = try #require(every.latest(atOrBefore: .max))
            #expect(every.next(after: .max) == nil)
            #expect(every.next(after: last) == nil)
            #expect(every.next(after: last - 1) == last)
            #expect(every.latest(atOrBefore: anchor) == anchor)
            #expect(every.last(before: .min) == nil)
            #expect(every.count(after: .min, through: .max) > 0)
        }
    }

    // MARK: - Any schedule in any zone

    /// Forward, backward and counting agree, slots come in order and each once, and a slot is
    /// where the clock shows it.
    @Test(arguments: SeededGenerator.seeds(12))
    func `Agrees with itself`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let rules = [
            "UTC0", "CET-1CEST,M3.5.0,M10.5.0/3", "AEST-10AEDT,M10.1.0,M4.1.0/3",
            "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", "<-02>2<-01>,M3.5.0/-1,M10.5.0/0",
            // The clock is put forward and back by 20 hours, a day apart.
            "AAA0BBB-20,100/0,101/23",
        ]
        for _ in 0..<12 {
            let text = Self.anyExpression(&generator)
            guard let expression = try? CalendarExpression(text) else { continue }
            let recurrence = try Recurrence.calendar(
                expression,
                zone: ZoneFixture.zone(rules.randomElement(using: &generator) ?? "UTC0"),
                gap: GapPolicy.allCases.randomElement(using: &generator) ?? .shift,
                fold: FoldPolicy.allCases.randomElement(using: &generator) ?? .first
            )
            let start = Int64.random(in: -4_000_000_000...4_000_000_000, using: &generator)
            let low = start * 1_000_000_000
            var at = low
            for count in 1...60 {
                guard let time = recurrence.next(after: at) else { break }
                #expect(time > at, "\(text)")
                #expect(recurrence.latest(atOrBefore: time) == time, "\(text)")
                #expect(recurrence.next(after: time - 1) == time, "\(text)")
                #expect(count == 1 || recurrence.last(before: time) == at, "\(text)")
                #expect(recurrence.count(after: low, through: time) == count, "\(text)")
                #expect(recurrence.count(after: low, through: time - 1) == count - 1, "\(text)")
                at = time
            }
        }
    }

    private static func anyExpression(_ generator: inout SeededGenerator) -> String {
        func any(_ choices: [String]) -> String { choices.randomElement(using: &generator) ?? "*" }
        let minute = any(["*", "0", "30", "*/7", "5,59", "0-3"])
        let hour = any(["*", "2", "0", "1-3", "*/5", "0,2,23", "22-23"])
        let day = any(["*", "*", "1", "L", "31", "15W", "LW", "1-7", "*/9", "29"])
        let month = any(["*", "*", "2", "3,10", "*/5", "12"])
        let weekday = any(["*", "*", "0", "mon-fri", "5#5", "6L", "?", "2#1,3"])
        return any(["", "", "*/25 ", "59 "]) + "\(minute) \(hour) \(day) \(month) \(weekday)"
    }

    // MARK: - Speed

    /// In a build for release it takes some 0.03 s; the bound is for one without optimization.
    @Test func `Enumerates a year of a thousand schedules`() throws {
        let zone = try ZoneFixture.berlin()
        let start = try seconds("2026-01-01T00:00:00Z") * 1_000_000_000
        let end = try seconds("2027-01-01T00:00:00Z") * 1_000_000_000
        let began = Self.usedSeconds
        var times = 0
        for schedule in 0..<1000 {
            let expression = try CalendarExpression("\(schedule % 60) \(schedule / 60) * * *")
            let recurrence = try Recurrence.calendar(expression, zone: zone)
            var at = start - 1
            while let time = recurrence.next(after: at), time < end {
                times += 1
                at = time
            }
        }
        #expect(times == 365_000)
        #expect(Self.usedSeconds - began < 30)
    }

    /// Processor time of this thread: other tests and processes do not count.
    private static var usedSeconds: Int {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return time.tv_sec
    }
}

private struct DayCase: CustomTestStringConvertible, Sendable {
    enum Day { case gap, fold }

    var text: String
    var gap: GapPolicy
    var fold: FoldPolicy
    var day: Day
    /// In UTC.
    var expected: [String]
    /// The hour of UTC at which to stop.
    var until: Int64

    init(
        _ text: String,
        _ gap: GapPolicy,
        _ fold: FoldPolicy,
        _ day: Day,
        _ expected: [String],
        until: Int64 = 3
    ) {
        (self.text, self.gap, self.fold, self.day) = (text, gap, fold, day)
        (self.expected, self.until) = (expected, until)
    }

    var testDescription: String { "\(text) \(gap) \(fold) \(day)" }
}

extension Recurrence {
    /// All slots after one instant and not after another.
    func times(after low: Int64, through high: Int64) -> [Int64] {
        var times: [Int64] = []
        var at = low
        while let time = next(after: at), time <= high {
            times.append(time)
            at = time
        }
        return times
    }
}
