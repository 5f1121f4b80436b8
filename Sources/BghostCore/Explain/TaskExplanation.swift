// SPDX-License-Identifier: Apache-2.0

/// The answer to why a task does not run, or why a request does not.
package struct TaskExplanation: Equatable, Sendable {
    /// The task's identifier, or a family's pattern.
    package var task: String
    /// The moment of it on the daemon's wall clock, Unix nanoseconds.
    package var at: Int64
    /// Each request that waits and was asked for, as they would begin.
    package var requests: [Explanation]
    /// How many there are, if not all are told; the same number otherwise.
    package var total: Int
    /// Its runs that are under way.
    package var running: [RunRecord]
    /// The run that ended last.
    package var last: RunRecord?
    /// What its schedule brings; `nil` if it has none.
    package var schedule: ScheduleOutlook?
    /// The newest of its requests that is tried no more.
    package var dead: DeadLetter?
    package var simulation: SimulationStatus

    /// How many requests one answer tells of.
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

    /// What it is about, in one word: `running`, `waiting` or `idle`.
    package var state: String {
        if !running.isEmpty { return "running" }
        return requests.isEmpty ? "idle" : "waiting"
    }
}

/// What a schedule brings.
package struct ScheduleOutlook: Equatable, Sendable {
    /// The schedule in words.
    package var text: String
    /// The start of its next time, Unix nanoseconds; `nil` if it never comes again.
    package var next: Int64?

    package init(text: String, next: Int64?) {
        self.text = text
        self.next = next
    }
}

extension TaskSchedule {
    /// When it comes, for people.
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
        // In the largest unit that says it in a whole number.
        for (length, unit) in units where nanoseconds >= length && nanoseconds % length == 0 {
            return "\(nanoseconds / length)\(unit)"
        }
        return DurationText.of(nanoseconds: nanoseconds)
    }
}
