// SPDX-License-Identifier: Apache-2.0

internal import BghostCore
internal import BghostLinux
internal import BghostStore

/// A task's schedule, ready to be asked.
struct ActiveSchedule {
    let recurrence: Recurrence
    let rules: MisfirePlan.Rules
}

/// Schedules: requests that the manifest submits.
///
/// A schedule is sugar for a submission of the next time whenever one begins. It has no way of its
/// own past the one pending request, holds or slots.
extension Host {
    /// Takes up the schedules of the manifest, and what was missed while no daemon ran.
    func startSchedules() {
        for (index, task) in configuration.manifest.tasks.enumerated()
        where !task.identifier.isFamily {
            let entry = entry(for: task.identifier.description, definition: index)
            if let schedule = task.schedule { take(up: schedule, entry: entry) }
            if schedules[entry] != nil, book.entries[entry].pending.map({ $0.slot != nil }) ?? true
            {
                submitNext(entry: entry)
            }
            if task.submitAtStart, book.entries[entry].pending == nil {
                submitOwn(entry: entry, slot: nil, missed: nil)
            }
        }
        dispatch()
    }

    private func take(up schedule: TaskSchedule, entry: Int) {
        let now = WallClock.now
        var memory = memory(of: entry)
        if memory.schedule != schedule.text {
            // A new time does not come due for the past, in which it was not wanted.
            memory.schedule = schedule.text
            memory.scheduledSince = now
            remember(memory, entry: entry)
            commit([.remembered(memory)])
        }
        do throws(RecurrenceError) {
            schedules[entry] = ActiveSchedule(
                recurrence: try schedule.recurrence(since: memory.scheduledSince ?? now),
                rules: schedule.rules(identifier: memory.identifier, machine: machineID)
            )
        } catch {
            log.write(.error, "task.unscheduled", error.description, task: memory.identifier)
        }
    }

    /// Submits the request of a schedule that is to begin next: one that is overdue, or else the one
    /// of its next time.
    func submitNext(entry: Int) {
        guard let schedule = schedules[entry], !isDraining else { return }
        let now = WallClock.now
        let memory = memory(of: entry)
        let plan = MisfirePlan(
            schedule.recurrence,
            history: MisfirePlan.History(
                lastSlot: memory.lastSlot,
                editedAt: memory.scheduledSince
            ),
            now: now,
            rules: schedule.rules
        )
        if plan.slots.isEmpty, plan.missedCount > 0 {
            log.write(
                .warning,
                "task.missed",
                "\(plan.missedCount) times of its schedule went by and are not made up for",
                task: memory.identifier
            )
        }
        guard let slot = plan.slots.first ?? plan.next else {
            log.write(.info, "task.unscheduled", "it never comes again", task: memory.identifier)
            return
        }
        var missed: MissedSlots?
        if let first = plan.slots.first {
            // One that runs late stands for itself too.
            let isLate =
                now - (schedule.rules.offset.start(of: first) ?? first) > schedule.rules.onTime
            let count = plan.missedCount + (isLate ? 1 : 0)
            if count > 0 { missed = MissedSlots(count: count, from: plan.missedFrom ?? first) }
        }
        // What waits from before a restart goes on waiting.
        guard missed != nil || book.entries[entry].pending?.slot != slot else { return }
        if let missed {
            log.write(
                .warning,
                "task.missed",
                "one run stands for \(missed.count) times since"
                    + " \(Timestamp.text(unixNanoseconds: missed.from))",
                task: memory.identifier
            )
        }
        submitOwn(entry: entry, slot: slot, missed: missed)
    }

    private func submitOwn(entry: Int, slot: Int64?, missed: MissedSlots?) {
        let task = configuration.manifest.tasks[book.entries[entry].definition]
        let rules = schedules[entry]?.rules
        let start = slot.map { rules?.offset.start(of: $0) ?? $0 }
        var latest: Int64?
        if let start, let deadline = rules?.startDeadline {
            let (date, overflow) = max(start, WallClock.now).addingReportingOverflow(deadline)
            latest = overflow ? nil : date
        }
        let request = Request(
            id: nextID(),
            task: book.entries[entry].identifier,
            parameters: "{}",
            submittedAt: WallClock.now,
            earliestBegin: start,
            latestBegin: latest,
            priority: task.priority,
            slot: slot,
            missed: missed,
            submitter: .manifest
        )
        commit([.accepted(request, replacing: book.entries[entry].pending?.id)])
        if let replaced = book.accept(request, entry: entry, now: WallClock.now) {
            resumeWaiters(of: replaced.id, with: nil)
        }
        armRequests()
    }

    /// A request of an entry has left the queue: by its begin, or without a run.
    ///
    /// - Returns: what is to be kept in the same transaction, so that its time is not served twice.
    func leave(_ request: Request, entry: Int) -> [StoreChange] {
        guard let slot = request.slot, !request.isRetry else { return [] }
        var memory = memory(of: entry)
        guard slot > memory.lastSlot ?? .min else { return [] }
        memory.lastSlot = slot
        remember(memory, entry: entry)
        return [.remembered(memory)]
    }

    /// Has a schedule go on after a request has left the queue.
    func goOn(after request: Request, entry: Int) {
        guard !request.isSimulated, !request.isRetry, schedules[entry] != nil,
            book.entries[entry].pending == nil
        else { return }
        submitNext(entry: entry)
    }
}
