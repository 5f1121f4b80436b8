// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

/// The schedule of a task in the manifest.
package struct TaskSchedule: Equatable, Sendable {
    package enum Times: Equatable, Sendable {
        case calendar(CalendarExpression, zone: ZoneTable, gap: GapPolicy, fold: FoldPolicy)
        /// An interval, from the time when the daemon first saw the schedule.
        case every(Duration)
    }

    package var times: Times
    var misfire: MisfirePlan.Policy
    /// A scheduled time without a start within this duration is missed; `nil` means no limit.
    var startDeadline: Duration?
    /// The window over which the starts of a fleet are spread.
    var window: Duration

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

    /// Whether its times are wall-clock times and not intervals.
    package var isCalendar: Bool {
        if case .calendar = times { true } else { false }
    }

    /// The properties that determine its times, in one line: another text means another schedule.
    package var text: String {
        let window = "window \(window.clampedNanoseconds)"
        return switch times {
        case .calendar(let expression, let zone, let gap, let fold):
            "\(expression.text) \(zone.name) gap \(gap.rawValue) fold \(fold.rawValue) \(window)"
        case .every(let interval): "every \(interval.clampedNanoseconds) \(window)"
        }
    }

    /// The recurrence of the schedule.
    ///
    /// - Parameter since: when the daemon first saw the schedule, Unix nanoseconds.
    package func recurrence(since: Int64) throws(RecurrenceError) -> Recurrence {
        switch times {
        case .calendar(let expression, let zone, let gap, let fold):
            try .calendar(expression, zone: zone, gap: gap, fold: fold)
        case .every(let interval):
            try .every(Int64(clamping: interval.clampedNanoseconds), anchor: since)
        }
    }

    /// The rules for its late starts.
    ///
    /// - Parameter machine: a permanent id of this machine.
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
