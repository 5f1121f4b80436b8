// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
package import BghostModel

/// The learned uses of a task.
package struct UseStatus: Codable, Equatable, Sendable {
    /// The identifier of the task.
    package var task: String
    /// The number of whole days that they were learned from.
    package var days: Int
    /// When usual uses start.
    @ElementsOrEmpty package var usual: [Usual]

    /// A time of day at which a use is usual.
    package struct Usual: Codable, Equatable, Sendable {
        /// Minutes after midnight in UTC.
        @Formatted<ClockMinute> var minute: Int
        /// The number of the days with this use.
        package var days: Int

        private enum CodingKeys: String, CodingKey {
            case minute = "from"
            case days
        }

        init(minute: Int, days: Int) {
            self.minute = minute
            self.days = days
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

/// A time of day in UTC, such as `07:30`; minutes after midnight in the daemon.
enum ClockMinute: FieldForm {
    static func json(_ value: Int) -> String { ClockTime.text(minute: value) }

    static func value(_ json: String) -> Int? { ClockTime.minute(text: json) }
}
