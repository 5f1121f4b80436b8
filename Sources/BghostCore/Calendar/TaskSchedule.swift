// SPDX-License-Identifier: Apache-2.0

/// When requests of a task are submitted by themselves, as the manifest says it.
package struct TaskSchedule: Equatable, Sendable {
    package enum Times: Equatable, Sendable {
        case calendar(CalendarExpression, zone: ZoneTable, gap: GapPolicy, fold: FoldPolicy)
        /// So much after the daemon first saw the schedule, and again and again.
        case every(Duration)
    }

    package var times: Times
    package var misfire: MisfirePlan.Policy
    /// A slot that could not begin within this is missed; `nil` is no limit.
    package var startDeadline: Duration?
    /// Over how long the machines of a fleet are spread.
    package var window: Duration

    package init(
        times: Times,
        misfire: MisfirePlan.Policy = .once,
        startDeadline: Duration? = nil,
        window: Duration = .zero
    ) {
        self.times = times
        self.misfire = misfire
        self.startDeadline = startDeadline
        self.window = window
    }

    /// Whether its times are of the wall clock, and not so long after one another.
    package var isCalendar: Bool {
        if case .calendar = times { true } else { false }
    }

    /// What decides when it comes, in one line: another text is another schedule.
    package var text: String {
        let window = "window \(window.clampedNanoseconds)"
        return switch times {
        case .calendar(let expression, let zone, let gap, let fold):
            "\(expression.text) \(zone.name) gap \(gap.rawValue) fold \(fold.rawValue) \(window)"
        case .every(let interval): "every \(interval.clampedNanoseconds) \(window)"
        }
    }

    /// Its slots.
    ///
    /// - Parameter since: when the daemon first saw it, Unix nanoseconds.
    package func recurrence(since: Int64) throws(RecurrenceError) -> Recurrence {
        switch times {
        case .calendar(let expression, let zone, let gap, let fold):
            try .calendar(expression, zone: zone, gap: gap, fold: fold)
        case .every(let interval):
            try .every(Int64(clamping: interval.clampedNanoseconds), anchor: since)
        }
    }

    /// How slots of it that come late are treated.
    ///
    /// - Parameter machine: a name of this machine that stays.
    package func rules(identifier: String, machine: String) -> MisfirePlan.Rules {
        MisfirePlan.Rules(
            policy: misfire,
            startDeadline: startDeadline.map { Int64(clamping: $0.clampedNanoseconds) },
            offset: StableOffset(
                machine: machine,
                identifier: identifier,
                window: Int64(clamping: window.clampedNanoseconds)
            )
        )
    }
}
