// SPDX-License-Identifier: Apache-2.0

internal import BghostCore
internal import BghostLinux
internal import BghostStore
internal import BghostWire

/// Runs: from the request to the outcome.
extension Host {
    /// Begins the run of a request that the book has given out.
    func begin(_ request: Request, entry: Int) {
        let definition = book.entries[entry].definition
        let task = configuration.manifest.tasks[definition]
        let plugin = pluginOfDefinition[definition]
        var record = RunRecord(
            id: nextID(),
            request: request.id,
            task: request.task,
            plugin: plugin.name,
            attempt: request.attempt,
            epoch: nextEpoch(),
            limits: task.limits,
            submittedAt: request.submittedAt
        )
        let left = leave(request, entry: entry)
        defer { goOn(after: request, entry: entry) }
        let parameters: String
        do {
            parameters = try merged(task.parameters, request.parameters)
        } catch {
            record.message = "its parameters cannot be laid over the task's: \(error)"
            endUnbegun(record, request, entry: entry, left)
            return
        }
        let carrier: Carrier
        do {
            carrier = try carrierWithFreeLane(for: plugin)
        } catch {
            record.message = error.description
            endUnbegun(record, request, entry: entry, left)
            return
        }
        guard let lane = carrier.takeLane() else {
            record.message = "`\(plugin.name)` has no free lane"
            endUnbegun(record, request, entry: entry, left)
            return
        }
        let machine = RunMachine(
            limits: task.limits,
            isKillable: plugin.isolation == .worker
        )
        record.pid = carrier.pid
        let run = ActiveRun(
            machine: machine,
            record: record,
            request: request,
            entry: entry,
            parameters: parameters,
            carrier: carrier,
            handler: definition
        )
        guard let number = runs.add(run, lane: lane) else {
            carrier.freeLane(lane)
            record.message = "\(HostLimits.runsMax) runs are under way; no more are begun"
            endUnbegun(record, request, entry: entry, left)
            return
        }
        carrier.lanes[lane] = number
        noteTaken(plugin)
        handlerUses[useOfDefinition[definition]].running += 1
        commit([.began(record)] + left)
        if carrier.state == .live {
            start(number)
            return
        }
        var effects = takeEffects()
        machine.begin(now: now, startLimit: patience.start, &effects)
        carryOut(&effects, of: number)
    }

    private func merged(_ base: String, _ over: String) throws(JSONError) -> String {
        if over == "{}" { return base }
        if base == "{}" { return over }
        return try JSONText.overlay(base: base, over: over)
    }

    /// Ends a request whose run could not be given to any carrier.
    private func endUnbegun(
        _ record: RunRecord,
        _ request: Request,
        entry: Int,
        _ left: [StoreChange]
    ) {
        var record = record
        record.state = .ended
        record.outcome = .failed
        record.endedAt = WallClock.now
        let next = next(request, after: RetryPolicy.End(outcome: .failed))
        commit([.began(record), .ended(record, then: next)] + left) { [record] host, _ in
            host.resumeWaiters(of: record.request, with: record)
        }
        report(record)
        book.finished(entry: entry, now: WallClock.now)
        takeUp(next, entry: entry)
    }

    /// Hands a run to its carrier, which is live.
    func start(_ number: UInt64) {
        guard let index = runs.index(of: number), let run = runs[index] else { return }
        let task = configuration.manifest.tasks[run.handler]
        let name = if case .plugin(_, let handler) = task.handler { handler } else { "" }
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
        let sent = begun.carrier.start(
            Start(
                run: number,
                handler: UInt16(handler),
                attempt: UInt32(begun.record.attempt),
                deadline: Int64(clamping: now &+ begun.machine.runtime),
                graceMilliseconds: UInt32(clamping: begun.machine.grace / 1_000_000),
                resultBytesMax: UInt32(begun.carrier.plugin.limits.resultBytes),
                task: begun.record.task,
                parameters: begun.parameters
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
        if !completion.message.isEmpty { run.record.message = completion.message }
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
        run.record.startedAt = WallClock.now
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
            loadFailed(
                run.carrier.plugin,
                "it was not loaded within \(DurationText.of(nanoseconds: patience.start))"
            )
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
        record.endedAt = WallClock.now
        record.duration = run.machine.beganAt.map { Duration(nanoseconds: now &- $0) }
        record.usage.outputBytes = run.outputBytes
        runs.remove(at: index)
        if run.isBeingStopped { runsBeingStopped -= 1 }
        timers.forget(isLive: isLive)
        endCalls(of: number, in: run.carrier)
        let next = next(
            run.request,
            after: RetryPolicy.End(
                outcome: outcome,
                stopReason: record.stopReason,
                retryAfter: run.retryAfter,
                wasInDaemon: !run.carrier.isProcess
            )
        )
        var changes: [StoreChange] = [.ended(record, then: next)]
        if let memory = settleDebt(run, outcome) { changes.append(.remembered(memory)) }
        commit(changes) { [record] host, _ in
            host.resumeWaiters(of: record.request, with: record)
        }
        report(record)
        runLeft(run.carrier, number, outcome)
        book.finished(entry: run.entry, now: WallClock.now)
        handlerLeft(run.handler)
        takeUp(next, entry: run.entry)
        dispatch()
        checkDrained()
    }

    /// Has a request that gets another run wait for it.
    private func takeUp(_ next: AfterRun, entry: Int) {
        switch next {
        case .consumed: break
        case .again(let request):
            _ = book.accept(request, entry: entry, now: WallClock.now)
            armRequests()
            let wait = request.earliestBegin.map { max(0, $0 - WallClock.now) } ?? 0
            log.write(
                .info,
                "request.again",
                "attempt \(request.attempt) in \(DurationText.of(nanoseconds: UInt64(wait)))",
                task: request.task
            )
        case .dead(let request, let reason):
            log.write(
                .error,
                "request.dead",
                "\(reason); `bghost redrive \(request.id)` tries it again",
                task: request.task
            )
        }
    }

    private func nextEpoch() -> UInt64 {
        epoch += 1
        return epoch
    }

    /// While a run is being stopped, its grace must not be lost to other programs that keep every
    /// processor busy.
    ///
    /// Not always: a worker would be interrupted at each frame that it sends.
    private func beUrgent(for run: ActiveRun) {
        guard !run.isBeingStopped else { return }
        run.isBeingStopped = true
        runsBeingStopped += 1
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
