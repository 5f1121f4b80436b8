// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostConfiguration
internal import BghostDispatch
internal import BghostLinux
internal import BghostModel
internal import BghostPolicy
internal import BghostServices
internal import BghostStore
internal import BghostWire

/// The life of a run, from its dispatch to its outcome.
extension RunSupervisor {
    /// Starts a run that the scheduler dispatched.
    func begin(_ start: RunStart) {
        var start = start
        start.record.trace = tracer.trace(of: start)
        let plugin = plugins[dispatcher.scheduler.catalog.pluginOfTask[start.task]]
        let executor: any RunExecutor
        do {
            executor = try pool.executorWithFreeSlot(for: plugin)
        } catch {
            // Pause before requeueing; otherwise the run is dispatched again at once.
            if error.isShortage { registry.pauseForShortage(plugin, error.description) }
            return startFailed(start, error.description, isShortage: error.isShortage)
        }
        guard let slotIndex = executor.takeSlot() else {
            return startFailed(start, "`\(plugin.name)` has no free slot")
        }
        var record = start.record
        record.pid = executor.pid
        let machine = RunMachine(
            limits: record.limits,
            isKillable: plugin.isolation == .worker
        )
        let run = ActiveRun(
            machine: machine,
            record: record,
            handle: start.handle,
            task: start.task,
            parameters: start.parameters,
            executor: executor
        )
        guard let number = runs.add(run, slotIndex: slotIndex) else {
            executor.freeSlot(slotIndex)
            return startFailed(
                start,
                "\(HostLimits.runsMax) runs are under way; no more can start"
            )
        }
        run.isManual = start.isManual
        run.due = start.due
        run.dispatchedAt = clock.wall
        run.isCold = executor.state != .live
        executor.runOfSlot[slotIndex] = number
        pool.workerTaken(plugin)
        runNumbers.set(start.handle, number)
        commits.commit([.runStarted(record)] + start.changes)
        if executor.state == .live {
            self.start(number)
            return
        }
        var effects = takeEffects()
        run.machine.begin(now: now, startLimit: services.timeouts.start, &effects)
        execute(&effects, of: number)
    }

    /// Reports to the scheduler that a run could not be assigned to an executor.
    private func startFailed(_ start: RunStart, _ message: String, isShortage: Bool = false) {
        dispatcher.decide { scheduler, now, effects in
            scheduler.startFailed(
                start,
                message,
                isShortage: isShortage,
                now: now,
                &effects
            )
        }
    }

    /// Sends a run to its executor, which must be live.
    func start(_ number: UInt64) {
        guard let index = runs.index(of: number), let run = runs[index] else { return }
        let task = dispatcher.scheduler.catalog.tasks[run.task]
        let name = task.handler.handler
        guard let handler = run.executor.handlerIndex(name) else {
            let names = run.executor.handlers.map { "`\($0.name)`" }.joined(separator: ", ")
            refuse(
                number,
                "plugin `\(run.executor.plugin.name)` has no handler `\(name)`; it has \(names)"
            )
            return
        }
        if !run.executor.isProcess,
            run.executor.handlers[handler].flags & HandlerFlags.needsWorker != 0
        {
            refuse(
                number,
                "handler `\(name)` says that it must run in a worker: set `\"isolation\": \"worker\"`"
                    + " for plugin `\(run.executor.plugin.name)`"
            )
            return
        }
        let isWake = task.kind == .urlSession
        if isWake, transfers.hasNothingToReport(to: run) {
            run.record.message = "its session has no ended transfers any more"
            pool.willNotStart(number, in: run.executor)
            return handle(.completed(status: 0), of: number)
        }
        handle(.began, of: number)
        guard let begun = runs[index], begun.number == number else { return }
        pool.runBegins(in: begun.executor)
        let sent = begun.executor.start(
            Start(
                run: number,
                handler: UInt16(handler),
                attempt: UInt32(begun.record.attempt),
                deadline: Int64(clamping: (now + begun.machine.runtime).nanoseconds),
                graceMilliseconds: UInt32(clamping: begun.machine.grace / 1_000_000),
                resultBytesMax: UInt32(begun.executor.plugin.limits.resultBytes),
                task: begun.record.task,
                parameters: isWake ? transfers.wakeParameters(of: begun) : begun.parameters,
                isWake: isWake,
                traceparent: begun.record.trace?.context.traceparent ?? "",
                tracestate: begun.record.trace?.context.state ?? "",
                names: RunNames(
                    runHigh: begun.record.id.high,
                    runLow: begun.record.id.low,
                    requestHigh: begun.record.request.high,
                    requestLow: begun.record.request.low,
                    epoch: begun.record.epoch
                )
            )
        )
        guard sent else {
            refuse(number, "its parameters are too long for one frame")
            return
        }
        begun.executor.lastRunOfSlot[WorkerSlot.of(number)] = ExecutorSlots.PastRun(
            number: number,
            id: begun.record.id,
            task: begun.record.task,
            trace: begun.record.trace?.context
        )
        begun.executor.wasSent(begun.record, pool)
        if log.keeps(.debug) {
            log.write(
                .debug,
                "run.started",
                "in \(begun.executor.pid.map { "worker \($0)" } ?? "the daemon")",
                task: begun.record.task,
                plugin: begun.record.plugin,
                run: begun.record.id,
                trace: begun.record.trace
            )
        }
    }

    /// Ends a run that was never sent to its executor, so that the handler need not release it.
    private func refuse(_ number: UInt64, _ message: String) {
        guard let index = runs.index(of: number), let run = runs[index] else { return }
        run.record.message = message
        pool.willNotStart(number, in: run.executor)
        handle(.refused, of: number)
    }

    // MARK: Events

    /// Passes an event to the state machine of a run and applies the effects.
    func handle(_ event: RunMachine.Event, of number: UInt64) {
        guard let index = runs.index(of: number) else { return }
        var effects = takeEffects()
        runs[index]?.machine.handle(event, now: now, &effects)
        if case .began = event { noteBegin(index) }
        execute(&effects, of: number)
    }

    /// Stores the result and the message with which a handler completed its run.
    func note(_ completion: Completed, _ index: Int) {
        guard let run = runs[index] else { return }
        run.hold(completion.message.utf8.count + completion.payload.utf8.count)
        if !completion.message.isEmpty {
            run.record.message = completion.message
        } else if completion.status < 0, run.machine.stopReason == nil {
            // The record of a failure must contain a reason.
            run.record.message = "it answered \(completion.status) and gave no reason"
        }
        if !completion.payload.isEmpty { run.record.result = completion.payload }
        run.error = completion.error.map { RunError(type: $0.type, file: $0.file, line: $0.line) }
        if completion.retryAfterMilliseconds > 0 {
            run.retryAfter =
                min(
                    UInt64(completion.retryAfterMilliseconds),
                    HostLimits.retryAfterMaxMilliseconds
                ) * 1_000_000
        }
    }

    private func noteBegin(_ index: Int) {
        guard let run = runs[index] else { return }
        run.record.startedAt = clock.wall
        run.record.state = .running
        run.record.pid = run.executor.pid
        run.record.origin = pool.origin(of: run.executor)
        run.executor.beginMeasuring(run, now: now)
        let delay = clock.wall.subtractingClamped(run.due)
        meter.started(plugin: run.record.plugin, delay: UInt64(max(0, delay)))
        tracer.started(
            run.record,
            due: run.due,
            dispatched: run.dispatchedAt,
            isCold: run.isCold
        )
        onStart(run.record)
    }

    /// Takes the shared buffer of effects, which `execute` puts back; this avoids an allocation.
    private func takeEffects() -> [RunMachine.Effect] {
        var taken: [RunMachine.Effect] = []
        swap(&taken, &effects)
        return taken
    }

    private func execute(_ taken: inout [RunMachine.Effect], of number: UInt64) {
        for effect in taken {
            guard let index = runs.index(of: number) else { break }
            switch effect {
            case .arm(let deadline):
                let wasArmed = runs[index]?.armed != .zero
                runs[index]?.armed = deadline
                services.deadlines.arm(.run(number), at: deadline)
                if wasArmed { services.deadlines.forget() }
            case .cancel(let reason, let remaining):
                cancel(index, number, reason, remaining)
            case .kill(let reason): kill(index, reason)
            case .end(let outcome): end(index, number, outcome)
            }
        }
        taken.removeAll(keepingCapacity: true)
        swap(&taken, &effects)
    }

    private func cancel(_ index: Int, _ number: UInt64, _ reason: StopReason, _ remaining: UInt64) {
        guard let run = runs[index] else { return }
        raiseReactorPriority(for: run)
        runs[index]?.record.state = .cancelling
        runs[index]?.record.stopReason = reason
        log.write(
            .info,
            "run.expiring",
            "asked to stop (\(reason)); it has \(DurationText.of(nanoseconds: remaining))",
            task: run.record.task,
            plugin: run.record.plugin,
            run: run.record.id,
            trace: run.record.trace
        )
        run.executor.cancel(Cancel(run: number, why: reason.rawValue))
        transfers.detachTransfers(of: number, in: run.executor)
    }

    private func kill(_ index: Int, _ reason: KillReason) {
        guard let run = runs[index] else { return }
        raiseReactorPriority(for: run)
        runs[index]?.record.state = .killing
        let text = run.machine.isKillable ? "killed" : "abandoned, since it runs in the daemon,"
        log.write(
            .warning,
            "run.killed",
            "\(text) with all it started (\(reason.text))",
            task: run.record.task,
            plugin: run.record.plugin,
            run: run.record.id,
            trace: run.record.trace
        )
        // Do not sample the resource use here: the exit of the process reports it, and sampling
        // delays the kill.
        if reason == .startTimeout, run.executor.state == .loading {
            let message = run.executor.plugin.loadMessage(
                "did not come back within \(DurationText.of(nanoseconds: services.timeouts.start))"
            )
            registry.loadFailed(run.executor.plugin, message)
            runs[index]?.record.message = message
        }
        guard !run.executor.willKill(for: reason, pool) else { return }
        pool.retireNow(run.executor)
    }

    private func end(_ index: Int, _ number: UInt64, _ outcome: Outcome) {
        guard let run = runs[index] else { return }
        if case .killed = outcome {} else { run.executor.measure(run, now: now) }
        var record = runs[index]?.record ?? run.record
        record.state = .ended
        record.outcome = outcome
        record.stopReason = run.machine.stopReason
        record.endedAt = clock.wall
        record.duration = run.machine.beganAt.map { Duration(nanoseconds: now.since($0)) }
        record.usage = run.usage
        noteDetails(of: run, &record)
        if run.machine.beganAt == nil {
            // It was not sent, so no handler releases it.
            pool.willNotStart(number, in: run.executor)
            if outcome == .cancelledClean { record.message = "it was stopped before it began" }
        }
        runs.remove(at: index)
        if run.isBeingStopped { runsBeingStopped -= 1 }
        services.deadlines.forget()
        calls.endCalls(of: number, in: run.executor)
        pool.runEnded(run.executor, number, outcome, lasted: record.duration)
        notifications.noteRetry(of: record.request, after: run.retryAfter)
        let cancelDuration = run.machine.stoppingFor(now: now)
        if let duration = record.duration {
            meter.stopped(
                record,
                duration: duration.clampedNanoseconds,
                cancelDuration: cancelDuration
            )
        }
        let finish = RunFinish(
            record: record,
            outcome: outcome,
            retryAfter: run.retryAfter,
            isFinal: run.machine.isFinal,
            stoppedAfter: cancelDuration,
            hasDetached: transfers.haveContinued(without: number),
            isExpirySimulated: run.isExpirySimulated
        )
        dispatcher.decide { scheduler, now, effects in
            scheduler.runEnded(run.handle, finish, now: now, &effects)
        }
        transfers.ended(run, outcome)
        onEnd()
    }

    /// Keeps the crash, the error and the output until the scheduler has decided what follows.
    private func noteDetails(of run: ActiveRun, _ record: inout RunRecord) {
        let crash = run.crash.isEmpty ? nil : run.crash
        if let crash, record.message.isEmpty { record.message = crash.sentence }
        let error = record.outcome == .failed ? run.error : nil
        guard crash != nil || error != nil || run.usage.outputBytes > 0 else { return }
        detailsOfEnded[record.id] = RunDetails(
            crash: crash,
            error: error,
            output: run.output.text
        )
    }

    /// Raises the reactor's priority while a run is being stopped.
    ///
    /// Otherwise other programs that use all processors could consume the run's grace. The priority
    /// is not raised at other times, because the reactor would then interrupt a worker at each
    /// frame that it sends.
    private func raiseReactorPriority(for run: ActiveRun) {
        guard !run.isBeingStopped else { return }
        run.isBeingStopped = true
        runsBeingStopped += 1
        // Sample the memory now: it cannot be read after a kill. If the process has already exited,
        // its exit status contains the peak.
        run.executor.sampleMemory()
        if runsBeingStopped == 1 { services.reactor.isUrgent = true }
    }

    func report(_ record: RunRecord) {
        let level: LogEntry.Level = record.outcome == .succeeded ? .info : .warning
        guard log.keeps(level) else { return }
        let duration = record.duration.map { " after \(DurationText.of($0))" } ?? ""
        let message = record.message.isEmpty ? "" : ": \(record.message)"
        log.write(
            level,
            "run.ended",
            "\(record.outcome?.text ?? "lost")\(duration)\(message)",
            task: record.task,
            plugin: record.plugin,
            run: record.id,
            trace: record.trace
        )
    }
}
