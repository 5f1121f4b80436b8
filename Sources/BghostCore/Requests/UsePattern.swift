// SPDX-License-Identifier: Apache-2.0

/// When people used what a task refreshes, by half hours of the last days.
///
/// What comes of it is plain arithmetic of these marks, so whoever sees them can tell what will be
/// decided. Half hours are counted in UTC: when clocks change, it takes some days to follow.
package struct UsePattern: Equatable, Codable, Sendable {
    /// How long a half hour is, nanoseconds.
    package static let halfHour: Int64 = 1_800_000_000_000
    /// How long before a usual use a run begins, nanoseconds.
    package static let lead = halfHour
    /// How many whole days count, of those before today.
    package static let daysMax: Int64 = 14
    /// How many days there must be before anything is usual.
    package static let daysMin = 3

    private static let halfHoursOfDay: Int64 = 48

    /// One day on which there was a use.
    private struct Day: Equatable, Codable, Sendable {
        /// Days since 1970.
        var number: Int64
        /// Bit n stands for the half hour that begins n half hours after midnight.
        var marks: UInt64
    }

    /// The oldest first, none twice.
    private var days: [Day] = []

    package init() {}

    package var isEmpty: Bool { days.isEmpty }

    /// Takes a use in.
    ///
    /// - Parameter now: Unix nanoseconds. What lies after it is of a clock that was wrong, and goes.
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

    /// What is usual, as far as it is known now.
    package func habit(now: Int64) -> Habit {
        let today = Self.floor(Self.floor(now, Self.halfHour), Self.halfHoursOfDay)
        let past = days.filter { $0.number < today && $0.number >= today - Self.daysMax }
        guard let first = past.first else { return Habit(days: 0, counts: []) }
        // A day without a use counts as well, once there has been one.
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

    /// One word for each day: its number and its marks.
    package var text: String {
        days.map { "\($0.number):\(String($0.marks, radix: 16))" }.joined(separator: " ")
    }

    /// Reads what `text` writes; `nil` if it is not that.
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
    /// The half hours of a day in which a use is to be expected.
    package struct Habit: Equatable, Sendable {
        /// How many whole days it was learned from.
        package let days: Int
        /// On how many of them each half hour was used; empty if there are none.
        let counts: [Int]

        /// Whether a half hour of the day is used on at least half of the days.
        private func isUsual(_ half: Int64) -> Bool {
            guard days >= UsePattern.daysMin, !counts.isEmpty else { return false }
            let count = counts[Int(half % Int64(counts.count))]
            return count * 2 >= days
        }

        /// Whether a usual use begins with a half hour that is counted from any midnight on.
        private func begins(_ half: Int64) -> Bool {
            isUsual(half) && !isUsual(half + UsePattern.halfHoursOfDay - 1)
        }

        /// When usual uses begin, minutes after midnight in UTC, and on how many of the days.
        package var beginnings: [(minute: Int, days: Int)] {
            (0..<UsePattern.halfHoursOfDay).filter(begins).map { (Int($0) * 30, counts[Int($0)]) }
        }

        /// The moment of a window at which to begin, so that it is done before the next usual use.
        ///
        /// - Parameters:
        ///   - earliest: the beginning of the window, Unix nanoseconds.
        ///   - tolerance: its length, nanoseconds.
        /// - Returns: `nil` if no usual use speaks for any of it.
        package func aim(notBefore earliest: Int64, tolerance: Int64) -> Int64? {
            guard tolerance > 0, earliest >= 0, !beginnings.isEmpty else { return nil }
            let half = earliest / UsePattern.halfHour
            // In the midst of one there is nothing to wait for.
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
