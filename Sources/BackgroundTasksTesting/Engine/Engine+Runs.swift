// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostModel
internal import BghostPolicy
internal import BghostWire

/// Runs, from start to outcome.
extension Engine {
    mutating func begin(_ start: RunStart) {
        lastRun += 1
        var record = start.record
        record.state = .running
        record.startedAt = now.unix
        runs[lastRun] = LiveRun(
            number: lastRun,
            handle: start.handle,
            place: history.count,
            machine: RunMachine(limits: record.limits, isKillable: true)
        )
        if let wake = pendingWake, subject.wakeTask(of: wake.session) == record.task {
            runs[lastRun]?.wake = wake.session
            runs[lastRun]?.notified = wake.transfers
        }
        let handler = scheduler.catalog.tasks[start.task].handler.handler
        history.append(PastRun(record: record, handler: handler, parameters: start.parameters))
        handle(.began, of: lastRun)
        actions.append(.start(lastRun))
    }

    /// Gives a run its slot and its thread.
    ///
    /// - Returns: the order to start it; `nil` if it is over, or if no slot is free.
    mutating func start(_ number: UInt64, on thread: RunThread) -> Start? {
        guard let run = runs[number], let slot = runSlots.take(for: number) else { return nil }
        runs[number]?.slot = slot
        runs[number]?.thread = thread
        let past = history[run.place]
        let record = past.record
        // `Subject` refuses a manifest whose tasks name a handler that the plugin does not have.
        let handler = subject.handlers.firstIndex { $0.name == past.handler }
        return Start(
            run: RunSlots.id(of: number, in: slot),
            handler: UInt16(clamping: handler ?? subject.handlers.count),
            attempt: UInt32(clamping: record.attempt),
            deadline: Int64(clamping: run.limit.nanoseconds),
            graceMilliseconds: UInt32(clamping: run.machine.grace / 1_000_000),
            resultBytesMax: UInt32(clamping: subject.resultBytesMax),
            task: record.task,
            parameters: past.parameters,
            isWake: run.wake != nil,
            names: RunNames(
                runHigh: record.id.high,
                runLow: record.id.low,
                requestHigh: record.request.high,
                requestLow: record.request.low,
                epoch: record.epoch
            )
        )
    }

    mutating func handle(_ event: RunMachine.Event, of number: UInt64) {
        var effects: [RunMachine.Effect] = []
        runs[number]?.machine.handle(event, now: now.monotonic, &effects)
        for effect in effects {
            guard let run = runs[number] else { return }
            switch effect {
            case .arm(let deadline): runs[number]?.limit = deadline
            case .cancel(let reason, _):
                history[run.place].record.state = .cancelling
                history[run.place].record.stopReason = reason
                actions.append(.cancel(number, reason))
                detach(number)
            case .kill:
                // There is no process to kill: the handler is left running, and its run counts as
                // killed.
                abandoned[number] = run.place
                handle(.exited(.signalled(9)), of: number)
            case .end(let outcome): end(run, outcome)
            }
        }
    }

    /// Expires a run before its deadline.
    mutating func expire(_ number: UInt64) {
        runs[number]?.isExpirySimulated = true
        runs[number]?.isGivenUp = false
        handle(.stop(.expired), of: number)
    }

    private mutating func end(_ run: LiveRun, _ outcome: Outcome) {
        runs[run.number] = nil
        var record = history[run.place].record
        record.state = .ended
        record.outcome = outcome
        record.stopReason = run.machine.stopReason
        record.endedAt = now.unix
        record.duration = run.machine.beganAt.map {
            Duration(nanoseconds: now.monotonic.since($0))
        }
        history[run.place].record = record
        endCalls(of: run.number)
        let finish = RunFinish(
            record: record,
            outcome: outcome,
            retryAfter: run.retryAfter,
            isFinal: run.machine.isFinal,
            stoppedAfter: run.machine.stoppingFor(now: now.monotonic),
            isExpirySimulated: run.isExpirySimulated
        )
        decide { $0.runEnded(run.handle, finish, now: $1, &$2) }
        if let session = run.wake { wakeEnded(session, run.notified, run.unclaimed, outcome) }
        releaseClaims(by: run.number)
    }

    /// Ends the sleeps, fetches and waits of a run.
    ///
    /// The runtime does that too for a completed run, but not for a killed one.
    private mutating func endCalls(of number: UInt64) {
        let calls = sleeps.values.map(\.call) + fetches.values.map(\.call)
        for call in calls.sorted(by: { $0.number < $1.number }) where call.run == number {
            sleeps[call.number] = nil
            fetches[call.number] = nil
            actions.append(.answer(call, .cancelled))
        }
        detach(number)
    }

    // MARK: Calls of a handler

    /// Handles the end of a run that its handler reported, and that the runtime has checked.
    mutating func completed(_ completion: Completed) {
        let number = RunSlots.run(of: completion.run)
        defer { if completion.isReleased { runSlots.release(number) } }
        guard let run = runs[number] else {
            abandoned[number] = nil
            return
        }
        if !completion.message.isEmpty { history[run.place].record.message = completion.message }
        if !completion.payload.isEmpty { history[run.place].record.result = completion.payload }
        if let error = completion.error {
            history[run.place].record.details = RunDetails(
                error: RunError(type: error.type, file: error.file, line: error.line)
            )
        }
        if completion.retryAfterMilliseconds > 0 {
            let milliseconds = UInt64(min(completion.retryAfterMilliseconds, Self.retryAfterMax))
            runs[number]?.retryAfter = milliseconds * 1_000_000
        }
        handle(.completed(status: completion.status), of: number)
    }

    /// The longest delay that a handler can request, 30 days in milliseconds, as in the daemon.
    private static var retryAfterMax: Int64 { 30 * 86_400_000 }
}
