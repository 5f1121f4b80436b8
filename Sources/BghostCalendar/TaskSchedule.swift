// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

/// The schedule of a task in the manifest.
package struct TaskSchedule: Equatable, Sendable {
    package enum Times: Equatable, Sendable {
        case calendar(CalendarExpression, zone: ZoneTable, gap: GapPolicy, fold: FoldPolicy)
        /// An interval, from the time when the daemon first saw the schedule.
        case every(Duration)
        /// Once in each boot of the machine, this long after it.
        case boot(after: Duration)
    }

    package var times: Times
    var misfire: MisfirePlan.Policy
    /// A scheduled time without a start within this duration is missed; `nil` means no limit.
    var startDeadline: Duration?
    /// The window over which the starts of a fleet are spread.
    var window: Duration
    /// The longest delay that is drawn anew for each start; zero means none.
    ///
    /// It is no part of ``text``: it delays starts and does not move the times.
    package var randomDelay: Duration

    package init(
        times: Times,
        misfire: MisfirePlan.Policy = .once,
        startDeadline: Duration? = nil,
        window: Duration = .zero,
        randomDelay: Duration = .zero
    ) {
        self.times = times
        self.misfire = misfire
        self.startDeadline = startDeadline
        self.window = window
        self.randomDelay = randomDelay
    }

    /// Whether its times are wall-clock times and not intervals.
    package var isCalendar: Bool {
        if case .calendar = times { true } else { false }
    }

    /// Whether it has one time, in each boot of the machine.
    package var isOfBoot: Bool {
        if case .boot = times { true } else { false }
    }

    /// The ``text`` of the schedule in one boot of the machine.
    ///
    /// That of a boot does not contain the delay: another delay must not start the task again.
    package func text(boot: String) -> String { isOfBoot ? Self.bootPrefix + boot : text }

    /// Whether a text is that of a schedule of a boot.
    package static func isOfBoot(_ text: String) -> Bool { text.hasPrefix(bootPrefix) }

    private static let bootPrefix = "boot "

    /// The properties that determine its times, in one line: another text means another schedule.
    package var text: String {
        let window = "window \(window.clampedNanoseconds)"
        return switch times {
        case .calendar(let expression, let zone, let gap, let fold):
            "\(expression.text) \(zone.name) gap \(gap.rawValue) fold \(fold.rawValue) \(window)"
        case .every(let interval): "every \(interval.clampedNanoseconds) \(window)"
        case .boot: "boot"
        }
    }

    /// The recurrence of the schedule.
    ///
    /// - Parameter since: when the daemon first saw the schedule, Unix nanoseconds; for a schedule of a boot,
    ///   a nanosecond before the machine booted.
    package func recurrence(since: Int64) throws(RecurrenceError) -> Recurrence {
        switch times {
        case .calendar(let expression, let zone, let gap, let fold):
            try .calendar(expression, zone: zone, gap: gap, fold: fold)
        case .every(let interval):
            try .every(Int64(clamping: interval.clampedNanoseconds), anchor: since)
        case .boot: .once(since.addingClamped(1))
        }
    }

    /// The rules for its late starts.
    ///
    /// - Parameter machine: a permanent id of this machine.
    package func rules(identifier: String, machine: String) -> MisfirePlan.Rules {
        var rules = MisfirePlan.Rules(
            policy: misfire,
            startDeadline: startDeadline.map { Int64(clamping: $0.clampedNanoseconds) },
            offset: StableOffset(
                machine: machine,
                identifier: identifier,
                window: Int64(clamping: window.clampedNanoseconds)
            ),
            randomDelay: Int64(clamping: randomDelay.clampedNanoseconds)
        )
        if case .boot(let after) = times {
            rules.offset = rules.offset.adding(Int64(clamping: after.clampedNanoseconds))
            // A daemon that starts long after the boot still serves it, and nothing was missed.
            rules.onTime = .max
        }
        return rules
    }
}
