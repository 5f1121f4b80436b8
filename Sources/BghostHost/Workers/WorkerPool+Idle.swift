// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostDispatch
internal import BghostLinux
internal import BghostModel
internal import BghostServices
internal import BghostWire

/// Limits for workers without a run.
///
/// The limits of runs do not apply to such a worker. It therefore gets a small budget; if it
/// exceeds the budget, the daemon kills it and counts a crash of the plugin.
extension WorkerPool {
    /// Starts the idle accounting of a worker that has no run (or none yet).
    func beginIdle(_ worker: Worker) {
        worker.idleUse.becameIdle(used: worker.cpuAtEnd)
        worker.cpuAtEnd = nil
        if worker.idleUse.isSpent {
            return endIdle(worker, Self.spentText)
        }
        // After a run or its load, an audit is already armed.
        guard worker.audit == .never, worker.canHaveProcesses else { return }
        worker.audit = now + HostLimits.auditPeriod
        deadlines.arm(.audit(worker.serial), at: worker.audit)
    }

    /// Checks the use of processor time of a worker without a run.
    func checkIdleUse(of worker: Worker, _ process: ChildProcess) {
        // The processor time of loading and finishing is limited by their deadlines instead.
        guard worker.state == .live, let used = process.cpuNanoseconds else { return }
        measureData(of: worker.plugin)
        worker.idleUse.update(used: used, now: now)
        if worker.idleUse.isSpent { endIdle(worker, Self.spentText) }
    }

    private static var spentText: String {
        "used more than \(IdleBudget.most / 1_000_000) ms of processor time"
    }

    /// Kills a worker that exceeded a limit while it had no run in progress.
    ///
    /// - Parameter what: a predicate for the log, with the worker as its subject.
    func endIdle(_ worker: Worker, _ what: String) {
        guard !worker.isKilled, worker.state != .gone else { return }
        worker.killedFor = "\(what) without a run"
        let when =
            !worker.isIdle
            ? "after its run was complete"
            : worker.state == .ending
                ? "in close()"
                : worker.state == .loading ? "while it loaded its plugin" : "while it had no run"
        log.write(
            .error,
            "worker.idle_work",
            "pid \(worker.pid ?? 0) \(what) \(when); it is killed",
            plugin: worker.plugin.name
        )
        noteIdleEnd(of: worker.plugin, for: what)
        if worker.state != .loading {
            registry.crashed(worker.plugin, "its worker \(what) \(when)")
        }
        retireNow(worker)
    }

    func noteIdleEnd(of plugin: PluginSlot, for reason: String) {
        if plugin.isRetired { return }
        crashes.idleWorkerEnded(plugin.name, for: reason, now: now, wall: clock.wall)
    }

    /// Logs a line of a plugin that belongs to no running run.
    func logWithoutRun(
        _ text: String,
        of executor: any RunExecutor,
        run number: UInt64?,
        source: LogEntry.Source,
        level: LogEntry.Level,
        event: String
    ) {
        let slotIndex = number.map(WorkerSlot.of) ?? executor.runOfSlot.count
        let past = slotIndex < executor.runOfSlot.count ? executor.lastRunOfSlot[slotIndex] : nil
        let isOfPast = past != nil && past?.number == number
        log.write(
            level,
            event,
            text,
            source: source,
            task: isOfPast ? past?.task : executor.newestRun.task,
            plugin: executor.plugin.name,
            run: isOfPast ? past?.id : executor.newestRun.id
        )
    }

    // MARK: Child processes

    /// Measures the process tree of a worker on a separate thread.
    ///
    /// The time that it takes grows with the number of threads. All workers together may use at
    /// most a twentieth of one processor for this.
    func measureTree(of worker: Worker, _ process: ChildProcess) {
        // Before it has reported its sandbox it has run no code of the plugin.
        guard worker.isConfined, worker.canHaveProcesses, !worker.isTreeBeingMeasured,
            now >= worker.nextTreeMeasurement
        else {
            return
        }
        // If no thread can be started, the next audit tries again.
        guard let thread = threads.thread(for: .processes) else { return }
        worker.isTreeBeingMeasured = true
        let (pid, group, serial) = (process.pid, worker.group, worker.serial)
        let limit = worker.plugin.limits.processes
        thread.perform { [reference] in
            let begin = Monotonic.now
            let tree = ProcessTree(of: pid, group: group, processesMax: limit)
            let took = Monotonic.now.since(begin)
            reference.perform { $0.treeMeasured(serial, tree, took) }
        }
    }

    private func treeMeasured(_ serial: UInt32, _ tree: ProcessTree, _ took: UInt64) {
        guard let worker = executors.worker(serial), let process = worker.process,
            !worker.isKilled, worker.state != .gone
        else { return }
        worker.isTreeBeingMeasured = false
        worker.nextTreeMeasurement =
            now
            + max(
                HostLimits.auditPeriod / 2,
                took &* 20 &* UInt64(max(1, workersWithTrees))
            )
        let limits = worker.plugin.limits
        if tree.processes > limits.processes { return exceeded(worker, .processes) }
        let own = process.cpuNanoseconds ?? 0
        worker.childrenCPU = max(worker.childrenCPU, tree.cpuNanoseconds - own)
        guard tree.processes > 1 else { return }
        if let limit = limits.memoryBytes, tree.memoryBytes > limit {
            over(worker, .memory, isFar: tree.memoryBytes > limits.memoryBytesMax ?? limit)
        } else if worker.isIdle {
            // The worker may still be stopping its processes after its last run.
            guard worker.state == .live, now >= worker.idleSince + HostLimits.dataPeriod else {
                return
            }
            return endIdle(
                worker,
                "still has " + CountText.of(tree.processes - 1, "process", "processes")
                    + " that it started"
            )
        }
    }
}

extension Worker {
    /// Reads the processor time of the worker's child processes from its control group.
    func noteChildrenCPU(own: Int64) {
        guard canHaveProcesses, let group, let all = ProcessTree.processorTime(ofGroup: group)
        else { return }
        childrenCPU = max(childrenCPU, all - own)
    }
}
