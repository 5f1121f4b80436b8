// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostConfiguration
internal import BghostDispatch
internal import BghostInspection
internal import BghostLinux
internal import BghostModel
internal import BghostSandbox
internal import BghostServices
internal import BghostTrust
internal import BghostWire
internal import Glibc

/// Start and reuse of workers, and the assignment of runs to them.
extension WorkerPool {
    /// An executor of the plugin with a free slot: the last used one, a loading one, or a new one.
    func executorWithFreeSlot(for plugin: PluginSlot) throws(RunExecutorError) -> any RunExecutor {
        while let executor = plugin.available.last {
            // The executor's last free slot is used now; it is listed again when a slot is released.
            if executor.hasOneFreeSlot || executor.state == .ending
                || executor.state == .gone || executor.state == .retiring
            {
                plugin.available.removeLast()
                executor.isListed = false
            }
            guard executor.state == .live || executor.state == .loading else { continue }
            // That of a handler that stays after its run, or of the load, still counts.
            if executor.state == .live, executor.unreleased == 0 { executor.deadline = .never }
            return executor
        }
        let executor = try addExecutor(for: plugin)
        if executor.runOfSlot.count > 1 { list(executor) }
        return executor
    }

    func addExecutor(for plugin: PluginSlot) throws(RunExecutorError) -> any RunExecutor {
        let executor: any RunExecutor
        switch plugin.isolation {
        case .worker:
            let worker = try addWorker(for: plugin)
            executors.add(worker: worker)
            executor = worker
        case .inProcess:
            let inProcess = try addInProcess(for: plugin)
            executors.add(inProcess: inProcess)
            executor = inProcess
        }
        plugin.executors[executor.serial] = executor
        return executor
    }

    /// Lists an executor with a free slot as available.
    func list(_ executor: any RunExecutor) {
        guard !executor.isListed else { return }
        executor.isListed = true
        executor.plugin.available.append(executor)
    }

    // MARK: Start

    /// `F_SETPIPE_SZ`, which the module Glibc lacks.
    private static let setPipeSize: Int32 = 1031

    private func addWorker(for plugin: PluginSlot) throws(RunExecutorError) -> Worker {
        try plugin.requireHeld()
        let worker: Worker
        var configured = false
        var childEnds: [Int32] = []
        var ownEnds: [Int32] = []
        defer { for fd in childEnds + ownEnds { close(fd) } }
        do throws(SystemError) {
            let (work, childWork) = try PacketSocket.pair()
            ownEnds.append(work)
            childEnds.append(childWork)
            let (control, childControl) = try PacketSocket.pair()
            ownEnds.append(control)
            childEnds.append(childControl)
            for end in [work, control] { PacketSocket.refuseDescriptors(end) }
            let (output, childOutput) = try Pipe.make()
            ownEnds.append(output)
            childEnds.append(childOutput)
            let (error, childError) = try Pipe.make()
            ownEnds.append(error)
            childEnds.append(childError)
            for pipe in [output, error] {
                // The last output of a run is read in one turn. A kernel that refuses leaves it larger.
                _ = fcntl(pipe, Self.setPipeSize, 16 << 10)
            }
            worker = Worker(
                serial: executors.nextSerial(),
                plugin: plugin,
                slotCount: plugin.slotCount,
                work: work,
                control: control,
                output: output,
                error: error
            )
            ownEnds = []
            // Configure first: a configuration that is too long must not leave a process behind.
            configured = configure(worker)
            let null = try Descriptor.null()
            childEnds.append(null)
            let sandbox = sandboxSpec(of: plugin)
            let owners = sandbox.copyOwners()
            childEnds.append(owners)
            let network = sandbox.copyNetwork(or: null)
            childEnds.append(network)
            var descriptors = [
                null, childOutput, childError, childWork, childControl, owners, network,
            ]
            for held in plugin.allHeld {
                // Duplicate the descriptor, because a reload may replace it before the process starts.
                let library = try Descriptor.copy(of: held.descriptor)
                childEnds.append(library)
                descriptors.append(library)
            }
            if configured {
                spawn(worker, descriptors)
                childEnds = []
            }
        } catch {
            throw RunExecutorError(
                description: "no worker can be made: \(error.description)",
                isShortage: error.isShortage
            )
        }
        guard configured else {
            throw RunExecutorError(description: PluginCode.configurationTooLong(plugin.name))
        }
        worker.startedAt = now
        markDirty(worker)
        return worker
    }

    private func watch(_ worker: Worker, _ channels: [Worker.Channel]) throws(SystemError) {
        for channel in channels {
            guard let fd = worker.descriptor(channel) else { continue }
            try reactor.watch(fd, for: .input, token: worker.token(channel))
        }
    }

    /// Makes the spawner start the worker's process.
    ///
    /// The spawner closes the descriptors afterwards.
    private func spawn(_ worker: Worker, _ descriptors: [Int32]) {
        let serial = worker.serial
        let group = controlGroup
        let limits = ControlGroup.Limits(worker.plugin.limits)
        let fileBytesMax = worker.plugin.limits.dataBytes
        let path = worker.plugin.isFunction ? nil : worker.plugin.path
        let known = worker.plugin.held?.sha256
        let order = Spawner.Order(
            path: configuration.workerPath,
            arguments: ["bghost-worker", String(getpid())],
            environment: workerEnvironment,
            descriptors: descriptors
        )
        spawner.spawn(order) { [reference, family, digests] result in
            for fd in descriptors { close(fd) }
            // Apply the limits here, before the host is notified of the process.
            if case .success(let spawned) = result {
                family.add(spawned.pid)
                // Set it now; the process may change its user later.
                FileSizeLimit.set(fileBytesMax, of: spawned.pid)
            }
            // If the start failed there is no group; `spawned` handles the failure.
            let folder = (try? result.get()).flatMap { group?.adopt(pid: $0.pid, limits: limits) }
            // Compute the digest here, in parallel with the start of the process and off the
            // reactor's thread.
            let digest = known ?? path.map { digests.digest(of: $0) } ?? ""
            reference.perform { $0.spawned(serial, result, group: folder, digest: digest) }
        }
    }

    /// The worker's environment, with only the variables that a library needs.
    private var workerEnvironment: [String] {
        var environment = ["LANG=C.UTF-8", "MALLOC_ARENA_MAX=2", "SWIFT_BACKTRACE=enable=no"]
        if let zone = getenv("TZ") { environment.append("TZ=" + String(cString: zone)) }
        return environment
    }

    /// Puts the configuration into the worker's outbox.
    ///
    /// - Returns: `false` if the configuration does not fit into a frame.
    private func configure(_ worker: Worker) -> Bool {
        let plugin = worker.plugin
        let code: Configure.Code
        var config = "{}"
        switch plugin.code {
        case .plugin(let definition):
            code = .plugin(
                path: plugin.path ?? definition.library,
                isHeld: plugin.held != nil,
                heldNeeds: UInt8(clamping: max(0, plugin.allHeld.count - 1))
            )
            config = definition.config
        case .function(let definition):
            code = .function(
                library: definition.library,
                symbol: definition.symbol,
                signature: definition.signature
            )
        }
        let limits = plugin.limits
        let message = Configure(
            name: plugin.name,
            code: code,
            dataDirectory: plugin.dataDirectory,
            config: config,
            slotCount: UInt16(plugin.slotCount),
            limits: WorkerRlimits(limits, slotCount: plugin.slotCount),
            confinement: sandboxSpec(of: plugin).message,
            isProbe: false,
            hostVersion: configuration.version,
            isTraceable: configuration.allowsDebugger
        )
        return message.write(to: &worker.outbox)
    }

    private func spawned(
        _ serial: UInt32,
        _ result: Result<Spawner.Spawned, SystemError>,
        group: String?,
        digest: String
    ) {
        guard let worker = executors.worker(serial) else { return }
        worker.libraryDigest = digest
        switch result {
        case .failure(let error):
            // A failed start is a fault of the machine, not of the plugin.
            let message = "no worker could be started: \(error.description)"
            registry.pauseForShortage(worker.plugin, message)
            gone(worker, because: nil, shortage: error.isShortage ? message : nil)
        case .success(let spawned):
            let process = ChildProcess(spawned, groupWriter: spawner)
            worker.process = process
            worker.group = group
            process.groupKillPath = group.map { $0 + "/cgroup.kill" }
            let hasQuota = worker.plugin.limits.cpuQuota != nil && holdsQuotas
            if hasQuota { process.quotaPath = group.map { $0 + "/cpu.max" } }
            do {
                // Watch only now: the first frame of a worker requires a known process.
                try watch(worker, Worker.Channel.allCases.filter { $0 != .control })
            } catch {
                process.kill()
            }
            worker.cpuTimer = reactor.watchCPU(
                ofProcess: spawned.pid,
                every: HostLimits.cpuPeriod,
                value: Int32(bitPattern: serial)
            )
            for number in worker.runs {
                supervisor.note(pid: spawned.pid, of: number)
            }
            if hasQuota, group == nil { giveUpUnheld(worker) }
            if worker.state == .ending { process.kill() }
            // The load may start processes and write files, which that timer does not show.
            auditSoon(worker)
            // The configuration is sent only now, so no code of the plugin ran outside the control group.
            markDirty(worker)
        }
    }

    /// An executor has loaded its plugin.
    func becameReady(_ executor: any RunExecutor, _ ready: Ready) {
        executor.state = .live
        executor.deadline = .never
        executor.handlers = ready.handlers
        noteOrigin(of: executor, version: ready.version)
        if !executor.plugin.isRetired { crashes.forgetLoadFailures(executor.plugin.name) }
        registry.shortageEnded(executor.plugin)
        if let worker = executors.worker(executor.serial) {
            supervisor.meter.workerStarted(
                plugin: executor.plugin.name,
                after: now.since(worker.startedAt)
            )
        }
        log.write(
            .debug,
            "worker.ready",
            "pid \(executor.pid ?? 0), \(ready.id) \(ready.version), "
                + CountText.of(ready.handlers.count, "handler"),
            plugin: executor.plugin.name
        )
        for number in executor.runs { supervisor.start(number) }
        // After the start of the waiting runs, because this dispatches further runs.
        registry.noteHandlers(of: executor.plugin, ready.handlers)
        if executor.isIdle { becameIdle(executor) }
    }

    // MARK: Reuse

    /// Removes a finished run from its executor.
    ///
    /// Its slot becomes free when the handler has released it, too.
    func runEnded(
        _ executor: any RunExecutor,
        _ number: UInt64,
        _ outcome: Outcome,
        lasted: Duration?
    ) {
        executor.runsCarried += 1
        noteDuration(executor)
        if executor.runOfSlot.count > 1, lasted != nil {
            executor.slots.sharedOutput.runEnded(
                runs: executor.slots.runsInProgress,
                limit: executor.plugin.limits.outputBytes
            )
        }
        // A run without a duration was never sent to it, so its success says nothing about the plugin.
        if outcome == .succeeded, lasted != nil {
            executor.plugin.prestartFailures = 0
            let plugin = executor.plugin
            if !plugin.isRetired, crashes.isOnTrial(plugin.name) { registry.liftQuarantine(plugin) }
        }
        switch executor.state {
        case .gone: return
        // After a run that did not succeed, a worker's state is not trusted and it is replaced. An
        // in-process plugin cannot be replaced.
        case .live where outcome != .succeeded && executor.isProcess: executor.state = .retiring
        case .live where executor.hasLeftProcesses(after: lasted): executor.state = .retiring
        default: break
        }
        let slotIndex = Int(number & (1 << WorkerSlotBits.count - 1))
        guard executor.runOfSlot[slotIndex] == number else { return }
        if executor.hasReleased[slotIndex] {
            slotFreed(executor, slotIndex)
        } else if executor.state != .ending {
            executor.unreleased += 1
            executor.slots.unreleasedSince[slotIndex] = now
            // A later one has its turn when this deadline has come.
            if executor.unreleased == 1 { setDeadline(executor, now + timeouts.release) }
        }
    }

    /// A handler has released a run that is complete.
    func released(_ executor: any RunExecutor, _ slotIndex: Int) {
        executor.unreleased -= executor.unreleased > 0 ? 1 : 0
        if executor.unreleased == 0 { executor.deadline = .never }
        executor.wasReleased()
        slotFreed(executor, slotIndex)
        dispatcher.dispatch()
    }

    private func slotFreed(_ executor: any RunExecutor, _ slotIndex: Int) {
        executor.freeSlot(slotIndex)
        switch executor.state {
        case .live:
            list(executor)
            if executor.isIdle { becameIdle(executor) }
        case .retiring where executor.isIdle: retire(executor)
        // No run waits for the load any more, so no deadline would end one that hangs.
        case .loading where executor.isIdle && executor.isProcess: retireNow(executor)
        case .loading: list(executor)
        default: break
        }
    }

    private func becameIdle(_ executor: any RunExecutor) {
        if isDraining || executor.plugin.isRetired {
            retire(executor)
            return
        }
        executor.becameIdle(self)
    }

    /// Limits a worker without a run, and retires it after a while.
    func workerBecameIdle(_ worker: Worker) {
        beginIdle(worker)
        measureData(of: worker.plugin)
        guard worker.state == .live else { return }
        list(worker)
        // The timer is re-armed lazily: an earlier timer that fires moves the deadline.
        worker.idleSince = now
        if worker.deadline == .never { setDeadline(worker, now + timeouts.idle) }
    }

    func setDeadline(_ executor: any RunExecutor, _ deadline: MonotonicInstant) {
        executor.deadline = deadline
        deadlines.arm(.executor(executor.serial), at: deadline)
    }
}
