// SPDX-License-Identifier: Apache-2.0

extension API {
    /// The next starts of the schedules of a manifest.
    package struct Plan: Codable, Equatable, Sendable {
        /// The plan begins with this time.
        @FormOrNull<RFC3339> package var from: Int64?
        /// The plan has each start up to this time, but for `frequent`; it is earlier than what was asked
        /// for if there are more starts than that.
        @FormOrNull<RFC3339> package var until: Int64?
        /// The starts, the first first.
        @Elements package var starts: [PlannedStart]
        /// Whether there are more starts than were asked for.
        package var hasMore: Bool
        /// The tasks with more starts than were asked for of one task.
        @ElementsOrEmpty package var frequent: [FrequentTask]
        /// The changes of the clocks of the schedules, in order.
        @ElementsOrEmpty package var clockChanges: [ClockChange]

        package init(
            from: Int64?,
            until: Int64?,
            starts: [PlannedStart],
            hasMore: Bool,
            frequent: [FrequentTask] = [],
            clockChanges: [ClockChange] = []
        ) {
            self.from = from
            self.until = until
            self.starts = starts
            self.hasMore = hasMore
            self.frequent = frequent
            self.clockChanges = clockChanges
        }
    }

    /// A start of a schedule.
    package struct PlannedStart: Codable, Equatable, Sendable {
        /// The identifier of the task.
        package var task: String
        /// The start is not before this time.
        @Formatted<RFC3339> package var start: Int64
        /// The start is not delayed at random beyond this time; null without `randomDelay`.
        @FormOrNull<RFC3339> package var latest: Int64?
        /// The time zone of the schedule.
        package var zone: String
        /// The offset of the zone from UTC at that time, seconds.
        package var zoneOffsetSeconds: Int64
        /// A note for people on an unusual start; "" if there is none.
        @OrDefault package var note: String

        package init(
            task: String,
            start: Int64,
            latest: Int64? = nil,
            zone: String,
            zoneOffsetSeconds: Int64,
            note: String
        ) {
            self.task = task
            self.start = start
            self.latest = latest
            self.zone = zone
            self.zoneOffsetSeconds = zoneOffsetSeconds
            self.note = note
        }
    }

    /// A task of which a plan does not have all starts.
    package struct FrequentTask: Codable, Equatable, Sendable {
        /// The identifier of the task.
        package var task: String
        /// The number of its starts in the whole time.
        package var count: Int
        /// Its last start in the plan.
        @Formatted<RFC3339> package var listedUntil: Int64

        package init(task: String, count: Int, listedUntil: Int64) {
            self.task = task
            self.count = count
            self.listedUntil = listedUntil
        }
    }

    /// A change of the clock of a time zone.
    package struct ClockChange: Codable, Equatable, Sendable {
        /// The time zone.
        package var zone: String
        /// The first instant with the new offset.
        @Formatted<RFC3339> package var at: Int64
        /// The offset from UTC before, seconds.
        package var offsetBeforeSeconds: Int64
        /// The offset from UTC from then on, seconds.
        package var offsetAfterSeconds: Int64
        /// The tasks whose schedule skips a start then: the clock leaves its local time out.
        @ElementsOrEmpty package var skipped: [String]

        package init(
            zone: String,
            at: Int64,
            offsetBeforeSeconds: Int64,
            offsetAfterSeconds: Int64,
            skipped: [String]
        ) {
            self.zone = zone
            self.at = at
            self.offsetBeforeSeconds = offsetBeforeSeconds
            self.offsetAfterSeconds = offsetAfterSeconds
            self.skipped = skipped
        }
    }
}
