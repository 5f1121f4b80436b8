// SPDX-License-Identifier: Apache-2.0

package import BghostBase
internal import BghostModel

/// Runs, from the request to the consequences of its end.
extension Scheduler {
    /// Starts the run of a request that the index has selected.
    mutating func startRun(
        _ request: Request,
        entry: Int,
        now: Moment,
        _ effects: inout [SchedulerEffect]
    ) {
        let index = pendingIndex.entries[entry].definition
        let task = catalog.tasks[index]
        let (epoch, partition) = nextEpoch(request, task: index)
        let record = RunRecord(
            id: nextID(now),
            request: request.id,
            task: request.task,
            plugin: catalog.plugin(ofTask: index).name,
            attempt: request.attempt,
            epoch: epoch,
            limits: task.limits,
            submittedAt: request.submittedAt,
            kind: task.kind,
            trace: request.runTrace,
            submitterRun: request.submitter.run
        )
        let handle = running.add(
            RunningTable.Running(
                run: record.id,
                request: request,
                entry: entry,
                task: index,
                begunAt: now.unix,
                partition: partition
            )
        )
        let handler = catalog.handlerOfTask[index]
        gates.handlers[handler].begin()
        followHandler(handler)
        var changes = recordServedTime(request, entry: entry, now: now)
        if let delayed = delayedStart(request, now: now) { changes.append(.startSkipped(delayed)) }
        do {
            effects.append(
                .startRun(
                    RunStart(
                        handle: handle,
                        task: index,
                        parameters: try Self.merged(task.parameters, request.parameters),
                        isManual: request.isManual,
                        due: request.due,
                        firstDue: request.firstDue,
                        record: record,
                        changes: changes
                    )
                )
            )
        } catch {
            var record = record
            record.message = "its parameters cannot be laid over the task's: \(error)"
            finishUnstarted(handle, record, .failed, changes, now: now, &effects)
        }
        submitNextScheduled(after: request, entry: entry, now: now, &effects)
    }

    private static func merged(_ base: String, _ over: String) throws(JSONError) -> String {
        if over == "{}" { return base }
        if base == "{}" { return over }
        return try JSONText.overlay(base: base, over: over)
    }

    /// Handles a run that no executor could start; the record's message contains the reason.
    ///
    /// - Parameter isShortage: whether the machine lacked a resource that may be available again.
    ///   That is not a failure of the task, so its request waits without using up a retry.
    package mutating func startFailed(
        _ start: RunStart,
        _ message: String,
        isShortage: Bool = false,
        now: Moment,
        _ effects: inout [SchedulerEffect]
    ) {
        recordInput(
            isShortage
                ? .shortage(start.handle, message: message)
                : .startFailed(start.handle, message: message),
            at: now
        )
        var record = start.record
        record.message = message
        let outcome = isShortage ? Outcome.lost : .failed
        finishUnstarted(start.handle, record, outcome, start.changes, now: now, &effects)
        startReadyRequests(now: now, &effects)
    }

    private mutating func finishUnstarted(
        _ handle: RunHandle,
        _ begun: RunRecord,
        _ outcome: Outcome,
        _ changes: [StoreChange],
        now: Moment,
        _ effects: inout [SchedulerEffect]
    ) {
        guard let run = running.remove(handle) else { return }
        guard !run.isFenced else { return endFenced(run, begun, now: now, &effects) }
        var record = begun
        record.state = .ended
        record.outcome = outcome
        record.endedAt = now.unix
        let next = next(
            run.request,
            under: run.task,
            after: RetryPolicy.End(outcome: outcome, hasBegun: false),
            now: now
        )
        effects.append(
            .commitEnd([.runStarted(begun), .runEnded(record, then: next)] + changes, record)
        )
        releaseSlot(run, next, now: now, &effects)
    }

    /// Handles the end of a run.
    package mutating func runEnded(
        _ handle: RunHandle,
        _ finish: RunFinish,
        now: Moment,
        _ effects: inout [SchedulerEffect]
    ) {
        recordInput(.runEnded(handle, finish), at: now)
        guard let run = running.remove(handle) else { return }
        guard !run.isFenced else {
            return endFenced(run, finish.record, now: now, &effects)
        }
        let next = next(
            run.request,
            under: run.task,
            after: RetryPolicy.End(
                outcome: finish.outcome,
                stopReason: finish.record.stopReason,
                retryAfter: finish.retryAfter,
                isFinal: finish.isFinal,
                wasInDaemon: catalog.plugin(ofTask: run.task).isInDaemon
            ),
            now: now
        )
        var changes: [StoreChange] = [.runEnded(finish.record, then: next)]
        let counts = !run.request.isManual && !finish.isExpirySimulated
        if counts, let memory = updateThrottle(run, finish, now: now, &effects) {
            changes.append(.remembered(memory))
        }
        if let use = charge(run, finish.record.duration, now: now, &effects) {
            changes.append(.runtimeConsumed(use))
        }
        // Most tasks have no followers, and pay for this question only.
        guard !catalog.tasks[run.task].then.isEmpty else {
            effects.append(.commitEnd(changes, finish.record))
            releaseSlot(run, next, now: now, &effects)
            return startReadyRequests(now: now, &effects)
        }
        let followers = followers(of: run, finish, now: now, &effects)
        effects.append(.commitEnd(changes + followers.map(\.change), finish.record))
        releaseSlot(run, next, now: now, &effects)
        enqueue(followers, after: finish.record, now: now, &effects)
        startReadyRequests(now: now, &effects)
    }

    /// Releases the slot of a run.
    private mutating func releaseSlot(
        _ run: RunningTable.Running,
        _ next: AfterRun,
        now: Moment,
        _ effects: inout [SchedulerEffect]
    ) {
        let group = catalog.pluginOfTask[run.task]
        pendingIndex.finished(entry: run.entry, group: group, now: now.unix)
        let handler = catalog.handlerOfTask[run.task]
        gates.handlers[handler].running -= 1
        followHandler(handler)
        switch next {
        case .consumed: releaseStart(of: run.request.id, .served, &effects)
        case .again(let request) where !isPermitted(run.entry):
            park([request], now: now, &effects)
        case .again(let request):
            // A retry replaces no request.
            _ = pendingIndex.accept(request, entry: run.entry, now: now.unix)
            let wait = request.earliestBegin.map { max(0, $0.subtractingClamped(now.unix)) } ?? 0
            effects.append(.log(.again(request, wait: wait)))
        case .dead(let request, let reason):
            releaseStart(of: request.id, .served, &effects)
            effects.append(.log(.dead(request, reason: reason)))
        }
    }

    /// What happens to a request whose run has ended.
    ///
    /// - Parameter task: the definition under which it ran; `nil` if the manifest no longer has the task.
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
