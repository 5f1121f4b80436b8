// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

/// The local times of a calendar in cron's notation.
///
/// It does not depend on a zone. Local times are seconds since 1970-01-01 00:00:00 on the same clock, as if
/// they were UTC. Each search takes at most a few hundred nanoseconds per year, and no memory.
package struct CalendarExpression: Equatable, Sendable {
    /// The text as written.
    package let text: String
    /// Whether the hour is a star or has a step.
    ///
    /// Such an entry means an interval of hours, not a time of day, so it follows absolute time when clocks
    /// are put forward or back.
    let hasWildcardHour: Bool
    /// The shortest time between two local times, seconds; `nil` if no two of them are on the same or
    /// successive days, such as for 29 February.
    ///
    /// It considers only times within one day and across one midnight: all other distances are longer than a
    /// day.
    let leastSpacing: Int64?
    let days: DaySet
    let times: TimeOfDaySet

    init(
        text: String,
        days: DaySet,
        times: TimeOfDaySet,
        hasWildcardHour: Bool
    ) throws(CalendarError) {
        self.text = text
        self.days = days
        self.times = times
        self.hasWildcardHour = hasWildcardHour
        guard let daysFollow = Self.hasDaysInSuccession(days) else {
            throw CalendarError.neverComes(text)
        }
        leastSpacing = times.leastSpacing(daysFollow: daysFollow)
    }

    /// The first local time in a range.
    func first(from low: Int64, before high: Int64) -> Int64? {
        guard low < high else { return nil }
        let day = Timestamp.floorDivide(low, 86_400)
        var month = Month(of: day)
        var rest = days.days(of: month).from(day - month.base)
        if rest.holds(day - month.base) {
            if let time = times.first(from: low - day * 86_400) {
                return below(high, day * 86_400 + time)
            }
            rest &= rest &- 1
        }
        while rest == 0 {
            month.advance()
            guard (month.base + 1) * 86_400 < high else { return nil }
            rest = days.days(of: month)
        }
        return below(high, (month.base + rest.lowest) * 86_400 + times.first)
    }

    /// The last local time in a range.
    func last(from low: Int64, before high: Int64) -> Int64? {
        guard low < high else { return nil }
        let day = Timestamp.floorDivide(high - 1, 86_400)
        var month = Month(of: day)
        var rest = days.days(of: month).below(day - month.base + 1)
        if rest.holds(day - month.base) {
            if let time = times.last(through: high - 1 - day * 86_400) {
                return notBelow(low, day * 86_400 + time)
            }
            rest = rest.below(day - month.base)
        }
        while rest == 0 {
            guard (month.base + 1) * 86_400 > low else { return nil }
            month.retreat()
            rest = days.days(of: month)
        }
        return notBelow(low, (month.base + rest.highest) * 86_400 + times.last)
    }

    /// The number of local times in a range; the cost depends on the number of months.
    func count(from low: Int64, before high: Int64) -> Int {
        guard low < high else { return 0 }
        return count(before: high, since: low) - countOfDay(before: low)
    }

    /// The number of local times from the midnight before `low`.
    private func count(before high: Int64, since low: Int64) -> Int {
        let first = Timestamp.floorDivide(low, 86_400)
        let last = Timestamp.floorDivide(high, 86_400)
        var month = Month(of: first)
        var days = 0
        while true {
            var set = self.days.days(of: month)
            if first > month.base { set = set.from(first - month.base) }
            guard month.base + month.length < last else {
                days += set.below(last - month.base).nonzeroBitCount
                break
            }
            days += set.nonzeroBitCount
            month.advance()
        }
        return days * times.perDay + countOfDay(before: high)
    }

    /// The number of local times on the same day before a local time.
    private func countOfDay(before local: Int64) -> Int {
        let day = Timestamp.floorDivide(local, 86_400)
        let month = Month(of: day)
        guard days.days(of: month).holds(day - month.base) else { return 0 }
        return times.count(before: local - day * 86_400)
    }

    private func below(_ high: Int64, _ local: Int64) -> Int64? { local < high ? local : nil }

    private func notBelow(_ low: Int64, _ local: Int64) -> Int64? { local >= low ? local : nil }

    /// Whether the calendar ever has two successive days; `nil` if it has no day at all.
    ///
    /// The 28 years from 2000 contain each kind of year, leap or not, with each first weekday, and each
    /// sequence of two kinds.
    private static func hasDaysInSuccession(_ days: DaySet) -> Bool? {
        var month = Month(of: Timestamp.day(year: 2000, month: 1, day: 1))
        var comes = false
        var endedWithDay = false
        while month.year < 2028 {
            let set = days.days(of: month)
            comes = comes || set != 0
            if set & (set &>> 1) != 0 || endedWithDay && set.holds(1) { return true }
            endedWithDay = set.holds(month.length)
            month.advance()
        }
        return comes ? false : nil
    }
}
