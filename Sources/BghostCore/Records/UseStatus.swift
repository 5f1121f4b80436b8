// SPDX-License-Identifier: Apache-2.0

/// What has been learned of when a task's results are used.
package struct UseStatus: Equatable, Sendable {
    package var task: String
    /// How many whole days it was learned from.
    package var days: Int
    /// When usual uses begin.
    package var usual: [Usual]

    package struct Usual: Equatable, Sendable {
        /// Minutes after midnight in UTC.
        package var minute: Int
        /// On how many of the days.
        package var days: Int

        package init(minute: Int, days: Int) {
            self.minute = minute
            self.days = days
        }

        /// Reads what `time` writes; on none of the days.
        package init?(time: String) {
            guard let minute = ClockTime.minute(text: time) else { return nil }
            self.init(minute: minute, days: 0)
        }

        /// `07:30`.
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

/// Times of a day for people.
enum ClockTime {
    /// - Parameter minute: after midnight.
    static func text(minute: Int) -> String {
        let (hour, rest) = minute.quotientAndRemainder(dividingBy: 60)
        return "\(hour < 10 ? "0" : "")\(hour):\(rest < 10 ? "0" : "")\(rest)"
    }

    /// Minutes after midnight; `nil` if that is no such text.
    static func minute(text: String) -> Int? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map { Int($0) }
        guard parts.count == 2, let hour = parts[0], let minute = parts[1],
            0..<24 ~= hour, 0..<60 ~= minute
        else { return nil }
        return hour * 60 + minute
    }
}
