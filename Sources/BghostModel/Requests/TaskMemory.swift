// SPDX-License-Identifier: Apache-2.0

package import BghostCalendar

/// The state of an identifier that the store keeps beyond its requests and runs.
package struct TaskMemory: Equatable, Codable, Sendable {
    package var identifier: String
    /// Its throttle points, which delay its next start.
    package var throttle: ThrottlePoints
    /// The last time of its schedule that was served, Unix nanoseconds.
    package var lastServedTime: Int64?
    /// The served times of its schedule that could occur again, for example after the clock is set
    /// back.
    package var served: ServedTimes
    /// The text of the schedule that is in force, to detect an edit.
    package var schedule: String
    /// The time since which this schedule is in force, Unix nanoseconds.
    package var scheduledSince: Int64?
    /// The time since which it has parked requests, Unix nanoseconds; `nil` if it has none.
    package var parkedSince: Int64?
    /// When people used the task's results, if learning is enabled for the task.
    package var uses: UsePattern

    /// The keys in recorded decisions; one has the former name of its property.
    private enum CodingKeys: String, CodingKey {
        case identifier, throttle
        case lastServedTime = "lastSlot"
        case served, schedule, scheduledSince, parkedSince, uses
    }

    package init(
        identifier: String,
        throttle: ThrottlePoints = ThrottlePoints(),
        lastServedTime: Int64? = nil,
        served: ServedTimes = ServedTimes(),
        schedule: String = "",
        scheduledSince: Int64? = nil,
        parkedSince: Int64? = nil,
        uses: UsePattern = UsePattern()
    ) {
        self.identifier = identifier
        self.throttle = throttle
        self.lastServedTime = lastServedTime
        self.served = served
        self.schedule = schedule
        self.scheduledSince = scheduledSince
        self.parkedSince = parkedSince
        self.uses = uses
    }

    /// Whether it contains nothing: a store then deletes its row.
    package var isEmpty: Bool {
        throttle.points == 0 && lastServedTime == nil && served.ranges.isEmpty && schedule.isEmpty
            && scheduledSince == nil && parkedSince == nil && uses.isEmpty
    }
}
