// SPDX-License-Identifier: Apache-2.0

internal import BghostCore
package import BghostLinux
internal import BghostStore
internal import BghostTrust
internal import BghostWire
internal import Glibc

/// The daemon's heart: accepts requests, begins their runs in workers, holds the runs to their limits
/// and records how they end.
///
/// It is an actor on the reactor's thread. That thread waits for workers, timers and clients, and runs
/// everything here; so a frame that comes in is handled where the run's state is, without a lock and
/// without waking anybody. Nothing here may block.
package actor Host {
    package nonisolated let reactor: Reactor
    nonisolated let log: HostLog
    let configuration: HostConfiguration
    let spawner: Spawner
    /// Where what may wait for a disk is looked at.
    var dataThread: WorkThread?
    nonisolated let family: ProcessFamily
    let store: any Store
    /// The manifest that is in force; the configuration has the first one.
    var manifest: Manifest
    var isReloading = false
    let startedAt = WallClock.now
    var patience: HostPatience { configuration.patience }
    /// How many runs may be under way at once.
    var slotsMax: Int { scheduler.settings.slots }

    var plugins: [PluginSlot] = []
    var pluginsByName: [String: PluginSlot] = [:]
    /// What is known against plugins, by their names.
    var charges: [String: PluginCharge] = [:]
    let hostBuild: String

    /// Decides what runs, when, and what becomes of it.
    var scheduler: Scheduler
    /// What it has decided and nobody has carried out yet.
    var decisions: [SchedulerEffect] = []
    var isCarryingOut = false
    /// The number of each run that the scheduler knows.
    var runOfTicket = TicketTable()
    var clockWatch: ClockWatch?
    /// What somebody has moved the wall clock by, nanoseconds.
    var clockOffset: Int64 = 0
    /// The date for which a timer is armed, and that timer.
    var armedDate: Int64?
    var armedDates: UInt64 = 0
    /// When the clock is looked at again, as long as it is doubted.
    var armedClock: UInt64 = 0
    /// What is known of the machine, if some task wants to know.
    var facts: MachineFacts?
    /// What of it is watched.
    var watched: RequirementSet = []
    /// The deadline of the facts that is armed.
    var armedFacts: UInt64 = 0
    var runs = RunTable()
    var runsBeingStopped = 0
    var timers = TimerHeap()
    var placement = Placement()
    /// Transfers, where the manifest has sessions or an earlier daemon has left some.
    var transferTable: TransferTable?
    /// Held libraries that were loaded into this process.
    ///
    /// Images stay, and the loader knows them by the number of their descriptor: were it used again,
    /// another library would be taken for this one.
    var librariesInDaemon: [HeldLibrary] = []
    var carriers: [UInt32: Carrier] = [:]
    var lastSerial: UInt32 = 0
    var dirty: [Worker] = []
    var effects: [RunMachine.Effect] = []
    /// Those who wait for the end of a request's run, each by a number of its own.
    var waiters: [RunID: [UInt64: CheckedContinuation<RunRecord?, Never>]] = [:]
    var lastWaiter: UInt64 = 0
    /// Where packets and output are received.
    ///
    /// It lives as long as the process, as hosts do but in tests.
    let packet = UnsafeMutableRawBufferPointer.allocate(
        byteCount: FrameLayout.packetBytesMax,
        alignment: 16
    )
    var controlGroup: ControlGroup?
    let state: StateDirectory
    var isDraining: Bool { scheduler.isDraining }
    var isBackingUp = false
    /// What plugins want people to be told; `nil` if nobody delivers it.
    var notifications: HostOutbox?
    var drained: [CheckedContinuation<Void, Never>] = []
    /// Whether a drain waits for nobody.
    private var isHurried = false

    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        reactor.asUnownedSerialExecutor()
    }

    /// Prepares a host.
    ///
    /// Nothing runs before `start`.
    private init(
        _ configuration: HostConfiguration,
        _ state: StateDirectory,
        _ store: any Store
    ) throws(SystemError) {
        self.configuration = configuration
        log = configuration.log
        self.state = state
        self.store = store
        hostBuild = configuration.build
        family = ProcessFamily(isSubreaper: configuration.isSubreaper)
        reactor = try Reactor()
        spawner = try Spawner()
        manifest = configuration.manifest
        var random = SystemRandomNumberGenerator()
        let settings = Scheduler.Settings(
            manifest: configuration.manifest,
            manifestPath: configuration.manifestPath,
            slots: Self.slots(configuration.manifest),
            machineID: MachineID.read() ?? "",
            seed: random.next()
        )
        scheduler = Scheduler(settings)
        if let recorder = configuration.recorder {
            recorder.begin(settings)
            scheduler.keepInputs()
        }
    }

    // MARK: Start and end

    /// Says who sees to it that workers keep to their memory and threads.
    private func tellWhoLimits() {
        let held = controlGroup?.controllers.sorted() ?? []
        log.write(
            .info,
            "host.limits",
            held.isEmpty
                ? "no controllers of cgroup v2 are delegated: bghost watches the memory of workers itself"
                : "the kernel holds workers to their limits of \(held.joined(separator: " and "))"
        )
    }

    static func slots(_ manifest: Manifest) -> Int {
        manifest.host.slots ?? max(2, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))) * 2)
    }

    /// Looks at the plugins, takes over what the daemon before this one left, and begins to accept
    /// requests.
    ///
    /// A plugin that cannot be used does not keep the host from starting: its tasks wait, and the log
    /// and `status` say why.
    private func start() throws(HostError) {
        controlGroup = ControlGroup(name: "bghost-\(getpid())")
        definePlugins()
        watchClock()
        startFacts()
        try recover()
        reactor.lookAtClock()
        startWakes()
        lookAtClock()
        decide { scheduler, now, effects in scheduler.start(now: now, &effects) }
        prestart()
        log.write(
            .info,
            "host.started",
            "\(manifest.tasks.count) tasks, \(plugins.count) plugins, \(slotsMax) slots"
        )
        tellWhoLimits()
    }

    /// Takes the state directory, opens the store, and starts a host on both.
    package static func running(_ configuration: HostConfiguration) async throws -> Host {
        let state = try StateDirectory(configuration.stateDirectory)
        let store: any Store
        do {
            try configuration.beforeStart?()
            store = try configuration.openStore(state.path)
        } catch {
            state.unlock()
            throw error
        }
        let host = try Host(configuration, state, store)
        host.reactor.start(client: host)
        do {
            try await host.openTransfers()
            try await host.start()
        } catch {
            await host.endTransfers()
            host.reactor.stop()
            host.spawner.end()
            store.close()
            state.unlock()
            throw error
        }
        return host
    }

    /// Takes no new work, asks every run to stop, and returns once the last worker is gone.
    ///
    /// Bounded: each run has its grace, each worker the finish limit.
    package func drain() async {
        guard !isDraining else {
            await waitUntilDrained()
            return
        }
        decide { scheduler, now, _ in scheduler.drain(now: now) }
        log.write(.info, "host.draining", "\(runs.count) runs are asked to stop")
        for number in runs.numbers { handle(.stop(.drain), of: number) }
        for carrier in carriers.values where carrier.isIdle { retire(carrier) }
        if isHurried { hurry() }
        await waitUntilDrained()
        await endTransfers()
        // Before the spawner, which its probes need to the last.
        facts?.stop()
        // Behind the removal of the workers' own groups, which is on its way there.
        if let controlGroup {
            await withCheckedContinuation { continuation in
                spawner.perform {
                    controlGroup.remove()
                    continuation.resume()
                }
            }
        }
        // Everything that has ended is in it; it waits for the disk, so it is not done here.
        await withCheckedContinuation { continuation in
            spawner.perform { [store] in
                store.close()
                continuation.resume()
            }
        }
        state.unlock()
        log.write(.info, "host.stopped", "no run and no worker is left")
        log.endFollowers()
        spawner.end()
        dataThread?.end()
        reactor.stop()
    }

    /// Has a drain wait for nobody any more: what still runs is killed, as at the end of its grace.
    ///
    /// Before a drain it has the next one hurry.
    package func hurry() {
        isHurried = true
        guard isDraining, !isEmpty else { return }
        log.write(.warning, "host.hurried", "\(runs.count) runs are not waited for")
        for number in runs.numbers { handle(.hurry, of: number) }
        for carrier in Array(carriers.values) { retireNow(carrier) }
    }

    private func waitUntilDrained() async {
        await withCheckedContinuation { continuation in
            if isEmpty { continuation.resume() } else { drained.append(continuation) }
        }
    }

    private var isEmpty: Bool { runs.count == 0 && carriers.isEmpty }

    func checkDrained() {
        guard isDraining, isEmpty, !drained.isEmpty else { return }
        let continuations = drained
        drained = []
        for continuation in continuations { continuation.resume() }
    }

    // MARK: Time

    var now: UInt64 { reactor.now }

    /// Arms a deadline of the timer heap.
    ///
    /// Tokens below 1 << 63 are runs.
    func arm(_ deadline: UInt64, token: UInt64) {
        timers.insert(deadline: deadline, token: token)
        if deadline < reactor.deadline { reactor.deadline = deadline }
    }

    func isLive(_ token: UInt64, _ deadline: UInt64) -> Bool {
        switch TimerToken(token) {
        case .run(let number): runs.index(of: number).map { runs[$0]?.armed == deadline } ?? false
        case .carrier(let serial): carriers[serial]?.deadline == deadline
        case .audit(let serial): (carriers[serial] as? Worker)?.audit == deadline
        case .plugin(let index):
            plugins[index].problem?.retryAt == deadline || plugins[index].prestartAt == deadline
        case .dates: deadline == armedDates
        case .facts: deadline == armedFacts
        case .placement: deadline == placement.due
        case .clock: deadline == armedClock
        }
    }

    func rearm() {
        reactor.deadline = timers.next ?? .max
    }
}

/// What a deadline in the timer heap is about.
enum TimerToken {
    case run(UInt64)
    case carrier(UInt32)
    case audit(UInt32)
    case plugin(Int)
    case dates
    case facts
    case placement
    case clock

    init(_ raw: UInt64) {
        switch raw >> 61 {
        case 4: self = .carrier(UInt32(truncatingIfNeeded: raw))
        case 5: self = .audit(UInt32(truncatingIfNeeded: raw))
        case 6: self = .plugin(Int(raw & 0xFFFF_FFFF))
        case 7:
            switch raw & 3 {
            case 0: self = .dates
            case 1: self = .facts
            case 2: self = .placement
            default: self = .clock
            }
        default: self = .run(raw)
        }
    }

    var raw: UInt64 {
        switch self {
        case .run(let number): number
        case .carrier(let serial): 4 << 61 | UInt64(serial)
        case .audit(let serial): 5 << 61 | UInt64(serial)
        case .plugin(let index): 6 << 61 | UInt64(index)
        case .dates: 7 << 61
        case .facts: 7 << 61 | 1
        case .placement: 7 << 61 | 2
        case .clock: 7 << 61 | 3
        }
    }
}

// The reactor calls on its own thread, which is this actor's executor.
extension Host: ReactorClient {
    package nonisolated func ready(_ token: UInt64, _ readiness: Readiness) {
        assumeIsolated {
            if token == Self.clockToken {
                $0.clockWasSet()
            } else if !$0.factsReady(token, readiness) {
                $0.carrierReady(token, readiness)
            }
        }
    }

    package nonisolated func deadlinePassed(now: UInt64) {
        assumeIsolated { $0.deadlinesPassed(now: now) }
    }

    package nonisolated func usedCPU(_ value: Int32) {
        assumeIsolated { $0.workerUsedCPU(serial: UInt32(bitPattern: value)) }
    }

    package nonisolated func turnEnded() {
        assumeIsolated { $0.flushWorkers() }
    }
}

extension Host {
    private func deadlinesPassed(now: UInt64) {
        while let token = timers.popDue(now: now, isLive: isLive) {
            switch TimerToken(token) {
            case .run(let number): handle(.deadline, of: number)
            case .carrier(let serial): carrierDeadline(serial)
            case .audit(let serial): auditWorker(serial)
            case .plugin(let index): pluginDue(plugins[index])
            case .dates: datesCame()
            case .facts: factsDue()
            case .placement: placementDue()
            case .clock: lookAtClock()
            }
        }
        rearm()
    }
}
