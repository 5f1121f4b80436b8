// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostCalendar
internal import BghostModel

/// Steps of the wall clock: intervals and the pauses before retries and wakes do not follow them.
///
/// These dates are stored and listed as wall-clock times. When the wall clock is set, the scheduler moves
/// them by the same step, so that they stay at the same distance on the monotonic clock.
extension Scheduler {
    /// Moves the times of all intervals, retries and wakes if the wall clock was set.
    ///
    /// This is cheap if the clock was not set.
    ///
    /// - Returns: whether the clock was set.
    mutating func followClock(now: Moment, _ effects: inout [SchedulerEffect]) -> Bool {
        guard let step = clockSteps.step(at: now) else { return false }
        shiftRelativeDates(by: step, now: now, &effects)
        let pauses = gates.pauses.move(by: step)
        if !pauses.isEmpty { effects.append(.commit(pauses.map { .paused($0.target, $0) })) }
        for entry in memories.throttled.sorted() {
            var memory = memory(of: entry)
            memory.throttle.limit(now: now.unix)
            guard memory != memories[entry] else { continue }
            remember(memory, entry: entry, now: now)
            effects.append(.commit([.remembered(memory)]))
        }
        for entry in schedules.keys.sorted() {
            let task = catalog.tasks[pendingIndex.entries[entry].definition]
            guard let schedule = task.schedule, !schedule.isCalendar else { continue }
            let former = memory(of: entry)
            move(entry, by: step, now: now, &effects)
            adoptSchedule(schedule, entry: entry, now: now, &effects)
            followInterval(entry: entry, from: former, now: now, &effects)
        }
        return true
    }

    /// Moves the dates of requests that count from an event and not from the calendar.
    ///
    /// A retry counts from the end of a run, a session's wake from the last wake, a request of a task that is
    /// not in the manifest from its parking.
    private mutating func shiftRelativeDates(
        by step: Int64,
        now: Moment,
        _ effects: inout [SchedulerEffect]
    ) {
        var (moved, parked) = parking.move(by: step, now: now.unix)
        for entry in pendingIndex.entries.indices where pendingIndex.entries.isInUse(entry) {
            let definition = pendingIndex.entries.kind(entry).definition
            moved += pendingIndex.shiftRelativeDates(
                entry: entry,
                by: step,
                ofPending: catalog.tasks[definition].kind == .urlSession,
                now: now.unix
            )
        }
        guard !moved.isEmpty || !parked.isEmpty else { return }
        effects.append(.commit(moved.map { .moved($0) } + parked.map { .remembered($0) }))
    }

    private mutating func move(
        _ entry: Int,
        by step: Int64,
        now: Moment,
        _ effects: inout [SchedulerEffect]
    ) {
        var memory = memory(of: entry)
        // Add one nanosecond, so that after a step by a multiple of the interval no time equals one
        // that was already served.
        memory.scheduledSince = memory.scheduledSince?.addingClamped(step).addingClamped(1)
        memory.lastServedTime = memory.lastServedTime?.addingClamped(step).addingClamped(1)
        // Times that were withdrawn before they came.
        if let interval = schedules[entry]?.recurrence {
            memory.served.move(by: step.addingClamped(1), of: interval)
        }
        remember(memory, entry: entry, now: now)
        effects.append(.commit([.remembered(memory)]))
    }
}

extension TaskMemory {
    /// Removes state that a clock which was ahead has left: otherwise a request would wait until the same
    /// time comes again.
    ///
    /// - Parameter scheduledTime: the latest time that its starts may have reached.
    mutating func clampToClock(_ scheduledTime: Int64, _ now: Moment, _ schedule: TaskSchedule) {
        // The times of a calendar may be right and the clock wrong: `followClockBack` waits until it is trusted.
        guard !schedule.isCalendar else { return }
        let since = scheduledSince
        // Move the anchor too, so that the next time is one interval after the last.
        if let last = lastServedTime, last > scheduledTime {
            scheduledSince = scheduledSince?.addingClamped(scheduledTime.subtractingClamped(last))
        }
        lastServedTime = lastServedTime.map { min($0, scheduledTime) }
        scheduledSince = scheduledSince.map { min($0, now.unix) }
        guard let since, let moved = scheduledSince else { return }
        // A refused interval has no times; `adoptSchedule` says so.
        guard let before = try? schedule.recurrence(since: since) else { return }
        let step = moved.subtractingClamped(since)
        served.move(by: step, of: before)
        served.forget(through: scheduledTime, of: before.moved(by: step))
    }
}
