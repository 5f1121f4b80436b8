// SPDX-License-Identifier: Apache-2.0

/// Explains why a task or a request does not run.
package struct TaskExplanation: Equatable, Sendable {
    /// The task's identifier, or a family's pattern.
    package var task: String
    /// The time of the explanation on the daemon's wall clock, Unix nanoseconds.
    package var at: Int64
    /// The selected waiting requests, in the order in which they would start.
    package var requests: [Explanation]
    /// The number of waiting requests, including those beyond the limit.
    package var total: Int
    /// Its runs in progress.
    package var running: [RunRecord]
    /// Its last ended run.
    package var last: RunRecord?
    /// The next start of its schedule; `nil` if it has none.
    package var schedule: ScheduleOutlook?
    /// Its newest dead letter.
    package var dead: DeadLetter?
    package var simulation: SimulationStatus

    /// The most requests in one explanation.
    package static let requestsMax = 20

    package init(
        task: String,
        at: Int64,
        requests: [Explanation] = [],
        total: Int? = nil,
        running: [RunRecord] = [],
        last: RunRecord? = nil,
        schedule: ScheduleOutlook? = nil,
        dead: DeadLetter? = nil,
        simulation: SimulationStatus = SimulationStatus()
    ) {
        self.task = task
        self.at = at
        self.requests = requests
        self.total = total ?? requests.count
        self.running = running
        self.last = last
        self.schedule = schedule
        self.dead = dead
        self.simulation = simulation
    }

    /// The state in one word: `running`, `waiting` or `idle`.
    package var state: String {
        if !running.isEmpty { return "running" }
        return requests.isEmpty ? "idle" : "waiting"
    }
}

/// The next start of a schedule.
package struct ScheduleOutlook: Equatable, Sendable {
    /// The schedule in words.
    package var text: String
    /// The next start, Unix nanoseconds; `nil` if there is none.
    package var next: Int64?

    package init(text: String, next: Int64?) {
        self.text = text
        self.next = next
    }
}

extension TaskSchedule {
    /// The times of the schedule, for people.
    package var summary: String {
        switch times {
        case .calendar(let expression, let zone, _, _): "\(expression.text) (\(zone.name))"
        case .every(let interval): "every \(Self.short(interval.clampedNanoseconds))"
        }
    }

    private static func short(_ nanoseconds: UInt64) -> String {
        let units: [(UInt64, String)] = [
            (86_400_000_000_000, "d"), (3_600_000_000_000, "h"), (60_000_000_000, "m"),
            (1_000_000_000, "s"),
        ]
        // Use the largest unit that gives a whole number.
        for (length, unit) in units where nanoseconds >= length && nanoseconds % length == 0 {
            return "\(nanoseconds / length)\(unit)"
        }
        return DurationText.of(nanoseconds: nanoseconds)
    }
}
