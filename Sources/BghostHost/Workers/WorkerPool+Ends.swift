// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostConfiguration
internal import BghostDispatch
internal import BghostLinux
internal import BghostModel
internal import BghostServices
internal import BghostWire

/// How workers finish: retired, exited by themselves, or killed.
extension WorkerPool {
    /// Retires an executor: it gets no more runs and finishes when it has none.
    func retire(_ executor: any RunExecutor) {
        guard executor.state == .live || executor.state == .retiring || executor.state == .loading
        else {
            return
        }
        executor.state = .retiring
        guard executor.isIdle else { return }
        executor.state = .ending
        setDeadline(executor, now + timeouts.finish)
        executor.finish(self)
    }

    /// Kills an executor.
    func retireNow(_ executor: any RunExecutor) {
        guard executor.state != .gone else { return }
        executor.state = .ending
        executor.deadline = .never
        executor.kill(self)
    }

    /// Kills a worker that violated the protocol.
    func kill(_ worker: Worker, for fault: WireError) {
        log.write(
            .error,
            "worker.fault",
            "\(fault.sentence) (fault \(fault.rawValue)); pid \(worker.pid ?? 0) is killed",
            plugin: worker.plugin.name
        )
        worker.killedFor = fault.sentence
        registry.crashed(worker.plugin, "its worker broke the protocol: \(fault.sentence)")
        for number in worker.runs {
            supervisor.handle(.exceeded(.protocolFault(fault.rawValue)), of: number)
        }
        retireNow(worker)
    }

    /// Handles the exit of a worker's process.
    func processEnded(_ worker: Worker, _ end: ProcessExit) {
        readOutput(worker, .output, all: true)
        readOutput(worker, .error, all: true)
        finishLines(worker)
        if worker.reportRate.dropped > 0 {
            logDropped(worker.reportRate.resetDropped(), of: worker)
        }
        if worker.killedFor == nil, let group = worker.group, ControlGroup.hitMemoryLimit(group) {
            // The kernel enforced the memory limit before the daemon noticed it.
            exceeded(worker, .memory)
            worker.killedFor = KillReason.memory.text
        }
        // A worker that closed its socket while it had no run is in `retiring`, no longer in `loading`.
        let wasLoading =
            worker.state == .loading || worker.state == .retiring && worker.handlers.isEmpty
        let how: ProcessEnd = end.exited ? .exited(end.code) : .signalled(end.code)
        for number in worker.runs {
            guard let index = runs.index(of: number) else { continue }
            if worker.runOfSlot.count == 1, runs[index]?.machine.beganAt != nil {
                let atBegin =
                    (runs[index]?.cpuAtBegin ?? 0) + (runs[index]?.childrenCPUAtBegin ?? 0)
                runs[index]?.usage.cpu = .nanoseconds(max(0, end.cpuNanoseconds - atBegin))
            }
            if let peak = end.peakMemoryBytes { runs[index]?.usage.peakMemoryBytes = peak }
        }
        if worker.killedFor == nil { noteCrash(of: worker, how) }
        if wasLoading, worker.killedFor == nil {
            let message = worker.plugin.loadMessage("ended its worker (\(how.text))")
            registry.loadFailed(worker.plugin, message)
            for number in worker.runs {
                supervisor.note(message: message, of: number)
            }
        } else if worker.state != .ending, worker.killedFor == nil {
            log.write(
                .warning,
                "worker.ended",
                "pid \(worker.pid ?? 0) ended by itself (\(how.text))",
                plugin: worker.plugin.name
            )
            registry.crashed(worker.plugin, "its worker ended by itself (\(how.text))")
        }
        gone(worker, because: how)
    }

    /// Removes a worker from all tables and ends its remaining runs.
    ///
    /// - Parameters:
    ///   - how: how its process exited; `nil` if it was never started.
    ///   - shortage: the missing resource, which does not fail the requests.
    func gone(_ worker: Worker, because how: ProcessEnd?, shortage: String? = nil) {
        let isUnasked = worker.state != .ending || worker.killedFor != nil
        worker.state = .gone
        if worker.isConfined, worker.canHaveProcesses { workersWithTrees -= 1 }
        for channel in Worker.Channel.allCases {
            if let fd = worker.descriptor(channel) { reactor.unwatch(fd) }
        }
        worker.cpuTimer = nil
        for fetch in worker.fetches.values { fetch.task.cancel() }
        if let process = worker.process {
            process.giveUp()
            family.remove(process.pid)
            spawner.collect(process.pid, adoptsOrphans: configuration.isSubreaper)
        }
        if let group = worker.group {
            spawner.perform { ControlGroup.removeWhenEmpty(group) }
        }
        executors.remove(worker)
        worker.plugin.executors[worker.serial] = nil
        worker.plugin.available.removeAll { $0 === worker }
        worker.plugin.releaseIfRetired()
        measureData(of: worker.plugin)
        for number in worker.runs {
            guard let how else {
                let message = shortage ?? worker.plugin.problem?.message ?? ""
                supervisor.note(message: message, of: number)
                supervisor.handle(shortage == nil ? .refused : .workerLost, of: number)
                continue
            }
            // A kill because of one run is not counted against the other runs of the worker.
            let isVictim =
                worker.runOfSlot.count > 1
                && runs.index(of: number).map { runs[$0]?.machine.state != .killing } == true
                && worker.killedFor != nil
            supervisor.handle(isVictim ? .workerLost : .exited(how), of: number)
        }
        replace(worker, isUnasked: isUnasked)
        if worker.killedFor == nil, how != nil { dispatcher.dispatch() }
        onEnd()
    }

    /// Ends an executor of which a handler does not come back from a completed run.
    private func killUnreleased(_ executor: any RunExecutor) {
        let what = "did not return from a completed run"
        log.write(
            .warning,
            "worker.unreleased",
            "a handler completed its run and did not return; its "
                + (executor.isProcess ? "worker is killed" : "plugin is abandoned"),
            plugin: executor.plugin.name
        )
        if let worker = executors.worker(executor.serial) {
            // Other runs of the worker did not crash it.
            worker.killedFor = "a handler " + what
            noteIdleEnd(of: executor.plugin, for: what)
        }
        retireNow(executor)
    }

    // MARK: Deadlines

    func executorDeadline(_ serial: UInt32) {
        guard let executor = executors[serial] else { return }
        let worker = executors.worker(serial)
        executor.deadline = .never
        if configuration.pausesForDebuggers, let pid = worker?.process?.pid, Self.isTraced(pid) {
            return setDeadline(executor, now + HostLimits.auditPeriod)
        }
        if let worker, let since = worker.hungUpAt, worker.state != .ending {
            // A process that is exiting reports its status soon, but later on a busy machine.
            if now < since + HostLimits.dyingMax, worker.process?.isEnding == true {
                return setDeadline(worker, now + HostLimits.hungUpPeriod)
            }
            kill(worker, for: .closedSocket)
            return
        }
        if executor.state == .ending { return retireNow(executor) }
        if executor.unreleased > 0 {
            // The handler for which the deadline was set may have come back since.
            let due = (executor.slots.unreleasedSince.min() ?? now) + timeouts.release
            guard due <= now else { return setDeadline(executor, due) }
            return killUnreleased(executor)
        }
        guard executor.isIdle, let worker else { return }
        if worker.state == .loading { return prestartOverdue(worker) }
        let due = worker.idleSince + timeouts.idle
        guard due <= now else { return setDeadline(executor, due) }
        if isKeptIdle(worker) {
            setDeadline(executor, now + timeouts.idle)
        } else {
            retire(executor)
        }
    }
}
