// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
package import BghostPolicy

/// The learned uses of a task.
package struct UseStatus: Equatable, Sendable {
    package var task: String
    /// The number of whole days that they were learned from.
    package var days: Int
    /// When usual uses start.
    package var usual: [Usual]

    package struct Usual: Equatable, Sendable {
        /// Minutes after midnight in UTC.
        var minute: Int
        /// The number of the days with this use.
        package var days: Int

        init(minute: Int, days: Int) {
            self.minute = minute
            self.days = days
        }

        /// Parses the format of `time`; `days` is 0.
        init?(time: String) {
            guard let minute = ClockTime.minute(text: time) else { return nil }
            self.init(minute: minute, days: 0)
        }

        /// The time of day, such as `07:30`.
        package var time: String { ClockTime.text(minute: minute) }
    }

    init(task: String, days: Int = 0, usual: [Usual] = []) {
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
