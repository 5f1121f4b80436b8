// SPDX-License-Identifier: Apache-2.0

/// When something comes again and again: its slots, as Unix nanoseconds.
///
/// Slots are strictly increasing, and each is named by its instant. They reach as far as 64 bits do,
/// from 1677 to 2262; beyond there are none. Looking for one takes no memory, and counting takes
/// time for the months that pass, not for the slots.
package struct Recurrence: Equatable, Sendable {
    private enum Kind: Equatable, Sendable {
        case calendar(CalendarSchedule)
        case every(interval: Int64, anchor: Int64)
    }

    /// The least time between two slots that was asked for, in nanoseconds.
    package let minInterval: Int64
    private let kind: Kind

    /// Each time that a calendar comes on the clock of a zone.
    ///
    /// `gap` and `fold` are for entries with fixed hours. Those whose hour is a star or has a step run
    /// on absolute time: whenever the clock shows one of their times, be it twice, and else not.
    package static func calendar(
        _ expression: CalendarExpression,
        zone: ZoneTable,
        gap: GapPolicy = .shift,
        fold: FoldPolicy = .first,
        minInterval: Int64 = 1_000_000_000
    ) throws(RecurrenceError) -> Recurrence {
        // Whole seconds: a calendar of each second has 1 s, which no product here overflows.
        if let spacing = expression.leastSpacing, spacing * 1_000_000_000 < minInterval {
            throw .tooOften(interval: spacing * 1_000_000_000, minInterval: minInterval)
        }
        let schedule = CalendarSchedule(expression: expression, zone: zone, gap: gap, fold: fold)
        return Recurrence(minInterval: minInterval, kind: .calendar(schedule))
    }

    /// Each `interval` nanoseconds, before the anchor as well as after it: the anchor, Unix
    /// nanoseconds, is one of the slots.
    package static func every(
        _ interval: Int64,
        anchor: Int64,
        minInterval: Int64 = 1_000_000_000
    ) throws(RecurrenceError) -> Recurrence {
        guard interval > 0 else { throw .notPositive(interval) }
        guard interval >= minInterval else {
            throw .tooOften(interval: interval, minInterval: minInterval)
        }
        return Recurrence(
            minInterval: minInterval,
            kind: .every(interval: interval, anchor: anchor)
        )
    }

    /// The first slot after an instant; `nil` if there is none that 64 bits can say.
    package func next(after instant: Int64) -> Int64? {
        switch kind {
        case .calendar(let schedule):
            return schedule.first(after: Self.second(of: instant)).map { $0 * 1_000_000_000 }
        case .every(let interval, let anchor):
            let step = Self.floorDivide(Int128(instant) - Int128(anchor), Int128(interval)) + 1
            return Int64(exactly: Int128(anchor) + step * Int128(interval))
        }
    }

    /// The last slot that is not after an instant.
    package func latest(atOrBefore instant: Int64) -> Int64? {
        switch kind {
        case .calendar(let schedule):
            return schedule.last(through: Self.second(of: instant)).map { $0 * 1_000_000_000 }
        case .every(let interval, let anchor):
            let step = Self.floorDivide(Int128(instant) - Int128(anchor), Int128(interval))
            return Int64(exactly: Int128(anchor) + step * Int128(interval))
        }
    }

    /// The last slot before an instant.
    package func last(before instant: Int64) -> Int64? {
        instant == Int64.min ? nil : latest(atOrBefore: instant - 1)
    }

    /// How many slots come after one instant and not after another; 0 if they are the wrong way
    /// round.
    package func count(after low: Int64, through high: Int64) -> Int {
        guard low < high else { return 0 }
        switch kind {
        case .calendar(let schedule):
            return schedule.count(after: Self.second(of: low), through: Self.second(of: high))
        case .every(let interval, let anchor):
            let first = Self.floorDivide(Int128(low) - Int128(anchor), Int128(interval))
            let last = Self.floorDivide(Int128(high) - Int128(anchor), Int128(interval))
            return Int(clamping: last - first)
        }
    }

    /// Whether a slot follows another one too soon.
    ///
    /// The pattern itself is checked when the recurrence is made. What remains is a change of the
    /// clock that brings two slots together, and a fault of this program: stop a schedule for which
    /// this holds again and again.
    package func floods(_ slot: Int64, after previous: Int64) -> Bool {
        let (distance, overflow) = slot.subtractingReportingOverflow(previous)
        return slot <= previous || !overflow && distance < minInterval
    }

    /// Whether a slot stands for local times over which the clock was put forward.
    package func isShifted(_ slot: Int64) -> Bool {
        guard case .calendar(let schedule) = kind else { return false }
        return slot % 1_000_000_000 == 0 && schedule.isShifted(slot / 1_000_000_000)
    }

    /// The second that an instant lies in: slots are whole seconds, so the first one after the
    /// instant is the first one after it, too.
    private static func second(of instant: Int64) -> Int64 {
        Timestamp.floorDivide(instant, 1_000_000_000)
    }

    private static func floorDivide(_ value: Int128, _ divisor: Int128) -> Int128 {
        let (quotient, remainder) = value.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}

/// Why there is no such recurrence.
package enum RecurrenceError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The interval, in nanoseconds, is zero or less.
    case notPositive(Int64)
    /// Two slots would be less than the least interval apart; both in nanoseconds.
    case tooOften(interval: Int64, minInterval: Int64)

    package var description: String {
        switch self {
        case .notPositive(let interval):
            "an interval of \(interval) ns; it must be more than nothing"
        case .tooOften(let interval, let minInterval):
            "it comes every \(interval) ns at its most frequent, and at least \(minInterval) ns "
                + "must lie between; make it rarer or lower the least interval"
        }
    }
}
