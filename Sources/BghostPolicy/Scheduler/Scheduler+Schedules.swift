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
            isTaken: { isCalendar && memory.served.contains($0) },
            takenThrough: { memory.served.end(ofRangeWith: $0) ?? $0 }
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
                adoptSchedule(schedule, entry: entry, now: now, &effects)
                let isOwn =
                    pendingIndex.entries[entry].pending.map { $0.scheduledTime != nil } ?? true
                if isOwn { submitNext(entry: entry, now: now, &effects) }
            } else {
                dropSchedule(of: entry, now: now, &effects)
            }
            if task.submitAtStart { submitAtStart(entry: entry, now: now, &effects) }
        }
    }

    /// Submits a request of a task, unless one is pending.
    mutating func submitAtStart(entry: Int, now: Moment, _ effects: inout [SchedulerEffect]) {
        guard pendingIndex.entries.pendingOrAppended(entry) == nil else { return }
        submitOwn(entry: entry, scheduledTime: nil, missed: nil, now: now, &effects)
    }

    /// Adopts the schedule of a task that a new manifest has changed.
    ///
    /// A pending request that is due keeps its run under the old schedule. A pending request with a date in
    /// the future is replaced by one for the next time of the new schedule.
    mutating func replaceSchedule(
        _ schedule: TaskSchedule,
        entry: Int,
        now: Moment,
        _ effects: inout [SchedulerEffect]
    ) {
        let before = memory(of: entry).schedule
        let isDue = pendingIndex.entries[entry].pending.map { hasCome($0, entry, now: now) }
        adoptSchedule(schedule, entry: entry, now: now, &effects)
        if let pending = pendingIndex.entries[entry].pending, let isDue {
            // A task that was parked meanwhile had no schedule for that time.
            let isKept =
                isDue && !before.isEmpty || before == schedule.text(boot: settings.bootID)
            guard pending.scheduledTime != nil, !isKept else { return }
        }
        submitNext(entry: entry, now: now, &effects)
    }

    /// Removes the schedule of a task, with its future request.
    mutating func dropSchedule(of entry: Int, now: Moment, _ effects: inout [SchedulerEffect]) {
        let isDue = pendingIndex.entries[entry].pending.map { hasCome($0, entry, now: now) }
        schedules[entry] = nil
        var changes: [StoreChange] = []
        // If the schedule comes back, the time of its absence must not count as missed.
        if var memory = memories[entry], memory.endSchedule() {
            remember(memory, entry: entry, now: now)
            changes.append(.remembered(memory))
        }
        if let pending = pendingIndex.entries[entry].pending, pending.scheduledTime != nil,
            isDue == false
        {
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

    /// Whether the time of a request has come; it may still wait for its random delay.
    private func hasCome(_ request: Request, _ entry: Int, now: Moment) -> Bool {
        let start = request.scheduledTime.flatMap { schedules[entry]?.rules.offset.start(of: $0) }
        return min(start ?? .max, request.earliestBegin ?? .min) <= now.unix
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
    mutating func submitNext(entry: Int, now: Moment, _ effects: inout [SchedulerEffect]) {
        guard let schedule = schedules[entry], !isDraining else { return }
        let memory = memory(of: entry)
        // The one time of this boot was served, or withdrawn before its delay was over.
        if TaskSchedule.isOfBoot(memory.schedule), memory.lastServedTime != nil { return }
        let plan = schedule.plan(memory, now: now)
        let identifier = memory.identifier
        var skipped: SkippedStart?
        if plan.times.isEmpty, plan.missedCount > 0 {
            let missed = MissedStarts(count: plan.missedCount, from: plan.missedFrom ?? now.unix)
            effects.append(.log(.missed(task: identifier, missed, isMadeUpFor: false)))
            skipped = missedStarts(missed, task: identifier, isMadeUpFor: false, now: now)
        }
        guard let scheduledTime = plan.times.first ?? plan.next else {
            let why = "it never comes again"
            effects.append(.log(.unscheduled(task: identifier, why: why)))
            return
        }
        var missed: MissedStarts?
        if let first = plan.times.first {
            // A late start also counts as missed.
            let start = schedule.rules.offset.start(of: first) ?? first
            let isLate = now.unix.subtractingClamped(start) > schedule.rules.onTime
            let count = plan.missedCount + (isLate ? 1 : 0)
            if count > 0 { missed = MissedStarts(count: count, from: plan.missedFrom ?? first) }
        }
        // A request that waits since before a restart continues to wait.
        guard missed != nil || pendingIndex.entries[entry].pending?.scheduledTime != scheduledTime
        else { return }
        // The starts of a paused task are noted when its request is dropped.
        if let missed, !isPaused(entry: entry) {
            effects.append(.log(.missed(task: identifier, missed, isMadeUpFor: true)))
            skipped = missedStarts(missed, task: identifier, isMadeUpFor: true, now: now)
        }
        submitOwn(
            entry: entry,
            scheduledTime: scheduledTime,
            missed: missed,
            skipped: skipped,
            now: now,
            &effects
        )
    }

    private mutating func submitOwn(
        entry: Int,
        scheduledTime: Int64?,
        missed: MissedStarts?,
        skipped: SkippedStart? = nil,
        now: Moment,
        _ effects: inout [SchedulerEffect]
    ) {
        let index = pendingIndex.entries[entry].definition
        let task = catalog.tasks[index]
        let rules = schedules[entry]?.rules
        var start = scheduledTime.map { rules?.offset.start(of: $0) ?? $0 }
        if let time = start, let longest = rules?.randomDelay, longest > 0 {
            start = randomStart(
                missed == nil ? time : max(time, now.unix),
                upTo: longest,
                replacing: pendingIndex.entries[entry].pending.flatMap {
                    $0.scheduledTime == scheduledTime ? $0 : nil
                },
                now: now
            )
        }
        var latest: Int64?
        if let start, let deadline = rules?.startDeadline {
            let (date, overflow) = max(start, now.unix).addingReportingOverflow(deadline)
            latest = overflow ? nil : date
        }
        var request = Request(
            id: nextID(now),
            task: pendingIndex.entries[entry].identifier,
            parameters: "{}",
            submittedAt: now.unix,
            earliestBegin: start,
            latestBegin: latest,
            tolerance: task.toleranceNanoseconds,
            priority: task.priority,
            scheduledTime: scheduledTime,
            missed: missed,
            submitter: .manifest
        )
        chooseStart(&request, task: index, entry: entry, now: now)
        let replaced = pendingIndex.entries[entry].pending?.id
        var changes: [StoreChange] = [.accepted(request, replacing: replaced)]
        if let skipped { changes.append(.startSkipped(skipped)) }
        effects.append(.commit(changes))
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
        // After a clock step, the times of an interval are never the same as before, so only
        // calendar times are recorded.
        if schedules[entry]?.isCalendar ?? true {
            memory.served.insert(
                scheduledTime,
                before: schedules[entry]?.recurrence.last(before: scheduledTime)
            )
        }
        // A last time in the future comes from a clock that was wrong.
        if scheduledTime > memory.lastServedTime ?? .min || memory.lastServedTime ?? .min > now.unix
        {
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
