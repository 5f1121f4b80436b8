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

    func lookAtDates() {
        armedDate = nil
        decide { scheduler, now, effects in scheduler.clockWasSet(now: now, &effects) }
    }

    /// Arms the timer for the next date of the scheduler, unless it is.
    ///
    /// The wall clock may run faster or slower than the timer, so the date is looked at again when
    /// that comes.
    func armDates() {
        guard let date = scheduler.nextDate, date != armedDate else { return }
        armedDate = date
        let wait = UInt64(max(0, date.subtractingClamped(wall)))
        let (deadline, overflow) = now.addingReportingOverflow(wait)
        armedDates = overflow ? .max - 1 : deadline
        arm(armedDates, token: TimerToken.dates.raw)
    }

    func datesCame() {
        armedDate = nil
        decide { scheduler, now, effects in scheduler.datesCame(now: now, &effects) }
    }
}
