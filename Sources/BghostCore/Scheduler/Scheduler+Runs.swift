// SPDX-License-Identifier: Apache-2.0

/// Runs: from the request to what follows its end.
extension Scheduler {
    /// Begins the run of a request that the book has given out.
    mutating func begin(
        _ request: Request,
        entry: Int,
        now: Moment,
        _ effects: inout [SchedulerEffect]
    ) {
        let index = book.entries[entry].definition
        let task = catalog.tasks[index]
        epoch += 1
        let record = RunRecord(
            id: nextID(now),
            request: request.id,
            task: request.task,
            plugin: catalog.plugin(ofTask: index).name,
            attempt: request.attempt,
            epoch: epoch,
            limits: task.limits,
            submittedAt: request.submittedAt
        )
        let ticket = running.add(
            RunningTable.Running(
                run: record.id,
                request: request,
                entry: entry,
                task: index,
                begunAt: now.unix
            )
        )
        gates.handlers[catalog.handlerOfTask[index]].running += 1
        let changes = leave(request, entry: entry, now: now)
        do {
            effects.append(
                .begin(
                    RunStart(
                        ticket: ticket,
                        task: index,
                        parameters: try Self.merged(task.parameters, request.parameters),
                        isSimulated: request.isSimulated,
                        record: record,
                        changes: changes
                    )
                )
            )
        } catch {
            var record = record
            record.message = "its parameters cannot be laid over the task's: \(error)"
            failedToBegin(ticket, record, .failed, changes, now: now, &effects)
        }
        goOn(after: request, entry: entry, now: now, &effects)
    }

    private static func merged(_ base: String, _ over: String) throws(JSONError) -> String {
        if over == "{}" { return base }
        if base == "{}" { return over }
        return try JSONText.overlay(base: base, over: over)
    }

    /// A run could not be given to anybody; the record's message says why.
    ///
    /// - Parameter isShortage: for want of something that the machine may have again. That is
    ///   nobody's fault, so its request waits for it, whatever its retries.
    package mutating func couldNotBegin(
        _ start: RunStart,
        _ message: String,
        isShortage: Bool = false,
        now: Moment,
        _ effects: inout [SchedulerEffect]
    ) {
        note(
            isShortage
                ? .shortage(start.ticket, message: message)
                : .couldNotBegin(start.ticket, message: message),
            at: now
        )
        var record = start.record
        record.message = message
        let outcome = isShortage ? Outcome.lost : .failed
        failedToBegin(start.ticket, record, outcome, start.changes, now: now, &effects)
        beginWhatCan(now: now, &effects)
    }

    private mutating func failedToBegin(
        _ ticket: RunTicket,
        _ begun: RunRecord,
        _ outcome: Outcome,
        _ changes: [StoreChange],
        now: Moment,
        _ effects: inout [SchedulerEffect]
    ) {
        guard let run = running.remove(ticket) else { return }
        var record = begun
        record.state = .ended
        record.outcome = outcome
        record.endedAt = now.unix
        let next = next(
            run.request,
            under: run.task,
            after: RetryPolicy.End(outcome: outcome),
            now: now
        )
        effects.append(
            .commitEnd([.began(begun), .ended(record, then: next)] + changes, record)
        )
        left(run, next, now: now, &effects)
    }

    /// A run has ended.
    package mutating func ended(
        _ ticket: RunTicket,
        _ finish: RunFinish,
        now: Moment,
        _ effects: inout [SchedulerEffect]
    ) {
        note(.ended(ticket, finish), at: now)
        guard let run = running.remove(ticket) else { return }
        let next = next(
            run.request,
            under: run.task,
            after: RetryPolicy.End(
                outcome: finish.outcome,
                stopReason: finish.record.stopReason,
                retryAfter: finish.retryAfter,
                wasInDaemon: catalog.plugin(ofTask: run.task).isInDaemon
            ),
            now: now
        )
        var changes: [StoreChange] = [.ended(finish.record, then: next)]
        let owes = !run.request.isSimulated && !finish.isExpirySimulated
        if owes, let memory = settleDebt(of: run.entry, finish, now: now, &effects) {
            changes.append(.remembered(memory))
        }
        if let use = charge(run, finish.record.duration, now: now, &effects) {
            changes.append(.used(use))
        }
        effects.append(.commitEnd(changes, finish.record))
        left(run, next, now: now, &effects)
        beginWhatCan(now: now, &effects)
    }

    /// A run has left its slot.
    private mutating func left(
        _ run: RunningTable.Running,
        _ next: AfterRun,
        now: Moment,
        _ effects: inout [SchedulerEffect]
    ) {
        let group = catalog.pluginOfTask[run.task]
        book.finished(entry: run.entry, group: group, now: now.unix)
        let handler = catalog.handlerOfTask[run.task]
        gates.handlers[handler].running -= 1
        retryRequests(ofHandler: handler, now: now)
        switch next {
        case .consumed: break
        case .again(let request) where !isPermitted(run.entry):
            park([request], now: now, &effects)
        case .again(let request):
            _ = book.accept(request, entry: run.entry, now: now.unix)
            let wait = request.earliestBegin.map { max(0, $0.subtractingClamped(now.unix)) } ?? 0
            effects.append(.note(.again(request, wait: wait)))
        case .dead(let request, let reason):
            effects.append(.note(.dead(request, reason: reason)))
        }
    }

    /// What becomes of a request whose run has ended.
    ///
    /// - Parameter task: the one under whose terms it ran; `nil` if there is none any more.
    mutating func next(
        _ request: Request,
        under task: Int?,
        after end: RetryPolicy.End,
        now: Moment
    ) -> AfterRun {
        let policy = task.map { catalog.tasks[$0].retry } ?? RetryPolicy(backoff: .none)
        var random = random
        defer { self.random = random }
        return policy.next(request, after: end, now: now.unix) { below in
            UInt64.random(in: 0..<below, using: &random)
        }
    }
}
