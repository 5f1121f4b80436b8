// SPDX-License-Identifier: Apache-2.0

/// A task's schedule, ready to be asked.
struct ActiveSchedule: Sendable {
    let recurrence: Recurrence
    let rules: MisfirePlan.Rules

    /// What has come of it and what comes next.
    func plan(_ memory: TaskMemory, now: Moment) -> MisfirePlan {
        MisfirePlan(
            recurrence,
            history: MisfirePlan.History(
                lastSlot: memory.lastSlot,
                editedAt: memory.scheduledSince
            ),
            now: now.unix,
            rules: rules,
            isTaken: memory.served.contains
        )
    }
}

/// Schedules: requests that the manifest submits.
///
/// A schedule is sugar for a submission of the next time whenever one begins. It has no way of its
/// own past the one pending request, holds or slots.
extension Scheduler {
    mutating func startSchedules(now: Moment, _ effects: inout [SchedulerEffect]) {
        for index in catalog.currentTasks where !catalog.tasks[index].identifier.isFamily {
            let task = catalog.tasks[index]
            let entry = entry(for: task.identifier.description, task: index)
            if let schedule = task.schedule {
                take(up: schedule, entry: entry, now: now, &effects)
                let isOwn = book.entries[entry].pending.map { $0.slot != nil } ?? true
                if isOwn { submitNext(entry: entry, now: now, &effects) }
            } else {
                dropSchedule(of: entry, now: now, &effects)
            }
            if task.submitAtStart { submitAtStart(entry: entry, now: now, &effects) }
        }
    }

    /// Submits a request of a task, unless one is pending.
    mutating func submitAtStart(entry: Int, now: Moment, _ effects: inout [SchedulerEffect]) {
        guard book.entries[entry].pending == nil else { return }
        submitOwn(entry: entry, slot: nil, missed: nil, now: now, &effects)
    }

    /// Takes up the schedule of a task that another manifest has changed while the scheduler ran.
    ///
    /// A request whose time has come was promised under the schedule that was in force, so it keeps
    /// its run; one whose time was yet to come gives way to the next time of the new schedule.
    mutating func retake(
        _ schedule: TaskSchedule,
        entry: Int,
        now: Moment,
        _ effects: inout [SchedulerEffect]
    ) {
        let before = memory(of: entry).schedule
        take(up: schedule, entry: entry, now: now, &effects)
        if let pending = book.entries[entry].pending {
            let isDue = pending.earliestBegin ?? .min <= now.unix
            // One that was parked meanwhile was promised nothing for that time.
            let isKept = isDue && !before.isEmpty || before == schedule.text
            guard pending.slot != nil, !isKept else { return }
        }
        submitNext(entry: entry, now: now, &effects)
    }

    /// A task has no schedule, or none any more: what it would have brought does not come.
    mutating func dropSchedule(of entry: Int, now: Moment, _ effects: inout [SchedulerEffect]) {
        schedules[entry] = nil
        var changes: [StoreChange] = []
        // Should it come back, it does not come due for the time of its absence.
        if var memory = memories[entry], !memory.schedule.isEmpty {
            memory.schedule = ""
            memory.scheduledSince = nil
            remember(memory, entry: entry, now: now)
            changes.append(.remembered(memory))
        }
        if let pending = book.entries[entry].pending, pending.slot != nil,
            pending.earliestBegin ?? .min > now.unix
        {
            _ = book.withdraw(entry: entry)
            // Its time is not served by this: the schedule may be back before it.
            changes.append(.closed(pending.id, .cancelled))
            effects.append(.note(.ended(pending, .cancelled)))
            effects.append(.ended(pending.id))
            book.retry(entry: entry, now: now.unix)
        }
        if !changes.isEmpty { effects.append(.commit(changes)) }
    }

    mutating func take(
        up schedule: TaskSchedule,
        entry: Int,
        now: Moment,
        _ effects: inout [SchedulerEffect]
    ) {
        var memory = memory(of: entry)
        if memory.schedule != schedule.text {
            // A new time does not come due for the past, in which it was not wanted.
            memory.schedule = schedule.text
            memory.scheduledSince = now.unix
            remember(memory, entry: entry, now: now)
            effects.append(.commit([.remembered(memory)]))
        }
        var rules = schedule.rules(identifier: memory.identifier, machine: settings.machineID)
        // What may begin later is not late as long as it may.
        let tolerance = catalog.tasks[book.entries[entry].definition].toleranceNanoseconds
        rules.onTime = rules.onTime.addingClamped(tolerance)
        do throws(RecurrenceError) {
            schedules[entry] = ActiveSchedule(
                recurrence: try schedule.recurrence(since: memory.scheduledSince ?? now.unix),
                rules: rules
            )
        } catch {
            schedules[entry] = nil
            let why = error.description
            effects.append(.note(.unscheduled(task: memory.identifier, why: why)))
        }
    }

    /// Submits the request of a schedule that is to begin next: one that is overdue, or else the one
    /// of its next time.
    mutating func submitNext(entry: Int, now: Moment, _ effects: inout [SchedulerEffect]) {
        guard let schedule = schedules[entry], !isDraining else { return }
        let memory = memory(of: entry)
        let plan = schedule.plan(memory, now: now)
        let identifier = memory.identifier
        if plan.slots.isEmpty, plan.missedCount > 0 {
            let missed = MissedSlots(count: plan.missedCount, from: plan.missedFrom ?? now.unix)
            effects.append(.note(.missed(task: identifier, missed, isMadeUpFor: false)))
        }
        guard let slot = plan.slots.first ?? plan.next else {
            let why = "it never comes again"
            effects.append(.note(.unscheduled(task: identifier, why: why)))
            return
        }
        var missed: MissedSlots?
        if let first = plan.slots.first {
            // One that runs late stands for itself too.
            let start = schedule.rules.offset.start(of: first) ?? first
            let isLate = now.unix.subtractingClamped(start) > schedule.rules.onTime
            let count = plan.missedCount + (isLate ? 1 : 0)
            if count > 0 { missed = MissedSlots(count: count, from: plan.missedFrom ?? first) }
        }
        // What waits from before a restart goes on waiting.
        guard missed != nil || book.entries[entry].pending?.slot != slot else { return }
        if let missed {
            effects.append(.note(.missed(task: identifier, missed, isMadeUpFor: true)))
        }
        submitOwn(entry: entry, slot: slot, missed: missed, now: now, &effects)
    }

    private mutating func submitOwn(
        entry: Int,
        slot: Int64?,
        missed: MissedSlots?,
        now: Moment,
        _ effects: inout [SchedulerEffect]
    ) {
        let index = book.entries[entry].definition
        let task = catalog.tasks[index]
        let rules = schedules[entry]?.rules
        let start = slot.map { rules?.offset.start(of: $0) ?? $0 }
        var latest: Int64?
        if let start, let deadline = rules?.startDeadline {
            let (date, overflow) = max(start, now.unix).addingReportingOverflow(deadline)
            latest = overflow ? nil : date
        }
        var request = Request(
            id: nextID(now),
            task: book.entries[entry].identifier,
            parameters: "{}",
            submittedAt: now.unix,
            earliestBegin: start,
            latestBegin: latest,
            tolerance: task.toleranceNanoseconds,
            priority: task.priority,
            slot: slot,
            missed: missed,
            submitter: .manifest
        )
        aim(&request, task: index, entry: entry, now: now)
        let replaced = book.entries[entry].pending?.id
        effects.append(.commit([.accepted(request, replacing: replaced)]))
        takeIn(request, entry: entry, now: now, &effects)
    }

    /// A request of an entry has left the queue: by its begin, or without a run.
    ///
    /// - Returns: what is to be kept in the same transaction, so that its time is not served twice.
    mutating func leave(_ request: Request, entry: Int, now: Moment) -> [StoreChange] {
        guard let slot = request.slot, !request.isRetry else { return [] }
        var memory = memory(of: entry)
        memory.served.insert(slot, before: schedules[entry]?.recurrence.last(before: slot))
        // A last time from the future is of a clock that was wrong.
        let ahead = (memory.lastSlot ?? .min).subtractingClamped(now.unix)
        if slot > memory.lastSlot ?? .min || ahead > MisfirePlan.Rules().clockBackMax {
            memory.lastSlot = slot
        }
        remember(memory, entry: entry, now: now)
        return [.remembered(memory)]
    }

    /// Has a schedule go on after a request has left the queue.
    mutating func goOn(
        after request: Request,
        entry: Int,
        now: Moment,
        _ effects: inout [SchedulerEffect]
    ) {
        guard !request.isSimulated, !request.isRetry, schedules[entry] != nil,
            book.entries[entry].pending == nil
        else { return }
        submitNext(entry: entry, now: now, &effects)
    }
}
