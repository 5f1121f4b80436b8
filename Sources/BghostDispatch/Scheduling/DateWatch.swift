// SPDX-License-Identifier: Apache-2.0

package import BghostBase
internal import BghostLinux
internal import BghostModel
internal import BghostPolicy
package import BghostServices

/// Tells the scheduler when its dates come, when the wall clock was set, and whether to trust the clock.
///
/// The host owns it. Use it on the reactor's thread only; it does not block. Arming a date costs O(log n)
/// in the armed deadlines.
package final class DateWatch {
    /// How often a doubted clock is checked, nanoseconds; the kernel sends no event when the clock becomes
    /// reliable.
    private static let doubtPeriod: UInt64 = 5_000_000_000

    /// The shortest step of the clock that is worth a warning, nanoseconds.
    private static let stepShown: UInt64 = 1_000_000

    private let clock: DaemonClock
    private let deadlines: Deadlines
    private let dispatcher: Dispatcher
    private let log: HostLog
    private let doubt: (_ wall: Int64) -> ClockDoubt?
    /// The date for which a timer is armed, Unix nanoseconds.
    package private(set) var armedDate: Int64?
    /// The deadline of that timer, and when a doubted clock is checked again.
    private var dateDeadline: MonotonicInstant = .zero
    private var doubtDeadline: MonotonicInstant = .zero
    /// The difference between the machine's wall clock and its time since boot, when it was last looked at.
    private var machineOffset: Int64 = 0
    private var otherDate: () -> Int64? = { nil }
    private var onDates: () -> Void = {}
    private var onClockSet: () -> Void = {}

    /// - Parameter doubt: why the clock may be wrong, given the wall clock in Unix nanoseconds.
    package init(
        _ clock: DaemonClock,
        _ deadlines: Deadlines,
        _ dispatcher: Dispatcher,
        log: HostLog,
        doubt: @escaping (_ wall: Int64) -> ClockDoubt?
    ) {
        self.clock = clock
        self.deadlines = deadlines
        self.dispatcher = dispatcher
        self.log = log
        self.doubt = doubt
    }

    /// Begins to watch for steps of the wall clock.
    ///
    /// - Parameters:
    ///   - watchesSteps: whether the kernel reports steps of the wall clock to ``clockWasSet()``.
    ///   - otherDate: a date besides the scheduler's, Unix nanoseconds; `nil` for none.
    ///   - onDates: called before the scheduler, when dates are compared with the clock.
    ///   - onClockSet: called before the scheduler, when the clock was set.
    package func begin(
        watchesSteps: Bool = true,
        otherDate: @escaping () -> Int64?,
        onDates: @escaping () -> Void,
        onClockSet: @escaping () -> Void
    ) {
        self.otherDate = otherDate
        self.onDates = onDates
        self.onClockSet = onClockSet
        // Only the steps from here on count.
        _ = machineStep()
        guard watchesSteps else { return }
        do throws(SystemError) {
            try clock.beginWatch()
        } catch {
            // Without the watch, dates are checked when their timers fire, which may be late.
            log.write(.warning, "clock.unwatched", error.description)
        }
    }

    /// Whether a deadline is one of the two that are armed.
    package func isLive(_ token: TimerToken, _ deadline: MonotonicInstant) -> Bool {
        switch token {
        case .dates: deadline == dateDeadline
        case .clock: deadline == doubtDeadline
        default: false
        }
    }

    // MARK: The clock

    /// Handles a step of the wall clock, which the reactor reports.
    package func clockWasSet() {
        clock.rearm()
        let step = machineStep()
        let length = DurationText.of(nanoseconds: step.magnitude)
        log.write(
            // Time services also set it to what it shows already, and may do so twice in a row.
            step.magnitude < Self.stepShown ? .debug : .warning,
            "clock.set",
            "the wall clock was set \(step < 0 ? "back" : "forward") by \(length); all dates are checked"
                + " again"
        )
        compareAllDates()
    }

    /// How far the machine's wall clock was set since the last call, nanoseconds.
    private func machineStep() -> Int64 {
        clock.read()
        let offset = clock.moment.wallOffset.subtractingClamped(clock.offset)
        defer { machineOffset = offset }
        return offset.subtractingClamped(machineOffset)
    }

    /// Compares all dates with a wall clock that has changed.
    func compareAllDates() {
        clock.read()
        armedDate = nil
        onDates()
        // Check this first, so that a wrong time does not produce missed starts.
        if dispatcher.scheduler.clockDoubt != nil { checkClock() }
        onClockSet()
        dispatcher.decide { scheduler, now, effects in
            scheduler.clockWasSet(now: now, &effects)
        }
    }

    /// Checks whether the clock is reliable; repeated until it is.
    package func checkClock() {
        clock.read()
        let before = dispatcher.scheduler.clockDoubt
        // A simulated clock shows what the operator wants, whatever the kernel says of the machine's.
        let found = clock.offset == 0 ? doubt(clock.wall) : ClockDoubt(simulated: clock.wall)
        dispatcher.decide { scheduler, now, effects in
            scheduler.clockChecked(found, now: now, &effects)
        }
        if let doubt = dispatcher.scheduler.clockDoubt,
            let end = dispatcher.scheduler.clockDoubtEnds
        {
            if doubt != before {
                log.write(.warning, "clock.doubted", "\(doubt.sentence); calendars wait for it")
            }
            doubtDeadline = min(end, clock.monotonic + Self.doubtPeriod)
            deadlines.arm(.clock, at: doubtDeadline)
        } else if before != nil {
            let why =
                found == nil ? "it is right" : "no time service sets it, so it is used as it is"
            log.write(.info, "clock.believed", why)
        }
    }

    // MARK: Dates

    /// Arms the timer for the next date, unless it is armed already.
    ///
    /// The wall clock may run faster or slower than the timer, so ``timerFired()`` compares the date again.
    package func arm() {
        var next = dispatcher.query { $0.nextDate }
        if let other = otherDate() { next = min(next ?? other, other) }
        guard let next, next != armedDate else { return }
        armedDate = next
        let wait = UInt64(max(0, next.subtractingClamped(clock.wall)))
        // A date that never comes is a deadline that never passes, which is live all the same.
        dateDeadline = min(clock.monotonic + wait, .never - 1)
        deadlines.arm(.dates, at: dateDeadline)
    }

    /// Handles the timer of a date.
    package func timerFired() {
        clock.read()
        armedDate = nil
        onDates()
        dispatcher.decide { scheduler, now, effects in
            scheduler.timerFired(now: now, &effects)
        }
    }
}
