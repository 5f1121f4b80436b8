// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostModel
internal import BghostPolicy
internal import CBghost

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

    /// The data of a run for its handler.
    func setting(of run: LiveRun, directory: String) -> RunMemory.Setting {
        let past = history[run.place]
        return RunMemory.Setting(
            identifier: past.record.task,
            parameters: past.parameters,
            attempt: UInt32(clamping: past.record.attempt),
            directory: directory,
            deadline: Int64(clamping: run.limit),
            graceMilliseconds: UInt32(clamping: run.machine.grace / 1_000_000),
            resultBytesMax: UInt32(clamping: subject.resultBytesMax),
            isWake: run.wake != nil
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
            Duration(nanoseconds: now.monotonic - min($0, now.monotonic))
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
    private mutating func endCalls(of number: UInt64) {
        for sleep in sleeps.values.sorted(by: { $0.call.number < $1.call.number })
        where sleep.call.run == number {
            sleeps[sleep.call.number] = nil
            actions.append(.endSleep(sleep.call, isOver: false))
        }
        for fetch in fetches.values.sorted(by: { $0.call.number < $1.call.number })
        where fetch.call.run == number {
            fetches[fetch.call.number] = nil
            actions.append(.endFetch(fetch.call, .cancelled))
        }
        detach(number)
    }

    // MARK: Calls of a handler

    mutating func complete(_ number: UInt64, _ end: RunEndCall) -> bg_status {
        guard let run = runs[number] else {
            abandoned[number] = nil
            return BG_E_STALE
        }
        guard end.status <= 0, end.retryAfter >= 0 else { return BG_E_ARG }
        guard end.payload.utf8.count <= subject.resultBytesMax else { return BG_E_LIMIT }
        guard end.payload.isEmpty || Self.isJSON(end.payload) else { return BG_E_ARG }
        if !end.message.isEmpty { history[run.place].record.message = end.message }
        if !end.payload.isEmpty { history[run.place].record.result = end.payload }
        if end.retryAfter > 0 {
            let milliseconds = UInt64(min(end.retryAfter, Self.retryAfterMax))
            runs[number]?.retryAfter = milliseconds * 1_000_000
        }
        handle(.completed(status: end.status), of: number)
        return BG_OK
    }

    /// Handles the return value of a run's `start`.
    mutating func started(_ number: UInt64, _ status: bg_status) {
        guard status != BG_PENDING else { return }
        guard status <= 0, runs[number] != nil else {
            abandoned[number] = nil
            return
        }
        handle(.completed(status: status), of: number)
    }

    /// The longest delay that a handler can request, 30 days in milliseconds, as in the daemon.
    private static var retryAfterMax: Int64 { 30 * 86_400_000 }

    private static func isJSON(_ text: String) -> Bool {
        (try? JSONReader.parse(Array(text.utf8), dialect: .strict)) != nil
    }
}
