// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

/// A recurrence: its scheduled times, as Unix nanoseconds.
///
/// Times are strictly increasing, and each is identified by its instant. They are within the range of 64
/// bits, from 1677 to 2262. A search takes no memory, and the cost of counting depends on the months and not
/// on the times.
package struct Recurrence: Equatable, Sendable {
    private enum Kind: Equatable, Sendable {
        case calendar(CalendarSchedule)
        case every(interval: Int64, anchor: Int64)
        case once(Int64)
    }

    /// The minimum interval between two scheduled times, nanoseconds.
    let minInterval: Int64
    private let kind: Kind

    /// The occurrences of a calendar on the clock of a zone.
    ///
    /// `gap` and `fold` apply to entries with fixed hours. Entries whose hour is a star or has a step follow
    /// absolute time: they occur whenever the clock shows one of their times, even twice.
    package static func calendar(
        _ expression: CalendarExpression,
        zone: ZoneTable,
        gap: GapPolicy = .shift,
        fold: FoldPolicy = .first,
        minInterval: Int64 = 1_000_000_000
    ) throws(RecurrenceError) -> Recurrence {
        // The spacing is in whole seconds; the product does not overflow.
        if let spacing = expression.leastSpacing, spacing * 1_000_000_000 < minInterval {
            throw .tooOften(interval: spacing * 1_000_000_000, minInterval: minInterval)
        }
        let schedule = CalendarSchedule(expression: expression, zone: zone, gap: gap, fold: fold)
        return Recurrence(minInterval: minInterval, kind: .calendar(schedule))
    }

    /// A recurrence with a fixed interval, before and after its anchor.
    ///
    /// - Parameters:
    ///   - interval: nanoseconds.
    ///   - anchor: one of the times, Unix nanoseconds.
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

    /// A single time, Unix nanoseconds.
    package static func once(_ time: Int64) -> Recurrence {
        Recurrence(minInterval: .max, kind: .once(time))
    }

    /// The same recurrence with its interval moved by a time, nanoseconds; a calendar and a single time stay.
    package func moved(by step: Int64) -> Recurrence {
        guard case .every(let interval, let anchor) = kind else { return self }
        return Recurrence(
            minInterval: minInterval,
            kind: .every(interval: interval, anchor: anchor.addingClamped(step))
        )
    }

    /// The first time after an instant; `nil` if there is none within 64 bits.
    package func next(after instant: Int64) -> Int64? {
        switch kind {
        case .calendar(let schedule):
            return schedule.first(after: Self.second(of: instant)).map { $0 * 1_000_000_000 }
        case .every(let interval, let anchor):
            let step = Self.floorDivide(Int128(instant) - Int128(anchor), Int128(interval)) + 1
            return Int64(exactly: Int128(anchor) + step * Int128(interval))
        case .once(let time): return time > instant ? time : nil
        }
    }

    /// The last time at or before an instant.
    package func latest(atOrBefore instant: Int64) -> Int64? {
        switch kind {
        case .calendar(let schedule):
            return schedule.last(through: Self.second(of: instant)).map { $0 * 1_000_000_000 }
        case .every(let interval, let anchor):
            let step = Self.floorDivide(Int128(instant) - Int128(anchor), Int128(interval))
            return Int64(exactly: Int128(anchor) + step * Int128(interval))
        case .once(let time): return time <= instant ? time : nil
        }
    }

    /// The last time before an instant.
    package func last(before instant: Int64) -> Int64? {
        instant == Int64.min ? nil : latest(atOrBefore: instant - 1)
    }

    /// Whether an instant is one of the times.
    package func contains(_ instant: Int64) -> Bool { latest(atOrBefore: instant) == instant }

    /// The number of times after one instant up to another, inclusive; 0 if the instants are in the wrong
    /// order.
    package func count(after low: Int64, through high: Int64) -> Int {
        guard low < high else { return 0 }
        switch kind {
        case .calendar(let schedule):
            return schedule.count(after: Self.second(of: low), through: Self.second(of: high))
        case .every(let interval, let anchor):
            let first = Self.floorDivide(Int128(low) - Int128(anchor), Int128(interval))
            let last = Self.floorDivide(Int128(high) - Int128(anchor), Int128(interval))
            return Int(clamping: last - first)
        case .once(let time): return time > low && time <= high ? 1 : 0
        }
    }

    /// Whether a scheduled time replaces local times that the clock skipped.
    package func isShifted(_ time: Int64) -> Bool {
        guard case .calendar(let schedule) = kind else { return false }
        return time % 1_000_000_000 == 0 && schedule.isShifted(time / 1_000_000_000)
    }

    /// The second that contains an instant: times are whole seconds, so the first time after the second is
    /// also the first one after the instant.
    private static func second(of instant: Int64) -> Int64 {
        Timestamp.floorDivide(instant, 1_000_000_000)
    }

    private static func floorDivide(_ value: Int128, _ divisor: Int128) -> Int128 {
        let (quotient, remainder) = value.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}

/// The error for an invalid recurrence.
package enum RecurrenceError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The interval, in nanoseconds, is zero or less.
    case notPositive(Int64)
    /// Two times would be closer than the minimum interval; both are nanoseconds.
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
