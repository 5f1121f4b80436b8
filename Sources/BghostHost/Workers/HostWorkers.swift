// SPDX-License-Identifier: Apache-2.0

internal import BghostCore
internal import BghostLinux
internal import BghostTrust
internal import BghostWire
internal import Glibc

/// Workers: from their start to their end, and which run goes to which.
extension Host {
    /// A carrier of the plugin that has a free lane: the one used last, one that is being made, or a
    /// new one.
    func carrierWithFreeLane(for plugin: PluginSlot) throws(CarrierError) -> Carrier {
        while let carrier = plugin.available.last {
            // Its last lane goes: it is listed again when one comes free.
            if carrier.hasOneFreeLane || carrier.state == .ending
                || carrier.state == .gone || carrier.state == .retiring
            {
                plugin.available.removeLast()
                carrier.isListed = false
            }
            guard carrier.state == .live || carrier.state == .loading else { continue }
            carrier.deadline = carrier.state == .live ? .max : carrier.deadline
            return carrier
        }
        let carrier = try addCarrier(for: plugin)
        if carrier.lanes.count > 1 { list(carrier) }
        return carrier
    }

    func addCarrier(for plugin: PluginSlot) throws(CarrierError) -> Carrier {
        let carrier =
            plugin.isolation == .worker ? try addWorker(for: plugin) : try addInProcess(for: plugin)
        carriers[carrier.serial] = carrier
        plugin.carriers[carrier.serial] = carrier
        return carrier
    }

    /// Makes a carrier with a free lane known.
    func list(_ carrier: Carrier) {
        guard !carrier.isListed else { return }
        carrier.isListed = true
        carrier.plugin.available.append(carrier)
    }

    func nextSerial() -> UInt32 {
        lastSerial += 1
        return lastSerial
    }

    // MARK: Start

    private func addWorker(for plugin: PluginSlot) throws(CarrierError) -> Worker {
        try plugin.requireHeld()
        let worker: Worker
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
            worker = Worker(
                serial: nextSerial(),
                plugin: plugin,
                lanes: plugin.lanes,
                work: work,
                control: control,
                output: output,
                error: error
            )
            ownEnds = []
            let null = open("/dev/null", O_RDONLY | O_CLOEXEC)
            childEnds.append(null)
            let owners = walls(of: plugin).copyOwners()
            childEnds.append(owners)
            var descriptors = [null, childOutput, childError, childWork, childControl, owners]
            if let held = plugin.held {
                // A copy, since the library may be held anew before the process is started.
                let library = try Descriptor.copy(of: held.descriptor)
                childEnds.append(library)
                descriptors.append(library)
            }
            spawn(worker, descriptors)
            childEnds = []
        } catch {
            throw CarrierError(
                description: "no worker can be made: \(error.description)",
                isShortage: error.isShortage
            )
        }
        worker.audit = .max
        _ = configure(worker)
        return worker
    }

    private func watch(_ worker: Worker, _ channels: [Worker.Channel]) throws(SystemError) {
        for channel in channels {
            guard let fd = worker.descriptor(channel) else { continue }
            try reactor.watch(fd, for: .input, token: worker.token(channel))
        }
    }

    /// Has the spawner start the process.
    ///
    /// The descriptors are closed there afterwards.
    private func spawn(_ worker: Worker, _ descriptors: [Int32]) {
        let serial = worker.serial
        let group = controlGroup
        let limits = ControlGroup.Limits(worker.plugin.limits)
        let fileBytesMax = worker.plugin.limits.dataBytes
        let order = Spawner.Order(
            path: configuration.workerPath,
            arguments: ["bghost-worker", String(getpid())],
            environment: workerEnvironment,
            descriptors: descriptors
        )
        spawner.spawn(order) { [weak self, reactor, family] result in
            for fd in descriptors { close(fd) }
            // At once: what the process may not do it may not do before the host is told either.
            if case .success(let spawned) = result {
                family.add(spawned.pid)
                // Later it may be another user's.
                FileSizeLimit.set(fileBytesMax, of: spawned.pid)
            }
            let folder = (try? result.get()).flatMap { group?.adopt(pid: $0.pid, limits: limits) }
            // Awaited by nobody: the host learns of it on its own thread, in the order of the starts.
            Task(executorPreference: reactor) { await self?.spawned(serial, result, group: folder) }
        }
    }

    /// Nothing of the daemon's environment but what a library needs to run at all.
    private var workerEnvironment: [String] {
        var environment = ["LANG=C.UTF-8", "MALLOC_ARENA_MAX=2", "SWIFT_BACKTRACE=enable=no"]
        if let zone = getenv("TZ") { environment.append("TZ=" + String(cString: zone)) }
        return environment
    }

    private func configure(_ worker: Worker) -> Bool {
        let plugin = worker.plugin
        let code: Configure.Code
        var config = "{}"
        switch plugin.code {
        case .plugin(let definition):
            code = .plugin(path: plugin.path ?? definition.library, isHeld: plugin.held != nil)
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
            lanes: UInt16(plugin.lanes),
            limits: WorkerRlimits(limits),
            confinement: walls(of: plugin).message,
            isProbe: false,
            hostVersion: configuration.version
        )
        markDirty(worker)
        return message.write(to: &worker.outbox)
    }

    private func spawned(
        _ serial: UInt32,
        _ result: Result<Spawner.Spawned, SystemError>,
        group: String?
    ) {
        guard let worker = carriers[serial] as? Worker else { return }
        switch result {
        case .failure(let error):
            // That is the machine's fault, and says nothing against the plugin.
            let message = "no worker could be started: \(error.description)"
            pauseForShortage(worker.plugin, message)
            gone(worker, because: nil, shortage: error.isShortage ? message : nil)
        case .success(let spawned):
            let process = ChildProcess(spawned)
            worker.process = process
            worker.group = group
            process.groupKillPath = group.map { $0 + "/cgroup.kill" }
            let hasQuota = worker.plugin.limits.cpuQuota != nil && holdsQuotas
            if hasQuota { process.quotaPath = group.map { $0 + "/cpu.max" } }
            do {
                // Not before: what a quick worker says must find its process known.
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
                if let index = runs.index(of: number) { runs[index]?.record.pid = spawned.pid }
            }
            if hasQuota, group == nil { giveUpUnheld(worker) }
            if worker.state == .ending { process.kill() }
            // It was not told what to load before, so nothing of its plugin was outside its group.
            markDirty(worker)
        }
    }

    /// The worker has loaded its plugin.
    func becameReady(_ carrier: Carrier, _ ready: Ready) {
        carrier.state = .live
        carrier.deadline = .max
        carrier.handlers = ready.handlers
        carrier.plugin.loadFailures = 0
        carrier.plugin.shortages = 0
        log.write(
            .debug,
            "worker.ready",
            "pid \(carrier.pid ?? 0), \(ready.id) \(ready.version), \(ready.handlers.count) handlers",
            plugin: carrier.plugin.name
        )
        for number in carrier.runs { start(number) }
        // After those: it begins further runs, which start at once.
        noteHandlers(of: carrier.plugin, ready.handlers)
        if carrier.isIdle { becameIdle(carrier) }
    }

    // MARK: Reuse

    /// A run has left its carrier.
    ///
    /// Its lane is free once the handler has let go of it too.
    func runLeft(
        _ carrier: Carrier,
        _ number: UInt64,
        _ outcome: Outcome,
        lasted: Duration?
    ) {
        carrier.runsCarried += 1
        noteDuration(carrier)
        if outcome == .succeeded {
            carrier.plugin.prestartFailures = 0
            if carrier.plugin.isOnTrial { acquit(carrier.plugin) }
        }
        switch carrier.state {
        case .gone: return
        // Only success leaves a worker that can be trusted to be as good as new. The daemon has no
        // other self to go on with.
        case .live where outcome != .succeeded && carrier is Worker: carrier.state = .retiring
        case .live where hasLeftProcesses(carrier, after: lasted): carrier.state = .retiring
        default: break
        }
        let lane = Int(number & (1 << LaneBits.count - 1))
        guard carrier.lanes[lane] == number else { return }
        if carrier.hasReleased[lane] {
            laneFreed(carrier, lane)
        } else if carrier.state != .ending {
            carrier.unreleased += 1
            setDeadline(carrier, now &+ patience.release)
        }
    }

    /// Whether processes of a run outlive it, which the end of their worker then ends too.
    ///
    /// Not asked after a run that was too short to be worth it, nor where others may still need what
    /// they started: that is found after a later run, or when the worker has nothing to do.
    private func hasLeftProcesses(_ carrier: Carrier, after lasted: Duration?) -> Bool {
        guard let worker = carrier as? Worker, worker.lanes.count == 1,
            let lasted, lasted.clampedNanoseconds >= HostLimits.measuredRunMin
        else { return false }
        return worker.process.map { $0.countTree(limit: 1) > 1 } ?? false
    }

    /// A handler has let go of a run that is complete.
    func released(_ carrier: Carrier, _ lane: Int) {
        carrier.unreleased -= carrier.unreleased > 0 ? 1 : 0
        if carrier.unreleased == 0 { carrier.deadline = .max }
        laneFreed(carrier, lane)
        dispatch()
    }

    private func laneFreed(_ carrier: Carrier, _ lane: Int) {
        carrier.freeLane(lane)
        switch carrier.state {
        case .live:
            list(carrier)
            if carrier.isIdle { becameIdle(carrier) }
        case .retiring where carrier.isIdle: retire(carrier)
        default: break
        }
    }

    private func becameIdle(_ carrier: Carrier) {
        if isDraining || carrier.plugin.isRetired {
            retire(carrier)
            return
        }
        guard let worker = carrier as? Worker else { return }
        worker.audit = .max
        lookAtData(of: worker.plugin)
        list(carrier)
        // Re-armed lazily: the timer that stands is moved on when it comes.
        worker.idleSince = now
        if worker.deadline == .max { setDeadline(worker, now &+ patience.idle) }
    }

    func setDeadline(_ carrier: Carrier, _ deadline: UInt64) {
        carrier.deadline = deadline
        arm(deadline, token: TimerToken.carrier(carrier.serial).raw)
    }

    func carrierDeadline(_ serial: UInt32) {
        guard let carrier = carriers[serial] else { return }
        carrier.deadline = .max
        if let worker = carrier as? Worker, let since = worker.hungUpAt, worker.state != .ending {
            // One that is dying says why in a moment, later on a machine that is busy.
            if now < since &+ HostLimits.dyingMax, worker.process?.isEnding == true {
                return setDeadline(worker, now &+ HostLimits.hungUpPeriod)
            }
            kill(worker, for: .wrongState)
            return
        }
        if carrier.state == .ending || carrier.unreleased > 0 {
            if carrier.unreleased > 0, carrier.state != .ending {
                log.write(
                    .warning,
                    "worker.unreleased",
                    "a handler completed its run and did not return; its worker is killed",
                    plugin: carrier.plugin.name
                )
            }
            retireNow(carrier)
            return
        }
        guard carrier.isIdle, let worker = carrier as? Worker else { return }
        if worker.state == .loading { return prestartOverdue(worker) }
        let due = worker.idleSince &+ patience.idle
        guard due <= now else { return setDeadline(carrier, due) }
        if isKeptIdle(worker) {
            setDeadline(carrier, now &+ patience.idle)
        } else {
            retire(carrier)
        }
    }

}

extension ControlGroup.Limits {
    /// Of memory what the daemon too kills for; of threads what no plugin wants.
    init(_ limits: WorkerLimits) {
        self.init(
            memoryBytes: limits.memoryBytesMax,
            threads: limits.processes + 1024,
            cpuPercent: limits.cpuQuota
        )
    }
}

extension WorkerRlimits {
    /// Backstops: well above the limits that the daemon itself holds a worker to.
    init(_ limits: WorkerLimits) {
        self.init(
            addressSpaceBytes: limits.memoryBytes.map {
                $0.multipliedReportingOverflow(by: 4).partialValue &+ (2 << 30)
            } ?? 0,
            cpuSeconds: 0,
            descriptors: UInt32(clamping: limits.descriptors),
            processes: UInt32(clamping: limits.processes)
        )
    }
}
