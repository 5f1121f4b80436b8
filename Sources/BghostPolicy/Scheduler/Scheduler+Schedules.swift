// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostCalendar
internal import BghostModel

/// A task's schedule, prepared for queries.
struct ActiveSchedule: Sendable {
    let recurrence: Recurrence
    let rules: MisfirePlan.Rules
    /// Whether its times are wall-clock times; the times of an interval move when the clock is set.
    let isCalendar: Bool

    /// The missed starts so far and the next start.
    func plan(_ memory: TaskMemory, now: Moment) -> MisfirePlan {
        MisfirePlan(
            recurrence,
            history: MisfirePlan.History(
                lastServedTime: memory.lastServedTime,
                editedAt: memory.scheduledSince
            ),
            now: now.unix,
            rules: rules,
            served: isCalendar ? memory.served : memory.served.times(of: recurrence)
        )
    }
}

/// Schedules: requests that the manifest submits.
///
/// When a scheduled request starts, the scheduler submits the next one. Scheduled requests follow
/// the same rules as others: one pending request per task, holds and slots.
extension Scheduler {
    mutating func startSchedules(now: Moment, _ effects: inout [SchedulerEffect]) {
        for index in catalog.currentTasks where !catalog.tasks[index].identifier.isFamily {
            let task = catalog.tasks[index]
            let entry = entry(for: task.identifier.description, task: index)
            if let schedule = task.schedule {
                restartSchedule(schedule, entry: entry, now: now, &effects)
            } else {
                dropSchedule(of: entry, now: now, &effects)
            }
            if task.submitAtStart { submitAtStart(entry: entry, now: now, &effects) }
        }
    }

    /// Adopts the schedule of a task at the start of the daemon.
    ///
    /// A pending request of the schedule keeps its start; one that was missed meanwhile is marked as late.
    private mutating func restartSchedule(
        _ schedule: TaskSchedule,
        entry: Int,
        now: Moment,
        _ effects: inout [SchedulerEffect]
    ) {
        let former = memory(of: entry)
        adoptSchedule(schedule, entry: entry, now: now, &effects)
        followInterval(entry: entry, from: former, now: now, &effects)
        followClockBack(entry: entry, now: now, &effects)
        let isSame = former.schedule == memory(of: entry).schedule
        let pending = pendingIndex.entries[entry].pending
        if let pending {
            guard pending.isOfSchedule else { return }
            // It has waited since before an edit, at which its time had come.
            let edited = memory(of: entry).scheduledSince ?? .min
            let hasWaited = isSame && hasCome(pending, entry, at: edited)
            if keepsWaiting(pending, entry: entry, hasWaited: hasWaited, now: now) { return }
        }
        submitNext(entry: entry, now: now, &effects)
        guard let pending else { return }
        followDefinition(pending, entry: entry, isSameSchedule: isSame, now: now, &effects)
    }

    /// Submits a request of a task, unless one is pending.
    mutating func submitAtStart(entry: Int, now: Moment, _ effects: inout [SchedulerEffect]) {
        guard pendingIndex.entries.pendingOrAppended(entry) == nil else { return }
        submitOwn(entry: entry, scheduledTime: nil, missed: nil, now: now, &effects)
    }

    /// Adopts the schedule of a task that a new manifest has changed.
    ///
    /// A pending request that is due keeps its run under the old schedule. One with a date in the future is
    /// replaced by one for the next time of the new schedule; if that is the same time, it gets the dates of the
    /// new schedule. A client's request stays as it is.
    mutating func replaceSchedule(
        _ schedule: TaskSchedule,
        entry: Int,
        now: Moment,
        _ effects: inout [SchedulerEffect]
    ) {
        let (before, former) = (memory(of: entry), schedules[entry])
        let pending = pendingIndex.entries[entry].pending
        let isDue = pending.map { hasCome($0, entry, at: now.unix) } ?? false
        adoptSchedule(schedule, entry: entry, now: now, &effects)
        followInterval(entry: entry, from: before, now: now, &effects)
        followClockBack(entry: entry, now: now, &effects)
        let isSame = before.schedule == memory(of: entry).schedule
        if let pending {
            guard pending.isOfSchedule else { return }
            // A task that was parked meanwhile had no schedule for that time.
            guard !isDue || before.schedule.isEmpty else { return }
        }
        if pending == nil || !isSame { submitNext(entry: entry, now: now, &effects) }
        guard let pending else { return }
        followDefinition(
            pending,
            entry: entry,
            former: former,
            isSameSchedule: isSame,
            now: now,
            &effects
        )
    }

    /// Removes the schedule of a task, with its future request.
    mutating func dropSchedule(of entry: Int, now: Moment, _ effects: inout [SchedulerEffect]) {
        let isDue = pendingIndex.entries[entry].pending.map { hasCome($0, entry, at: now.unix) }
        schedules[entry] = nil
        var changes: [StoreChange] = []
        // If the schedule comes back, the time of its absence must not count as missed.
        if var memory = memories[entry], memory.endSchedule() {
            remember(memory, entry: entry, now: now)
            changes.append(.remembered(memory))
        }
        if let pending = ownPending(entry), isDue == false {
            // It is `pending`.
            _ = pendingIndex.withdraw(entry: entry)
            // This does not serve the time: the schedule may come back before it.
            changes.append(.closed(pending.id, .cancelled))
            effects.append(.log(.closed(pending, .cancelled)))
            effects.append(.requestClosed(pending.id))
            pendingIndex.recheck(entry: entry, now: now.unix)
        }
        if !changes.isEmpty { effects.append(.commit(changes)) }
    }

    /// Whether the time of a request has come at an instant, Unix nanoseconds; it may still wait for its random
    /// delay.
    func hasCome(_ request: Request, _ entry: Int, at instant: Int64) -> Bool {
        let start = request.scheduledTime.flatMap { schedules[entry]?.rules.offset.start(of: $0) }
        return min(start ?? .max, request.earliestBegin ?? .min) <= instant
    }

    mutating func adoptSchedule(
        _ schedule: TaskSchedule,
        entry: Int,
        now: Moment,
        _ effects: inout [SchedulerEffect]
    ) {
        var memory = memory(of: entry)
        let before = memory
        let text = schedule.text(boot: settings.bootID)
        if memory.schedule != text {
            // A new schedule has no missed starts in the past.
            memory.schedule = text
            memory.scheduledSince = now.unix
            if schedule.isOfBoot {
                memory.scheduledSince = now.wallOffset.subtractingClamped(1)
                memory.lastServedTime = nil
            }
        }
        var rules = schedule.rules(identifier: memory.identifier, machine: settings.machineID)
        memory.clampToClock(rules.offset.scheduledTime(now.unix), now, schedule)
        if memory != before {
            remember(memory, entry: entry, now: now)
            effects.append(.commit([.remembered(memory)]))
        }
        // A start within the tolerance is not late.
        let tolerance = catalog.tasks[pendingIndex.entries[entry].definition].toleranceNanoseconds
        rules.onTime = rules.onTime.addingClamped(tolerance)
        do throws(RecurrenceError) {
            schedules[entry] = ActiveSchedule(
                recurrence: try schedule.recurrence(since: memory.scheduledSince ?? now.unix),
                rules: rules,
                isCalendar: schedule.isCalendar
            )
        } catch {
            schedules[entry] = nil
            let why = error.description
            effects.append(.log(.unscheduled(task: memory.identifier, why: why)))
        }
    }

    /// Submits the next request of a schedule: an overdue one if there is one, otherwise the one
    /// for its next time.
    ///
    /// A pending request of the schedule that serves this start already stays.
    ///
    /// - Parameter hasWaited: whether the daemon was running when the time of the pending request came.
    mutating func submitNext(
        entry: Int,
        hasWaited: Bool = false,
        now: Moment,
        _ effects: inout [SchedulerEffect]
    ) {
        guard let schedule = schedules[entry], !isDraining else { return }
        let memory = memory(of: entry)
        // The one time of this boot was served, or withdrawn before its delay was over.
        if TaskSchedule.isOfBoot(memory.schedule), memory.lastServedTime != nil { return }
        let pending = ownPending(entry)
        if let pending, keepsWaiting(pending, entry: entry, hasWaited: hasWaited, now: now) {
            return
        }
        let plan = schedule.plan(memory, now: now)
        var changes: [StoreChange] = []
        if plan.times.isEmpty, plan.missedCount > 0 {
            changes = skipMissed(plan, entry: entry, now: now, &effects)
        }
        guard let scheduledTime = plan.times.first ?? plan.next else {
            if !changes.isEmpty { effects.append(.commit(changes)) }
            let why = "it never comes again"
            effects.append(.log(.unscheduled(task: memory.identifier, why: why)))
            return
        }
        let missed = missedStarts(plan, schedule, now: now)
        if let pending, pending.scheduledTime == scheduledTime {
            if !changes.isEmpty { effects.append(.commit(changes)) }
            // The same start is late once, however often bghost starts again while it waits.
            guard let missed, pending.missed == nil, !hasWaited else { return }
            return markLate(pending, missed, entry: entry, now: now, &effects)
        }
        // The starts of a paused task are noted when its request is dropped.
        if let missed, !isPaused(entry: entry),
            let missed = schedule.unreported(missed, since: pending)
        {
            effects.append(.log(.missed(task: memory.identifier, missed, isMadeUpFor: true)))
            let row = missedStarts(missed, task: memory.identifier, isMadeUpFor: true, now: now)
            changes.append(.startSkipped(row))
        }
        submitOwn(
            entry: entry,
            scheduledTime: scheduledTime,
            missed: missed,
            with: changes,
            now: now,
            &effects
        )
    }

    /// Notes that missed starts get no run, once.
    ///
    /// - Returns: the changes to store.
    private mutating func skipMissed(
        _ plan: MisfirePlan,
        entry: Int,
        now: Moment,
        _ effects: inout [SchedulerEffect]
    ) -> [StoreChange] {
        var memory = memory(of: entry)
        let missed = MissedStarts(count: plan.missedCount, from: plan.missedFrom ?? now.unix)
        effects.append(.log(.missed(task: memory.identifier, missed, isMadeUpFor: false)))
        let row = missedStarts(missed, task: memory.identifier, isMadeUpFor: false, now: now)
        // Otherwise each further start of bghost would count them again.
        memory.lastServedTime = plan.lastServedTime
        remember(memory, entry: entry, now: now)
        return [.startSkipped(row), .remembered(memory)]
    }

    /// The missed starts that a request for the first time of a plan makes up for.
    private func missedStarts(
        _ plan: MisfirePlan,
        _ schedule: ActiveSchedule,
        now: Moment
    ) -> MissedStarts? {
        guard let first = plan.times.first else { return nil }
        // A late start also counts as missed.
        let late = now.unix.subtractingClamped(schedule.start(of: first))
        let count = plan.missedCount + (late > schedule.rules.onTime ? 1 : 0)
        return count > 0 ? MissedStarts(count: count, from: plan.missedFrom ?? first) : nil
    }

    /// The start of a time of the schedule, with its random delay, and its latest begin date.
    mutating func dates(
        of time: Int64,
        missed: MissedStarts?,
        replacing pending: Request?,
        entry: Int,
        now: Moment
    ) -> (start: Int64, latest: Int64?) {
        guard let schedule = schedules[entry] else { return (time, nil) }
        var start = schedule.start(of: time)
        if schedule.rules.randomDelay > 0 {
            start = randomStart(
                missed == nil ? start : max(start, now.unix),
                upTo: schedule.rules.randomDelay,
                replacing: pending,
                now: now
            )
        }
        // It counts from the start, so that a late request has no more time than one in time.
        return (start, schedule.deadline(ofStart: start))
    }

    private mutating func submitOwn(
        entry: Int,
        scheduledTime: Int64?,
        missed: MissedStarts?,
        with others: [StoreChange] = [],
        now: Moment,
        _ effects: inout [SchedulerEffect]
    ) {
        let index = pendingIndex.entries[entry].definition
        let task = catalog.tasks[index]
        let dates = scheduledTime.map {
            self.dates(of: $0, missed: missed, replacing: nil, entry: entry, now: now)
        }
        var request = Request(
            id: nextID(now),
            task: pendingIndex.entries[entry].identifier,
            parameters: "{}",
            submittedAt: now.unix,
            earliestBegin: dates?.start,
            latestBegin: dates?.latest,
            tolerance: task.toleranceNanoseconds,
            priority: task.priority,
            scheduledTime: scheduledTime,
            missed: missed,
            submitter: .manifest
        )
        chooseStart(&request, task: index, entry: entry, now: now)
        let replaced = pendingIndex.entries[entry].pending?.id
        effects.append(.commit([.accepted(request, replacing: replaced)] + others))
        enqueue(request, entry: entry, now: now, &effects)
    }

    /// Delays a start by a random part of a duration, nanoseconds.
    ///
    /// - Parameter pending: the request that serves the same time already. Its date stands, so that
    ///   restarts neither advance nor postpone the start; but a date that passed while bghost could not
    ///   run does not spread the starts of several machines.
    private mutating func randomStart(
        _ start: Int64,
        upTo longest: Int64,
        replacing pending: Request?,
        now: Moment
    ) -> Int64 {
        if let pending, let date = pending.earliestBegin,
            date > now.unix || pending.missed != nil
        {
            return date
        }
        var random = random
        defer { self.random = random }
        return start.addingClamped(Int64.random(in: 0...longest, using: &random))
    }

    /// Records that a request has left the queue, because it started or ended without a run.
    ///
    /// - Returns: the changes to store in the same transaction, so that its time is not served
    ///   twice.
    mutating func recordServedTime(_ request: Request, entry: Int, now: Moment) -> [StoreChange] {
        guard let scheduledTime = request.scheduledTime, !request.isRetry else { return [] }
        var memory = memory(of: entry)
        let schedule = schedules[entry]
        let isWithdrawn =
            !TaskSchedule.isOfBoot(memory.schedule)
            && schedule?.start(of: scheduledTime) ?? scheduledTime > now.unix
        // After a clock step, the times of an interval are never the same as before, so only those are recorded
        // that were withdrawn before they came. A time of a former calendar may come again with it.
        if isWithdrawn || schedule?.isCalendar ?? true
            || schedule?.recurrence.contains(scheduledTime) == false
        {
            memory.served.insert(
                scheduledTime,
                before: schedule?.recurrence.last(before: scheduledTime)
            )
        }
        // A last time in the future comes from a clock that was wrong, and never from a withdrawn time.
        let last = memory.lastServedTime ?? .min
        if !isWithdrawn, scheduledTime > last || last > now.unix {
            memory.lastServedTime = scheduledTime
        }
        remember(memory, entry: entry, now: now)
        return [.remembered(memory)]
    }

    /// Submits a schedule's next request after the previous one has left the queue.
    mutating func submitNextScheduled(
        after request: Request,
        entry: Int,
        now: Moment,
        _ effects: inout [SchedulerEffect]
    ) {
        guard !request.isManual, !request.isRetry, schedules[entry] != nil,
            pendingIndex.entries[entry].pending == nil
        else { return }
        submitNext(entry: entry, now: now, &effects)
    }
}
