// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

/// When people used a task's results, by half hours of the last days.
///
/// All decisions are plain arithmetic on these marks, so an operator who sees the marks can predict them. The
/// half hours are in UTC: after a change to or from daylight saving time, the pattern needs some days to
/// follow.
package struct UsePattern: Equatable, Codable, Sendable {
    /// The length of a half hour, nanoseconds.
    package static let halfHour: Int64 = 1_800_000_000_000
    /// How long before a usual use a run starts, nanoseconds.
    package static let lead = halfHour
    /// The number of whole days before today that count.
    package static let daysMax: Int64 = 14
    /// The minimum number of days before any use counts as usual.
    package static let daysMin = 3

    private static let halfHoursOfDay: Int64 = 48

    /// One day on which there was a use.
    private struct Day: Equatable, Codable, Sendable {
        /// Days since 1970.
        var number: Int64
        /// Bit n is the half hour that starts n half hours after midnight.
        var marks: UInt64
    }

    /// Oldest first, without duplicates.
    private var days: [Day] = []

    package init() {}

    package var isEmpty: Bool { days.isEmpty }

    /// The time for which a use counts at most, nanoseconds.
    package static let keptFor = (daysMax + 1) * halfHoursOfDay * halfHour

    /// When the last use no longer counts, Unix nanoseconds; `nil` if there is no use.
    package var end: Int64? {
        days.last.map { $0.number.multipliedClamped(by: Self.halfHoursOfDay * Self.halfHour) }
            .map { $0.addingClamped(Self.keptFor) }
    }

    /// Records a use.
    ///
    /// - Parameter now: Unix nanoseconds. Recorded days after this time were recorded while the clock was
    ///   wrong, and are removed.
    package mutating func add(now: Int64) {
        let half = Self.floor(now, Self.halfHour)
        let today = Self.floor(half, Self.halfHoursOfDay)
        let mark = UInt64(1) << UInt64(half - today * Self.halfHoursOfDay)
        days.removeAll { $0.number > today || $0.number < today - Self.daysMax }
        if days.last?.number == today {
            days[days.count - 1].marks |= mark
        } else {
            days.append(Day(number: today, marks: mark))
        }
    }

    /// The habit that was learned until a time, Unix nanoseconds.
    package func habit(now: Int64) -> Habit {
        let today = Self.floor(Self.floor(now, Self.halfHour), Self.halfHoursOfDay)
        let past = days.filter { $0.number < today && $0.number >= today - Self.daysMax }
        guard let first = past.first else { return Habit(days: 0, counts: []) }
        // After the first use, a day without a use counts as well.
        let counts = (0..<Self.halfHoursOfDay).map { half in
            past.count { $0.marks & UInt64(1) << UInt64(half) != 0 }
        }
        return Habit(days: Int(today - first.number), counts: counts)
    }

    private static func floor(_ value: Int64, _ unit: Int64) -> Int64 {
        let quotient = value / unit
        return value % unit < 0 ? quotient - 1 : quotient
    }

    // MARK: Text

    /// The stored text: for each day its number and its marks.
    package var text: String {
        days.map { "\($0.number):\(String($0.marks, radix: 16))" }.joined(separator: " ")
    }

    /// Parses the format of `text`; `nil` if it does not match.
    package init?(text: String) {
        guard !text.isEmpty else { return }
        for word in text.split(separator: " ", omittingEmptySubsequences: false) {
            let parts = word.split(separator: ":", omittingEmptySubsequences: false)
            guard parts.count == 2, let number = Int64(parts[0]),
                let marks = UInt64(parts[1], radix: 16), marks > 0,
                marks >> UInt64(Self.halfHoursOfDay) == 0, days.last?.number ?? .min < number
            else { return nil }
            days.append(Day(number: number, marks: marks))
        }
    }
}

extension UsePattern {
    /// The half hours of a day in which a use is expected.
    package struct Habit: Equatable, Sendable {
        /// The number of whole days that the habit was learned from.
        package let days: Int
        /// The number of those days on which each half hour was used; empty if there are no days.
        package let counts: [Int]

        /// Whether a half hour of the day was used on at least half of the days.
        private func isUsual(_ half: Int64) -> Bool {
            guard days >= UsePattern.daysMin, !counts.isEmpty else { return false }
            let count = counts[Int(half % Int64(counts.count))]
            return count * 2 >= days
        }

        /// Whether a usual use starts with this half hour, counted from midnight of any day.
        private func begins(_ half: Int64) -> Bool {
            isUsual(half) && !isUsual(half + UsePattern.halfHoursOfDay - 1)
        }

        /// When usual uses start, minutes after midnight in UTC, and on how many of the days.
        package var beginnings: [(minute: Int, days: Int)] {
            (0..<UsePattern.halfHoursOfDay).filter(begins).map { (Int($0) * 30, counts[Int($0)]) }
        }

        /// The time in a window at which a run should start, so that it finishes before the next usual use.
        ///
        /// - Parameters:
        ///   - earliest: the start of the window, Unix nanoseconds.
        ///   - tolerance: the length of the window, nanoseconds.
        /// - Returns: `nil` if no usual use suggests a time within the window.
        package func start(notBefore earliest: Int64, tolerance: Int64) -> Int64? {
            guard tolerance > 0, earliest >= 0, !beginnings.isEmpty else { return nil }
            let half = earliest / UsePattern.halfHour
            // Results are already in use, so start at once.
            if isUsual(half) { return earliest }
            let latest = earliest.addingClamped(tolerance)
            for half in (half + 1)...(half + UsePattern.halfHoursOfDay) where begins(half) {
                let moment = max(earliest, half * UsePattern.halfHour - UsePattern.lead)
                return moment <= latest ? moment : nil
            }
            return nil
        }
    }
}
