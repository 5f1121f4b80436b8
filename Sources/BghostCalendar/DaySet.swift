// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

/// The days of a calendar, as a set of bits for each month.
struct DaySet: Equatable, Sendable {
    /// Bits 1 to 12.
    var months: UInt64 = 0x1FFE
    /// Bits 1 to 31.
    var days: UInt64 = 0
    /// `L`.
    var hasLastDay = false
    /// `LW`, the last day from Monday to Friday.
    var hasLastWorkday = false
    /// `15W`, the day from Monday to Friday nearest to the 15th in the same month.
    ///
    /// Bits 1 to 31.
    var nearestWorkdays: UInt64 = 0
    /// Bits 0 (Sunday) to 6.
    var weekdays: UInt64 = 0
    /// `2#3`, the third Tuesday: bit 7 × 2 + 2.
    var numberedWeekdays: UInt64 = 0
    /// `5L`, the last Friday.
    ///
    /// Bits 0 to 6.
    var lastWeekdays: UInt64 = 0
    /// Whether the day of the month is a star; then only the day of the week counts.
    var anyDay = false
    var anyWeekday = false

    /// The days of a month, bits 1 to 31.
    func days(of month: Month) -> UInt64 {
        guard months.holds(month.month) else { return 0 }
        let existing = (UInt64(1) &<< UInt64(month.length + 1)) &- 2
        let byDay = daysByNumber(month)
        let byWeekday = daysByWeekday(month)
        // POSIX: if both fields are restricted, a day must match one of them.
        let both = anyDay || anyWeekday ? byDay & byWeekday : byDay | byWeekday
        return both & existing
    }

    private func daysByNumber(_ month: Month) -> UInt64 {
        var result = days
        if hasLastDay { result |= 1 &<< UInt64(month.length) }
        if hasLastWorkday { result |= 1 &<< UInt64(month.workday(near: month.length)) }
        var rest = nearestWorkdays
        while rest != 0 {
            let day = rest.lowest
            if day <= month.length { result |= 1 &<< UInt64(month.workday(near: day)) }
            rest &= rest &- 1
        }
        return result
    }

    private func daysByWeekday(_ month: Month) -> UInt64 {
        var result = Self.everyWeek(of: weekdays, from: month.firstWeekday) &<< 1
        if numberedWeekdays != 0 {
            for week in UInt64(0)..<5 {
                let set = (numberedWeekdays &>> (7 * week)) & 0x7F
                let days = Self.rotated(set, from: month.firstWeekday)
                result |= days &<< (7 * week + 1)
            }
        }
        if lastWeekdays != 0 {
            let lastDays = UInt64(0x7F) &<< UInt64(month.length - 6)
            result |=
                (Self.everyWeek(of: lastWeekdays, from: month.firstWeekday) &<< 1) & lastDays
        }
        return result
    }

    /// A set of weekdays with the weekday of the first day of the month as bit 0.
    private static func rotated(_ set: UInt64, from first: Int64) -> UInt64 {
        ((set &>> UInt64(first)) | (set &<< UInt64(7 - first))) & 0x7F
    }

    private static func everyWeek(of set: UInt64, from first: Int64) -> UInt64 {
        // The factor has a bit for the first day of each of five weeks.
        rotated(set, from: first) &* 0x1020_4081
    }
}

/// One month of one year.
struct Month {
    private(set) var year: Int64
    private(set) var month: Int64
    /// The number of the day before the first one, counted from 1970-01-01; add the day of the month.
    private(set) var base: Int64
    private(set) var length: Int64

    /// The month that contains a day, counted from 1970-01-01.
    init(of day: Int64) {
        let date = Timestamp.date(ofDay: day)
        year = date.year
        month = date.month
        base = day - date.day
        length = Timestamp.daysOf(month: month, year: year)
    }

    /// The weekday of the first day; Sunday is 0.
    var firstWeekday: Int64 {
        // 1970-01-01 was a Thursday. The addend keeps the sum positive: 7 × 10⁸ days are longer than all
        // years here.
        (base + 5 + 700_000_000) % 7
    }

    mutating func advance() {
        base += length
        (year, month) = month == 12 ? (year + 1, 1) : (year, month + 1)
        length = Timestamp.daysOf(month: month, year: year)
    }

    mutating func retreat() {
        (year, month) = month == 1 ? (year - 1, 12) : (year, month - 1)
        length = Timestamp.daysOf(month: month, year: year)
        base -= length
    }

    /// The day from Monday to Friday that is nearest to a day, within the month.
    func workday(near day: Int64) -> Int64 {
        switch (firstWeekday + day - 1) % 7 {
        case 6: day == 1 ? 3 : day - 1
        case 0: day == length ? day - 2 : day + 1
        default: day
        }
    }
}
