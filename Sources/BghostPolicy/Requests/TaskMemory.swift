// SPDX-License-Identifier: Apache-2.0

package import BghostCalendar

/// The state of an identifier that the store keeps beyond its requests and runs.
package struct TaskMemory: Equatable, Codable, Sendable {
    package var identifier: String
    /// Its throttle points, which delay its next start.
    package var throttle: ThrottlePoints
    /// The last time of its schedule that was served, Unix nanoseconds.
    package var lastSlot: Int64?
    /// The served times of its schedule that could occur again, for example after the clock is set
    /// back.
    package var served: ServedSlots
    /// The text of the schedule that is in force, to detect an edit.
    package var schedule: String
    /// The time since which this schedule is in force, Unix nanoseconds.
    package var scheduledSince: Int64?
    /// The time since which it has parked requests, Unix nanoseconds; `nil` if it has none.
    package var parkedSince: Int64?
    /// When people used the task's results, if learning is enabled for the task.
    package var uses: UsePattern

    package init(
        identifier: String,
        throttle: ThrottlePoints = ThrottlePoints(),
        lastSlot: Int64? = nil,
        served: ServedSlots = ServedSlots(),
        schedule: String = "",
        scheduledSince: Int64? = nil,
        parkedSince: Int64? = nil,
        uses: UsePattern = UsePattern()
    ) {
        self.identifier = identifier
        self.throttle = throttle
        self.lastSlot = lastSlot
        self.served = served
        self.schedule = schedule
        self.scheduledSince = scheduledSince
        self.parkedSince = parkedSince
        self.uses = uses
    }
}
