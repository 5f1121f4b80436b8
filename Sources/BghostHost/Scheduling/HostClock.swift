// SPDX-License-Identifier: Apache-2.0

internal import BghostCore
internal import BghostLinux

/// The wall clock, which may be set at any time.
extension Host {
    /// The wall clock with the operator's offset, Unix nanoseconds.
    var wall: Int64 { clock.wall }

    /// The time since the machine started, sleep included, nanoseconds.
    var uptime: Int64 { clock.uptime }

    func watchClock() {
        do throws(SystemError) {
            try clock.beginWatch()
        } catch {
            // Without the watch, the daemon checks dates when their timers fire, which may be late.
            log.write(.warning, "clock.unwatched", error.description)
        }
    }

    /// Reevaluates all dates after the clock was set.
    func clockWasSet() {
        clock.rearm()
        log.write(.warning, "clock.set", "the wall clock was set; all dates are checked again")
        lookAtDates()
    }

    /// How often a doubted clock is checked; the kernel sends no event when the clock becomes reliable.
    private static var clockPeriod: UInt64 { 5_000_000_000 }

    /// Checks whether the clock is reliable; repeated until it is.
    func lookAtClock() {
        clock.read()
        let before = dispatcher.scheduler.clockDoubt
        let look = configuration.clockDoubt
        let doubt = if let look { look() } else { KernelClock.doubt(unix: wall) }
        decide { scheduler, now, effects in scheduler.clockLooked(doubt, now: now, &effects) }
        if let doubt = dispatcher.scheduler.clockDoubt,
            let end = dispatcher.scheduler.clockDoubtEnds
        {
            if doubt != before {
                log.write(.warning, "clock.doubted", "\(doubt.sentence); calendars wait for it")
            }
            armedClock = min(end, now.addingClamped(Self.clockPeriod))
            arm(armedClock, token: TimerToken.clock.raw)
        } else if before != nil {
            let why =
                doubt == nil ? "it is right" : "no time service sets it, so it is used as it is"
            log.write(.info, "clock.believed", why)
        }
    }

    func lookAtDates() {
        clock.read()
        armedDate = nil
        notifications?.compareDates()
        // Check this first, so that a wrong time does not produce missed starts.
        if dispatcher.scheduler.clockDoubt != nil { lookAtClock() }
        transferClockWasSet()
        decide { scheduler, now, effects in scheduler.clockWasSet(now: now, &effects) }
    }

    /// Arms the timer for the scheduler's next date, unless it is armed already.
    ///
    /// The wall clock may run faster or slower than the timer, so `datesCame` compares the date again.
    func armDates() {
        var next = dispatcher.query { $0.nextDate }
        if let other = notifications?.nextDate { next = min(next ?? other, other) }
        guard let date = next, date != armedDate else { return }
        armedDate = date
        let wait = UInt64(max(0, date.subtractingClamped(wall)))
        let (deadline, overflow) = now.addingReportingOverflow(wait)
        armedDates = overflow ? .max - 1 : deadline
        arm(armedDates, token: TimerToken.dates.raw)
    }

    func datesCame() {
        clock.read()
        armedDate = nil
        notifications?.compareDates()
        decide { scheduler, now, effects in scheduler.datesCame(now: now, &effects) }
    }
}
