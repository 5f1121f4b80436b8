// SPDX-License-Identifier: Apache-2.0

/// A wall clock that may be wrong yet: calendars wait for it, and what is relative does not.
extension Scheduler {
    /// Somebody has looked at the clock, at the start or while it is doubted.
    ///
    /// - Parameter doubt: why it may be wrong; `nil` if it is believed.
    package mutating func clockLooked(
        _ doubt: ClockDoubt?,
        now: Moment,
        _ effects: inout [SchedulerEffect]
    ) {
        note(.clockLooked(doubt), at: now)
        guard let doubted = gates.clock else {
            gates.clock = doubt.map {
                RunGates.DoubtedClock(
                    doubt: $0,
                    until: now.monotonic.addingClamped(ClockDoubt.waitMax)
                )
            }
            return
        }
        if let doubt, now.monotonic < doubted.until {
            gates.clock?.doubt = doubt
            return
        }
        gates.clock = nil
        forgetWrongStarts(now: now, &effects)
        lookAtDates(now: now, &effects)
        retryRequests(now: now) { [catalog] in catalog.tasks[$0].schedule?.isCalendar == true }
        beginWhatCan(now: now, &effects)
    }

    /// Why the wall clock is not believed; `nil` if it is.
    package var clockDoubt: ClockDoubt? { gates.clock?.doubt }

    /// Until when calendars wait for the clock at the most, monotonic nanoseconds.
    package var clockDoubtEnds: UInt64? { gates.clock?.until }

    /// Schedules that were first seen under a clock that was far behind begin now: all the years since
    /// are none that they missed.
    private mutating func forgetWrongStarts(now: Moment, _ effects: inout [SchedulerEffect]) {
        guard now.unix >= ClockDoubt.oldest else { return }
        for entry in schedules.keys.sorted() {
            var memory = memory(of: entry)
            guard let since = memory.scheduledSince, since < ClockDoubt.oldest,
                let schedule = catalog.tasks[book.entries[entry].definition].schedule
            else { continue }
            memory.schedule = ""
            remember(memory, entry: entry, now: now)
            take(up: schedule, entry: entry, now: now, &effects)
        }
    }
}

extension RunGates {
    /// A wall clock that is not believed.
    struct DoubtedClock: Sendable {
        var doubt: ClockDoubt
        /// Monotonic nanoseconds.
        let until: UInt64
    }

    /// Whether a request serves a time of a calendar, and there is no clock to tell it by.
    func waitsForClock(_ request: Request, task: Int) -> Bool {
        clock != nil && request.slot != nil && !request.isSimulated
            && catalog.tasks[task].schedule?.isCalendar == true
    }
}
