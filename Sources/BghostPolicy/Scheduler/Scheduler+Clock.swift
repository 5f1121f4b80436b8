// SPDX-License-Identifier: Apache-2.0

package import BghostBase
internal import BghostCalendar
internal import BghostModel

/// A wall clock that may be wrong: calendar schedules wait for it, relative times do not.
extension Scheduler {
    /// Handles a check of the clock, at the start or while it is in doubt.
    ///
    /// - Parameter doubt: why it may be wrong; `nil` if it is trusted.
    package mutating func clockChecked(
        _ doubt: ClockDoubt?,
        now: Moment,
        _ effects: inout [SchedulerEffect]
    ) {
        recordInput(.clockChecked(doubt), at: now)
        let hasMoved = followClock(now: now, &effects)
        guard let doubted = gates.clock else {
            gates.clock = doubt.map {
                RunGates.DoubtedClock(
                    doubt: $0,
                    until: now.monotonic + ClockDoubt.waitMax
                )
            }
            return
        }
        if let doubt, now.monotonic < doubted.until {
            gates.clock?.doubt = doubt
            if hasMoved { recheckAllDates(now: now, &effects) }
            return
        }
        gates.clock = nil
        forgetWrongStarts(now: now, &effects)
        recheckAllDates(now: now, &effects)
        recheckRequests(now: now) { [catalog] in catalog.tasks[$0].schedule?.isCalendar == true }
        startReadyRequests(now: now, &effects)
    }

    /// Why the wall clock is not trusted; `nil` if it is.
    package var clockDoubt: ClockDoubt? { gates.clock?.doubt }

    /// Until when calendar schedules wait for the clock at most.
    package var clockDoubtEnds: MonotonicInstant? { gates.clock?.until }

    /// Restarts the calendar schedules that were first seen while the clock was far behind.
    ///
    /// Otherwise all starts of the years in between would count as missed.
    private mutating func forgetWrongStarts(now: Moment, _ effects: inout [SchedulerEffect]) {
        guard now.unix >= ClockDoubt.oldest else { return }
        for entry in schedules.keys.sorted() {
            var memory = memory(of: entry)
            guard let since = memory.scheduledSince, since < ClockDoubt.oldest,
                let schedule = catalog.tasks[pendingIndex.entries[entry].definition].schedule,
                // Intervals have moved with the clock.
                schedule.isCalendar
            else { continue }
            memory.schedule = ""
            remember(memory, entry: entry, now: now)
            adoptSchedule(schedule, entry: entry, now: now, &effects)
            // A request that was due by the wrong clock serves none of its times.
            if ownPending(entry) != nil { submitNext(entry: entry, now: now, &effects) }
        }
    }
}

extension RunGates {
    /// A wall clock that is not trusted.
    struct DoubtedClock: Sendable {
        var doubt: ClockDoubt
        let until: MonotonicInstant
    }

    /// Whether a request serves a calendar time while the clock is not trusted.
    func waitsForClock(_ request: Request, task: Int) -> Bool {
        clock != nil && request.scheduledTime != nil && !request.isManual
            && catalog.tasks[task].schedule?.isCalendar == true
    }
}
