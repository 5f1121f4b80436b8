// SPDX-License-Identifier: Apache-2.0

internal import BghostCore
internal import BghostLinux

/// The wall clock, which may be set at any time.
extension Host {
    /// Beside those of facts, far above those of workers.
    static let clockToken: UInt64 = 2 << 48

    /// The wall clock, Unix nanoseconds: the machine's, and what somebody has moved it by to see what
    /// happens then.
    var wall: Int64 { WallClock.now.addingClamped(clockOffset) }

    func watchClock() {
        do throws(SystemError) {
            let watch = try ClockWatch()
            try reactor.watch(watch.fd, for: .input, token: Self.clockToken)
            clockWatch = consume watch
        } catch {
            // Dates are then looked at when their timers come, which may be late.
            log.write(.warning, "clock.unwatched", error.description)
        }
    }

    /// Looks at every date again.
    func clockWasSet() {
        clockWatch?.rearm()
        log.write(.warning, "clock.set", "somebody set the clock; all dates are looked at again")
        lookAtDates()
    }

    /// How often a clock that is doubted is looked at: that somebody keeps it right is not told.
    private static var clockPeriod: UInt64 { 5_000_000_000 }

    /// Looks whether the clock can be believed, at the start and until it can.
    func lookAtClock() {
        let before = scheduler.clockDoubt
        let look = configuration.clockDoubt
        let doubt = if let look { look() } else { KernelClock.doubt(unix: wall) }
        decide { scheduler, now, effects in scheduler.clockLooked(doubt, now: now, &effects) }
        if let doubt = scheduler.clockDoubt, let end = scheduler.clockDoubtEnds {
            if doubt != before {
                log.write(.warning, "clock.doubted", "\(doubt.sentence); calendars wait for it")
            }
            armedClock = min(end, now.addingClamped(Self.clockPeriod))
            arm(armedClock, token: TimerToken.clock.raw)
        } else if before != nil {
            let why = doubt == nil ? "it is right" : "nobody sets it, so it is taken as it is"
            log.write(.info, "clock.believed", why)
        }
    }

    func lookAtDates() {
        armedDate = nil
        noteNotificationDates()
        // First, so that what the wrong time would have meant is not made up for.
        if scheduler.clockDoubt != nil { lookAtClock() }
        transferClockWasSet()
        decide { scheduler, now, effects in scheduler.clockWasSet(now: now, &effects) }
    }

    /// Arms the timer for the next date of the scheduler, unless it is.
    ///
    /// The wall clock may run faster or slower than the timer, so the date is looked at again when
    /// that comes.
    func armDates() {
        var next = asked { $0.nextDate }
        if let other = notifications?.outbox.nextDate { next = min(next ?? other, other) }
        guard let date = next, date != armedDate else { return }
        armedDate = date
        let wait = UInt64(max(0, date.subtractingClamped(wall)))
        let (deadline, overflow) = now.addingReportingOverflow(wait)
        armedDates = overflow ? .max - 1 : deadline
        arm(armedDates, token: TimerToken.dates.raw)
    }

    func datesCame() {
        armedDate = nil
        noteNotificationDates()
        decide { scheduler, now, effects in scheduler.datesCame(now: now, &effects) }
    }
}
