// SPDX-License-Identifier: Apache-2.0

/// The learned uses of a task.
package struct UseStatus: Equatable, Sendable {
    package var task: String
    /// The number of whole days that they were learned from.
    package var days: Int
    /// When usual uses start.
    package var usual: [Usual]

    package struct Usual: Equatable, Sendable {
        /// Minutes after midnight in UTC.
        package var minute: Int
        /// The number of the days with this use.
        package var days: Int

        package init(minute: Int, days: Int) {
            self.minute = minute
            self.days = days
        }

        /// Parses the format of `time`; `days` is 0.
        package init?(time: String) {
            guard let minute = ClockTime.minute(text: time) else { return nil }
            self.init(minute: minute, days: 0)
        }

        /// The time of day, such as `07:30`.
        package var time: String { ClockTime.text(minute: minute) }
    }

    package init(task: String, days: Int = 0, usual: [Usual] = []) {
        self.task = task
        self.days = days
        self.usual = usual
    }

    package init(task: String, _ habit: UsePattern.Habit) {
        self.init(
            task: task,
            days: habit.days,
            usual: habit.beginnings.map { Usual(minute: $0.minute, days: $0.days) }
        )
    }
}

/// Converts times of day to text and back.
enum ClockTime {
    /// - Parameter minute: minutes after midnight.
    static func text(minute: Int) -> String {
        let (hour, rest) = minute.quotientAndRemainder(dividingBy: 60)
        return "\(hour < 10 ? "0" : "")\(hour):\(rest < 10 ? "0" : "")\(rest)"
    }

    /// Parses minutes after midnight; `nil` for any other text.
    static func minute(text: String) -> Int? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map { Int($0) }
        guard parts.count == 2, let hour = parts[0], let minute = parts[1],
            0..<24 ~= hour, 0..<60 ~= minute
        else { return nil }
        return hour * 60 + minute
    }
}
