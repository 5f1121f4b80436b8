// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostCalendar
internal import BghostModel

/// The request that serves a start of a schedule.
///
/// It keeps its id as long as it serves the same start, and belongs to its submitter: only requests that the
/// manifest submitted are replaced, dropped or withdrawn with the schedule.
extension Request {
    /// Whether the manifest submitted it for a time of its schedule.
    ///
    /// A client's request that has taken over the dates of such a request also has a `scheduledTime`. It counts
    /// as serving that time, but the client was promised its run.
    var isOfSchedule: Bool { scheduledTime != nil && submitter == .manifest }

    /// The same request for the same start, after the times of its interval have moved, nanoseconds.
    fileprivate func movedStart(by step: Int64) -> Request {
        var request = self
        request.scheduledTime = scheduledTime?.addingClamped(step)
        request.earliestBegin = earliestBegin?.addingClamped(step)
        request.latestBegin = latestBegin?.addingClamped(step)
        request.chosenStart = chosenStart?.addingClamped(step)
        request.missed = missed.map {
            MissedStarts(count: $0.count, from: $0.from.addingClamped(step))
        }
        // Its age stays; otherwise it would seem to be submitted later than it is due.
        if isOfSchedule { request.submittedAt = submittedAt.addingClamped(step) }
        return request
    }
}

extension ActiveSchedule {
    /// The start that belongs to a time, without a random delay.
    func start(of time: Int64) -> Int64 { rules.offset.start(of: time) ?? time }

    /// Whether the missed starts of a request include its own, because that was late.
    func countsItself(_ request: Request) -> Bool {
        guard let missed = request.missed, let time = request.scheduledTime else { return false }
        let before = missed.from.subtractingClamped(1)
        return missed.count >= max(1, recurrence.count(after: before, through: time))
    }

    /// The missed starts that no row of the history has yet.
    ///
    /// - Parameter pending: the request whose place a new one takes; its missed starts have a row.
    func unreported(_ missed: MissedStarts, since pending: Request?) -> MissedStarts? {
        guard let pending, let known = pending.missed, let time = pending.scheduledTime else {
            return missed
        }
        let count = missed.count - known.count
        guard count > 0 else { return nil }
        let from = countsItself(pending) ? recurrence.next(after: time) : time
        return MissedStarts(count: count, from: from ?? missed.from)
    }
}

extension Scheduler {
    /// The pending request of an entry, if the manifest submitted it for a time of its schedule.
    func ownPending(_ entry: Int) -> Request? {
        pendingIndex.entries[entry].pending.flatMap { $0.isOfSchedule ? $0 : nil }
    }

    /// Whether the pending request of a schedule has waited since its time came, so that it is neither missed
    /// nor replaced by the request of a later time.
    ///
    /// - Parameter hasWaited: whether the daemon was running when the time came.
    func keepsWaiting(_ pending: Request, entry: Int, hasWaited: Bool, now: Moment) -> Bool {
        guard hasWaited, let time = pending.scheduledTime, hasCome(pending, entry, at: now.unix)
        else { return false }
        // A time before the last one comes from a clock that was behind.
        return time > memory(of: entry).lastServedTime ?? .min
    }

    /// Marks the pending request of a schedule as late, because bghost could not run when its time came.
    ///
    /// Its deadline counts from its start, and so does not move. Only a random delay is drawn again.
    mutating func markLate(
        _ pending: Request,
        _ missed: MissedStarts,
        entry: Int,
        now: Moment,
        _ effects: inout [SchedulerEffect]
    ) {
        var request = pending
        request.missed = missed
        if let time = request.scheduledTime, schedules[entry]?.rules.randomDelay ?? 0 > 0 {
            let dates = dates(of: time, missed: missed, replacing: pending, entry: entry, now: now)
            (request.earliestBegin, request.latestBegin) = (dates.start, dates.latest)
        }
        var changes: [StoreChange] = [.moved(request)]
        // The starts of a paused task are noted when its request is dropped.
        if !isPaused(entry: entry) {
            effects.append(.log(.missed(task: request.task, missed, isMadeUpFor: true)))
            let row = missedStarts(missed, task: request.task, isMadeUpFor: true, now: now)
            changes.append(.startSkipped(row))
        }
        effects.append(.commit(changes))
        pendingIndex.revise(request, entry: entry, now: now.unix)
    }

    /// Gives the request of a future time the dates and the priority of the manifest in force.
    ///
    /// - Parameters:
    ///   - known: the request that was pending before; one that was submitted since then has them.
    ///   - former: the schedule under which it was submitted; `nil` after a start of the daemon.
    ///   - isSameSchedule: whether the times of the schedule are those of before.
    mutating func followDefinition(
        _ known: Request,
        entry: Int,
        former: ActiveSchedule? = nil,
        isSameSchedule: Bool,
        now: Moment,
        _ effects: inout [SchedulerEffect]
    ) {
        guard let pending = ownPending(entry), pending.id == known.id,
            let schedule = schedules[entry], let time = pending.scheduledTime,
            let earliest = pending.earliestBegin, !hasCome(pending, entry, at: now.unix)
        else { return }
        let index = pendingIndex.entries[entry].definition
        var request = pending
        if let former {
            // What was drawn for this start stands.
            let drawn = max(0, earliest.subtractingClamped(former.start(of: time)))
            request.earliestBegin = schedule.start(of: time).addingClamped(drawn)
        } else if !isSameSchedule {
            let dates = dates(of: time, missed: nil, replacing: nil, entry: entry, now: now)
            request.earliestBegin = dates.start
        }
        request.latestBegin = request.earliestBegin.flatMap { schedule.deadline(ofStart: $0) }
        request.tolerance = catalog.tasks[index].toleranceNanoseconds
        request.priority = catalog.tasks[index].priority
        if request.earliestBegin != earliest || request.tolerance != pending.tolerance {
            request.chosenStart = nil
            chooseStart(&request, task: index, entry: entry, now: now)
        }
        guard request != pending else { return }
        effects.append(.commit([.moved(request)]))
        pendingIndex.revise(request, entry: entry, now: now.unix)
    }

    /// Moves the pending request of an interval by as much as its times have moved.
    ///
    /// It is then for the same start under the new clock, also if a client submitted it.
    mutating func followInterval(
        entry: Int,
        from former: TaskMemory,
        now: Moment,
        _ effects: inout [SchedulerEffect]
    ) {
        let memory = memory(of: entry)
        guard schedules[entry]?.isCalendar == false, memory.schedule == former.schedule,
            let since = memory.scheduledSince, let before = former.scheduledSince, since != before,
            let pending = pendingIndex.entries[entry].pending, pending.scheduledTime != nil
        else { return }
        let request = pending.movedStart(by: since.subtractingClamped(before))
        effects.append(.commit([.moved(request)]))
        pendingIndex.revise(request, entry: entry, now: now.unix)
    }

    /// Takes back what a clock that was ahead has left of a calendar, so that its times count from now on.
    ///
    /// Otherwise a time that comes now would be taken for served until the clock reaches that time again. A clock
    /// that is not trusted changes nothing: it may be behind, and the stored time right.
    mutating func followClockBack(entry: Int, now: Moment, _ effects: inout [SchedulerEffect]) {
        guard gates.clock == nil, let schedule = schedules[entry], schedule.isCalendar,
            var memory = memories[entry]
        else { return }
        let waiting = ownPending(entry)?.scheduledTime
        guard memory.limitCalendar(schedule.rules.offset, waiting: waiting, now: now) else {
            return
        }
        remember(memory, entry: entry, now: now)
        effects.append(.commit([.remembered(memory)]))
    }

    /// Makes a client's request that came due in a pause wait for its end, and drops only the start of the
    /// schedule whose dates it has taken over.
    mutating func keepPaused(
        _ request: Request,
        entry: Int,
        now: Moment,
        _ effects: inout [SchedulerEffect]
    ) {
        let changes = recordServedTime(request, entry: entry, now: now)
        var request = request
        request.scheduledTime = nil
        request.missed = nil
        effects.append(.commit([.moved(request)] + changes))
        // Nothing is pending: the index has just withdrawn this request.
        _ = pendingIndex.accept(request, entry: entry, now: now.unix)
    }
}

extension ActiveSchedule {
    /// The latest begin date of a start; `nil` if it has no deadline.
    func deadline(ofStart start: Int64) -> Int64? {
        guard let deadline = rules.startDeadline else { return nil }
        let (date, overflow) = start.addingReportingOverflow(deadline)
        return overflow ? nil : date
    }
}

extension TaskMemory {
    /// Limits the last time of a calendar, and that of its last edit, if they are ahead of the clock.
    ///
    /// - Parameter time: the time for which a request waits: it was neither served nor edited.
    /// - Returns: whether that changed anything.
    fileprivate mutating func limitCalendar(
        _ offset: StableOffset,
        waiting time: Int64?,
        now: Moment
    ) -> Bool {
        let before = self
        let present = offset.scheduledTime(now.unix)
        let limit = min(present, time?.subtractingClamped(1) ?? .max)
        if let last = lastServedTime, last > present {
            // An older version may have stored it without the served times.
            if !served.contains(last) { served.insert(last, before: nil) }
            lastServedTime = limit
        }
        if let since = scheduledSince, since > now.unix {
            scheduledSince = min(now.unix, offset.start(of: limit) ?? .max)
        }
        return self != before
    }
}

extension PendingRequestIndex {
    /// Changes the dates of the pending request of an entry, which keeps its place among the others.
    mutating func revise(_ request: Request, entry: Int, now: Int64) {
        guard let pending = entries.pending(entry), pending.id == request.id else { return }
        let row = entries.rows[entry]
        let isMoved = pending.begin != request.begin || pending.priority != request.priority
        let rank = isMoved ? RequestRank.moved(row.rank, of: request, now: now) : row.rank
        entries.setPending(request, rank: rank, of: entry)
        enqueueIfReady(entry, now: now)
    }

    /// Whether the date of the pending request has come by an event before this one.
    ///
    /// A date that a clock step or a sleep has passed still has its alarm.
    func hasFallenDue(_ entry: Int) -> Bool {
        guard let begin = entries.pending(entry)?.begin else { return false }
        let alarm = entries.rows[entry].alarm
        return alarm == RequestRow.noAlarm || alarm > UInt64(max(1, begin))
    }
}
