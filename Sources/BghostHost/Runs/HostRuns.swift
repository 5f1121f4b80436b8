// SPDX-License-Identifier: Apache-2.0

internal import BghostCore
internal import BghostLinux
internal import BghostStore
internal import BghostWire

/// Runs: from the request to the outcome.
extension Host {
    /// Begins a run that the scheduler has decided on.
    func begin(_ start: RunStart) {
        let plugin = plugins[scheduler.catalog.pluginOfTask[start.task]]
        let carrier: Carrier
        do {
            carrier = try carrierWithFreeLane(for: plugin)
        } catch {
            // First, so that what goes back does not begin again at once.
            if error.isShortage { pauseForShortage(plugin, error.description) }
            return couldNotBegin(start, error.description, isShortage: error.isShortage)
        }
        guard let lane = carrier.takeLane() else {
            return couldNotBegin(start, "`\(plugin.name)` has no free lane")
        }
        var record = start.record
        record.pid = carrier.pid
        let machine = RunMachine(
            limits: record.limits,
            isKillable: plugin.isolation == .worker
        )
        let run = ActiveRun(
            machine: machine,
            record: record,
            ticket: start.ticket,
            task: start.task,
            parameters: start.parameters,
            carrier: carrier
        )
        guard let number = runs.add(run, lane: lane) else {
            carrier.freeLane(lane)
            return couldNotBegin(
                start,
                "\(HostLimits.runsMax) runs are under way; no more are begun"
            )
        }
        run.isTrial = start.isSimulated
        carrier.lanes[lane] = number
        noteTaken(plugin)
        runOfTicket.set(start.ticket, number)
        commit([.began(record)] + start.changes)
        if carrier.state == .live {
            self.start(number)
            return
        }
        var effects = takeEffects()
        machine.begin(now: now, startLimit: patience.start, &effects)
        carryOut(&effects, of: number)
    }

    /// Ends a run that could not be given to any carrier.
    private func couldNotBegin(_ start: RunStart, _ message: String, isShortage: Bool = false) {
        decide { scheduler, now, effects in
            scheduler.couldNotBegin(
                start,
                message,
                isShortage: isShortage,
                now: now,
                &effects
            )
        }
    }

    /// Hands a run to its carrier, which is live.
    func start(_ number: UInt64) {
        guard let index = runs.index(of: number), let run = runs[index] else { return }
        let task = scheduler.catalog.tasks[run.task]
        let name = task.handler.handler
        guard let handler = run.carrier.handlerIndex(name) else {
            let names = run.carrier.handlers.map { "`\($0.name)`" }.joined(separator: ", ")
            refuse(
                number,
                "plugin `\(run.carrier.plugin.name)` has no handler `\(name)`; it has \(names)"
            )
            return
        }
        if !run.carrier.isProcess,
            run.carrier.handlers[handler].flags & HandlerFlags.needsWorker != 0
        {
            refuse(
                number,
                "handler `\(name)` says that it must run in a worker: set `\"isolation\": \"worker\"`"
                    + " for plugin `\(run.carrier.plugin.name)`"
            )
            return
        }
        handle(.began, of: number)
        guard let begun = runs[index], begun.number == number else { return }
        keepNear(begun.carrier)
        let isWake = task.kind == .urlSession
        let sent = begun.carrier.start(
            Start(
                run: number,
                handler: UInt16(handler),
                attempt: UInt32(begun.record.attempt),
                deadline: Int64(clamping: now &+ begun.machine.runtime),
                graceMilliseconds: UInt32(clamping: begun.machine.grace / 1_000_000),
                resultBytesMax: UInt32(begun.carrier.plugin.limits.resultBytes),
                task: begun.record.task,
                parameters: isWake ? wakeParameters(of: begun) : begun.parameters,
                isWake: isWake
            )
        )
        guard sent else {
            refuse(number, "its parameters are too long for one frame")
            return
        }
        begun.carrier.lastOfLane[Lane.of(number)] = Carrier.PastRun(
            number: number,
            id: begun.record.id,
            task: begun.record.task
        )
        if let worker = begun.carrier as? Worker { markBusy(worker, run: begun.record) }
        if log.keeps(.debug) {
            log.write(
                .debug,
                "run.started",
                "in \(begun.carrier.pid.map { "worker \($0)" } ?? "the daemon")",
                task: begun.record.task,
                plugin: begun.record.plugin,
                run: begun.record.id
            )
        }
    }

    /// Ends a run that never reached its carrier, which so has nothing to let go of.
    private func refuse(_ number: UInt64, _ message: String) {
        guard let index = runs.index(of: number), let run = runs[index] else { return }
        run.record.message = message
        run.carrier.hasReleased[Lane.of(number)] = true
        handle(.refused, of: number)
    }

    /// How many carriers wait for a handler to let go of a run that is complete.
    package var carriersWithUnreleasedRuns: Int {
        carriers.values.count { $0.unreleased > 0 }
    }

    // MARK: Events

    /// Hands an event to a run and does what follows.
    func handle(_ event: RunMachine.Event, of number: UInt64) {
        guard let index = runs.index(of: number) else { return }
        var effects = takeEffects()
        runs[index]?.machine.handle(event, now: now, &effects)
        if case .began = event { noteBegin(index) }
        carryOut(&effects, of: number)
    }

    /// Keeps what a handler said when it completed its run.
    func note(_ completion: Completed, _ index: Int) {
        guard let run = runs[index] else { return }
        if !completion.message.isEmpty {
            run.record.message = completion.message
        } else if completion.status < 0, run.machine.stopReason == nil {
            // Whoever looks at a failure later must not find nothing.
            run.record.message = "it answered \(completion.status) and gave no reason"
        }
        if !completion.payload.isEmpty { run.record.result = completion.payload }
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
        run.record.startedAt = wall
        run.record.state = .running
        run.record.pid = run.carrier.pid
        if let worker = run.carrier as? Worker, worker.lanes.count == 1 {
            run.cpuAtBegin = worker.process?.cpuNanoseconds ?? 0
        }
    }

    /// A buffer for effects, which is usually the same one.
    private func takeEffects() -> [RunMachine.Effect] {
        var taken: [RunMachine.Effect] = []
        swap(&taken, &effects)
        return taken
    }

    private func carryOut(_ taken: inout [RunMachine.Effect], of number: UInt64) {
        for effect in taken {
            guard let index = runs.index(of: number) else { break }
            switch effect {
            case .arm(let deadline):
                let wasArmed = runs[index]?.armed != 0
                runs[index]?.armed = deadline
                arm(deadline, token: number)
                if wasArmed { timers.forget(isLive: isLive) }
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
        beUrgent(for: run)
        runs[index]?.record.state = .cancelling
        runs[index]?.record.stopReason = reason
        log.write(
            .info,
            "run.expiring",
            "asked to stop (\(reason)); it has \(DurationText.of(nanoseconds: remaining))",
            task: run.record.task,
            plugin: run.record.plugin,
            run: run.record.id
        )
        run.carrier.cancel(Cancel(run: number, why: reason.rawValue))
        letGoOfTransfers(of: number, in: run.carrier)
    }

    private func kill(_ index: Int, _ reason: KillReason) {
        guard let run = runs[index] else { return }
        beUrgent(for: run)
        runs[index]?.record.state = .killing
        let text = run.machine.isKillable ? "killed" : "abandoned, since it runs in the daemon,"
        log.write(
            .warning,
            "run.killed",
            "\(text) with all it started (\(reason.text))",
            task: run.record.task,
            plugin: run.record.plugin,
            run: run.record.id
        )
        // What it used is said by its end; to look now would only delay that.
        if reason == .startTimeout, run.carrier.state == .loading {
            let message = run.carrier.plugin.loadMessage(
                "did not come back within \(DurationText.of(nanoseconds: patience.start))"
            )
            loadFailed(run.carrier.plugin, message)
            runs[index]?.record.message = message
        }
        if let worker = run.carrier as? Worker { worker.killedFor = reason.text }
        retireNow(run.carrier)
    }

    private func end(_ index: Int, _ number: UInt64, _ outcome: Outcome) {
        guard let run = runs[index] else { return }
        if case .killed = outcome {} else { sampleUsage(index) }
        var record = runs[index]?.record ?? run.record
        record.state = .ended
        record.outcome = outcome
        record.stopReason = run.machine.stopReason
        record.endedAt = wall
        record.duration = run.machine.beganAt.map { Duration(nanoseconds: now &- $0) }
        record.usage.outputBytes = run.outputBytes
        runs.remove(at: index)
        if run.isBeingStopped { runsBeingStopped -= 1 }
        timers.forget(isLive: isLive)
        endCalls(of: number, in: run.carrier)
        runLeft(run.carrier, number, outcome, lasted: record.duration)
        noteRetry(of: record.request, after: run.retryAfter)
        let finish = RunFinish(
            record: record,
            outcome: outcome,
            retryAfter: run.retryAfter,
            isExpirySimulated: run.isExpirySimulated
        )
        decide { scheduler, now, effects in
            scheduler.ended(run.ticket, finish, now: now, &effects)
        }
        wakesAfter(run, outcome)
        checkDrained()
    }

    /// While a run is being stopped, its grace must not be lost to other programs that keep every
    /// processor busy.
    ///
    /// Not always: a worker would be interrupted at each frame that it sends.
    private func beUrgent(for run: ActiveRun) {
        guard !run.isBeingStopped else { return }
        run.isBeingStopped = true
        runsBeingStopped += 1
        // If it is killed in the end, nobody can look any more.
        _ = (run.carrier as? Worker)?.process?.lookAtMemory()
        if runsBeingStopped == 1 { reactor.isUrgent = true }
    }

    /// Reads from the kernel what a run has used, if it lasted long enough to be worth it.
    func sampleUsage(_ index: Int) {
        guard let run = runs[index], let worker = run.carrier as? Worker,
            let process = worker.process, let began = run.machine.beganAt,
            now &- began >= HostLimits.measuredRunMin,
            // Of a worker with neighbours nothing can be told apart.
            worker.lanes.count == 1
        else { return }
        if let cpu = process.cpuNanoseconds {
            run.record.usage.cpu = .nanoseconds(max(0, cpu - run.cpuAtBegin))
        }
        if let peak = process.peakResidentBytes {
            run.record.usage.peakMemoryBytes = peak
        }
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
            run: record.id
        )
    }
}
