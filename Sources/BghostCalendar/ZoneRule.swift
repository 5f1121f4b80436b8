// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

/// A zone's rule for the future, in the notation of POSIX TZ: `CET-1CEST,M3.5.0,M10.5.0/3`.
struct ZoneRule: Equatable {
    struct Daylight: Equatable {
        /// Seconds east of UTC.
        var offset: Int64
        var start: Point
        var end: Point
    }

    /// A day of each year, and a time on that day.
    struct Point: Equatable {
        enum Day: Equatable {
            /// A day from 1 on that never counts 29 February.
            case julian(Int64)
            /// A day from 0 on that counts 29 February.
            case ordinal(Int64)
            /// A weekday (Sunday is 0) in the first to fourth or the last (5) week of a month.
            case weekday(month: Int64, week: Int64, weekday: Int64)
        }

        var day: Day
        /// Seconds after the day's midnight, on the clock before the change; from -167 to 167 hours.
        var time: Int64

        /// The local time in seconds since 1970-01-01 00:00:00, on the clock before the change.
        func local(year: Int64) -> Int64 { number(year: year) * 86_400 + time }

        private func number(year: Int64) -> Int64 {
            switch day {
            case .julian(let day):
                let isLeap = Timestamp.daysOf(month: 2, year: year) == 29
                return Timestamp.day(year: year, month: 1, day: day) + (isLeap && day > 59 ? 1 : 0)
            case .ordinal(let day):
                return Timestamp.day(year: year, month: 1, day: 1) + day
            case .weekday(let month, let week, let weekday):
                let first = Timestamp.day(year: year, month: month, day: 1)
                // 1970-01-01 was a Thursday.
                let firstWeekday = (first + 4 + 700_000_000) % 7
                let day = (weekday - firstWeekday + 7) % 7 + (week - 1) * 7
                let length = Timestamp.daysOf(month: month, year: year)
                return first + (day < length ? day : day - 7)
            }
        }
    }

    /// Seconds east of UTC in standard time.
    var offset: Int64
    var daylight: Daylight?

    init?(_ bytes: [UInt8]) {
        var reader = ZoneRuleReader(bytes: bytes)
        guard reader.name(), let west = reader.time(hoursMax: 24) else { return nil }
        offset = -west
        guard !reader.isAtEnd else { return }
        guard reader.name() else { return nil }
        var summer = offset + 3600
        if !reader.consume(",") {
            guard let west = reader.time(hoursMax: 24), reader.consume(",") else { return nil }
            summer = -west
        }
        guard let start = reader.point(), reader.consume(","), let end = reader.point(),
            reader.isAtEnd
        else { return nil }
        daylight = Daylight(offset: summer, start: start, end: end)
    }

    /// All changes of the range, in order.
    func changes(_ daylight: Daylight) -> [ZoneTable.Segment] {
        var changes: [(segment: ZoneTable.Segment, toDaylight: Bool)] = []
        changes.reserveCapacity(1200)
        // Include one more year on each side, because a time may be a week away from its day.
        for year in Int64(1676)...2263 {
            let start = daylight.start.local(year: year) - offset
            let end = daylight.end.local(year: year) - daylight.offset
            changes.append((ZoneTable.Segment(start: start, offset: daylight.offset), true))
            changes.append((ZoneTable.Segment(start: end, offset: offset), false))
        }
        // Permanent daylight saving time is written as a rule that ends when it starts again.
        changes.sort {
            ($0.segment.start, $0.toDaylight ? 1 : 0) < ($1.segment.start, $1.toDaylight ? 1 : 0)
        }
        return changes.map(\.segment)
    }
}

/// Parses the parts of a rule.
private struct ZoneRuleReader {
    let bytes: [UInt8]
    private var index = 0

    init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    var isAtEnd: Bool { index == bytes.count }

    mutating func consume(_ character: Unicode.Scalar) -> Bool {
        guard index < bytes.count, Unicode.Scalar(bytes[index]) == character else { return false }
        index += 1
        return true
    }

    /// Skips the name of an offset, `CET` or `<+03>`.
    mutating func name() -> Bool {
        let isQuoted = consume("<")
        let start = index
        while index < bytes.count, isLetter(bytes[index]) || isQuoted && isSignOrDigit(bytes[index])
        {
            index += 1
        }
        return index - start >= 3 && (!isQuoted || consume(">"))
    }

    /// Parses hours with optional minutes and seconds; returns seconds.
    mutating func time(hoursMax: Int64) -> Int64? {
        let isNegative = consume("-")
        // The plus may be left out.
        if !isNegative { _ = consume("+") }
        guard let hours = number(), hours <= hoursMax else { return nil }
        var seconds = hours * 3600
        if consume(":") {
            guard let minutes = number(), minutes < 60 else { return nil }
            seconds += minutes * 60
            if consume(":") {
                guard let rest = number(), rest < 60 else { return nil }
                seconds += rest
            }
        }
        return isNegative ? -seconds : seconds
    }

    mutating func point() -> ZoneRule.Point? {
        guard let day = day() else { return nil }
        guard consume("/") else { return ZoneRule.Point(day: day, time: 2 * 3600) }
        guard let time = time(hoursMax: 167) else { return nil }
        return ZoneRule.Point(day: day, time: time)
    }

    private mutating func day() -> ZoneRule.Point.Day? {
        if consume("J") {
            guard let day = number(), (1...365).contains(day) else { return nil }
            return .julian(day)
        }
        guard consume("M") else {
            guard let day = number(), day <= 365 else { return nil }
            return .ordinal(day)
        }
        guard let month = number(), (1...12).contains(month), consume("."),
            let week = number(), (1...5).contains(week), consume("."),
            let weekday = number(), weekday <= 6
        else { return nil }
        return .weekday(month: month, week: week, weekday: weekday)
    }

    /// Parses up to three digits.
    private mutating func number() -> Int64? {
        let start = index
        var number: Int64 = 0
        while index < bytes.count, index - start < 3, isDigit(bytes[index]) {
            number = number * 10 + Int64(bytes[index] - UInt8(ascii: "0"))
            index += 1
        }
        return index > start ? number : nil
    }

    private func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    private func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }

    private func isSignOrDigit(_ byte: UInt8) -> Bool {
        isDigit(byte) || byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-")
    }
}
