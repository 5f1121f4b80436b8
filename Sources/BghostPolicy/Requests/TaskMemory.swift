// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
package import BghostCalendar
package import BghostModel

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
}

extension TaskMemory {
    /// The time for which the served times of a removed schedule are kept, nanoseconds.
    ///
    /// An operator may remove a task by mistake and restore it, and the clock may be set back meanwhile.
    private static let servedKeptFor = Parking.keptFor

    /// Ends its schedule; if the schedule comes back, the time of its absence does not count as missed.
    ///
    /// That of a boot stays, so that its start does not come again in the same boot.
    ///
    /// - Returns: whether that changed anything.
    mutating func endSchedule() -> Bool {
        guard !schedule.isEmpty, !TaskSchedule.isOfBoot(schedule) else { return false }
        schedule = ""
        scheduledSince = nil
        return true
    }

    /// Whether it contains nothing: a store then deletes its row.
    package var isEmpty: Bool {
        throttle.points == 0 && lastServedTime == nil && served.ranges.isEmpty && schedule.isEmpty
            && scheduledSince == nil && parkedSince == nil && uses.isEmpty
    }

    /// Until when it may affect a start of a task that the manifest does not name, Unix nanoseconds; `nil` if
    /// it does not.
    func effectiveUntil(now: Int64) -> Int64? {
        guard parkedSince == nil else { return .max }
        let served = [lastServedTime, served.last].compactMap {
            $0?.addingClamped(Self.servedKeptFor)
        }
        let end = (served + [throttle.end, uses.end].compactMap { $0 }).max()
        return end.flatMap { $0 > now ? $0 : nil }
    }
}
