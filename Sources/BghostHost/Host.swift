// SPDX-License-Identifier: Apache-2.0

internal import BghostCore
package import BghostLinux
internal import BghostStore
internal import BghostTransfer
internal import BghostTrust
internal import BghostWire
internal import Glibc

/// The core of the daemon: accepts requests, starts their runs, enforces limits and records outcomes.
///
/// It is an actor on the reactor's thread. That thread waits for workers, timers and clients, and
/// runs all code of the actor; an incoming frame is therefore handled without a lock and without
/// waking another thread. Nothing here may block.
package actor Host {
    package nonisolated let reactor: Reactor
    nonisolated let log: HostLog
    let configuration: HostConfiguration
    let spawner: Spawner
    let threads: BlockingThreads
    /// The inspection budgets by plugin name.
    var inspectionBudgets: [String: InspectionBudget] = [:]
    /// Watches the files of plugins; `nil` if the kernel cannot provide it.
    var libraryWatch: FileWatch?
    /// Measures the data directories of plugins.
    let dataDirectories: DataDirectories
    /// The number of workers that may have started processes.
    var workersWithTrees = 0
    nonisolated let family: ProcessFamily
    let store: any Store
    /// Answers questions about ended runs and dead letters.
    let history: HistoryReader
    /// The current manifest; the configuration contains the first one.
    var manifest: Manifest
    var isReloading = false
    /// Whether the reload adopts a changed library; a reload of the operator then waits for it.
    var isTakingUp = false
    var reloadTurns: [CheckedContinuation<Void, Never>] = []
    let startedAt = WallClock.now
    var timeouts: HostTimeouts { configuration.timeouts }
    /// The maximum number of concurrent runs.
    var slotsMax: Int { dispatcher.scheduler.settings.slots }

    var plugins: [PluginSlot] = []
    var pluginsByName: [String: PluginSlot] = [:]
    /// Decides about pauses and quarantines of plugins that crash.
    let crashes: CrashRegistry

    /// The dead letters of each plugin.
    var deadLetterIndex: DeadLetterIndex
    /// The dead letters that a command is redriving or discarding.
    var changingLetters: Set<RunID> = []

    /// Decides which runs start, when they start, and how failures are handled.
    let dispatcher: Dispatcher
    /// The run numbers by the scheduler's tickets.
    var runOfTicket = TicketTable()
    let clock: DaemonClock
    /// The date for which a timer is armed; `armedDates` is the deadline of that timer.
    var armedDate: Int64?
    var armedDates: UInt64 = 0
    /// When a doubted clock is checked again.
    var armedClock: UInt64 = 0
    /// Watches what tasks and requests require of the machine.
    let facts: FactMonitor
    /// The armed deadline of the facts.
    var armedFacts: UInt64 = 0
    var runs = RunTable()
    var runsBeingStopped = 0
    var timers = TimerHeap()
    var placement = Placement()
    /// Transfers; `nil` if the manifest has no sessions and no earlier daemon left transfers.
    var transferTable: TransferTable?
    var executors: [UInt32: RunExecutor] = [:]
    var serials: SerialNumbers
    var dirty: [Worker] = []
    var effects: [RunMachine.Effect] = []
    let waiters = RunWaiters()
    /// The buffer for received packets.
    ///
    /// It is never freed, because a host lives as long as the process, except in tests.
    let packet = UnsafeMutableRawBufferPointer.allocate(
        byteCount: FrameLayout.packetBytesMax,
        alignment: 16
    )
    /// The buffer for output; a pipe holds no more, so one read empties it.
    ///
    /// It is separate from `packet`, which may contain unread frames. It is never freed either.
    let printed = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
    let digests = LibraryDigests()
    /// The details of runs that have just ended, until their ends are committed.
    var detailsOfEnded: [RunID: RunDetails] = [:]
    var controlGroup: ControlGroup?
    let state: StateDirectory
    var isDraining: Bool { dispatcher.scheduler.isDraining }
    var isBackingUp = false
    var storeWatch = StoreWatch()
    /// The notifications of plugins; `nil` if no task delivers them.
    var notifications: NotificationOutbox?
    /// Whether the effects of due notifications are being carried out.
    var isAdvancingNotifications = false
    var drained: [CheckedContinuation<Void, Never>] = []
    /// Whether a drain is forced.
    var isHurried = false

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
        deadLetterIndex = DeadLetterIndex(limit: configuration.deadLettersMax)
        crashes = CrashRegistry(
            limits: configuration.timeouts.crashes,
            loadBackoff: configuration.timeouts.loadBackoff,
            hostBuild: configuration.build
        )
        threads = BlockingThreads()
        dataDirectories = DataDirectories(threads)
        serials = SerialNumbers(after: configuration.lastSerial)
        family = ProcessFamily(isSubreaper: configuration.isSubreaper)
        let reactor = try Reactor()
        self.reactor = reactor
        clock = DaemonClock(reactor)
        let spawner = try Spawner()
        self.spawner = spawner
        history = HistoryReader(store, threads, spawner: spawner)
        facts = FactMonitor(configuration.manifest.host.facts, reactor: reactor) {
            wanted,
            definitions in
            configuration.factSources?(wanted)
                ?? FactSettings(definitions, storage: configuration.stateDirectory)
                .sources(for: wanted, spawner: spawner)
        }
        manifest = configuration.manifest
        var random = SystemRandomNumberGenerator()
        let settings = Scheduler.Settings(
            manifest: configuration.manifest,
            manifestPath: configuration.manifestPath,
            slots: Self.slots(configuration.manifest),
            machineID: MachineID.read() ?? "",
            seed: random.next()
        )
        dispatcher = Dispatcher(settings, recorder: configuration.recorder)
    }

    // MARK: Start and end

    /// Logs whether the kernel or the daemon enforces the limits of workers.
    private func tellWhoLimits() {
        let held = controlGroup?.controllers.sorted() ?? []
        log.write(
            .info,
            "host.limits",
            held.isEmpty
                ? "no controllers of cgroup v2 are delegated: bghost watches the memory of workers and of"
                    + " what they start itself, and refuses them shared memory"
                : "the kernel holds workers to their limits of \(held.joined(separator: " and "))"
        )
    }

    static func slots(_ manifest: Manifest) -> Int {
        // With one slot, a single run would block all others.
        manifest.host.slots ?? max(2, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))
    }

    /// Recovers the state of the previous daemon and starts to accept requests.
    ///
    /// A plugin that cannot be used does not prevent the start: its tasks wait, and the log and
    /// `status` report the reason.
    private func start() throws(HostError) {
        controlGroup = ControlGroup(name: "bghost-\(getpid())")
        watchClock()
        watchFacts()
        try recover()
        watchStore()
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

    /// Locks the state directory, opens the store, and starts a host with both.
    package static func running(_ configuration: HostConfiguration) async throws -> Host {
        let state = try StateDirectory(
            configuration.stateDirectory,
            isLax: configuration.isLax
        )
        let store: any Store
        do {
            try configuration.beforeStart?()
            store = try configuration.openStore(state.path)
        } catch {
            state.unlock()
            throw error
        }
        let host: Host
        do {
            host = try Host(configuration, state, store)
            do {
                try host.reactor.start(client: host)
            } catch {
                host.spawner.end()
                throw error
            }
        } catch {
            store.close()
            state.unlock()
            throw error
        }
        do {
            try await host.openTransfers()
            await host.definePlugins()
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

    // MARK: Time

    var now: UInt64 { reactor.now }

    /// Arms a deadline of the timer heap.
    ///
    /// Tokens below 1 << 63 are run numbers.
    func arm(_ deadline: UInt64, token: UInt64) {
        timers.insert(deadline: deadline, token: token)
        if deadline < reactor.deadline { reactor.deadline = deadline }
    }

    func isLive(_ token: UInt64, _ deadline: UInt64) -> Bool {
        switch TimerToken(token) {
        case .run(let number): runs.index(of: number).map { runs[$0]?.armed == deadline } ?? false
        case .executor(let serial): executors[serial]?.deadline == deadline
        case .audit(let serial): (executors[serial] as? Worker)?.audit == deadline
        case .explain(let serial): (executors[serial] as? Worker)?.explainAt == deadline
        case .plugin(let index):
            plugins[index].problem?.retryAt == deadline || plugins[index].prestartAt == deadline
                || plugins[index].lookAt == deadline
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

/// The purpose of a deadline in the timer heap.
enum TimerToken {
    case run(UInt64)
    case executor(UInt32)
    case audit(UInt32)
    case plugin(Int)
    case dates
    case facts
    case placement
    case clock
    case explain(UInt32)

    init(_ raw: UInt64) {
        switch raw >> 61 {
        case 4: self = .executor(UInt32(truncatingIfNeeded: raw))
        case 5: self = .audit(UInt32(truncatingIfNeeded: raw))
        case 6: self = .plugin(Int(raw & 0xFFFF_FFFF))
        case 7:
            switch raw & 7 {
            case 0: self = .dates
            case 1: self = .facts
            case 2: self = .placement
            case 3: self = .clock
            default: self = .explain(UInt32(truncatingIfNeeded: raw >> 3))
            }
        default: self = .run(raw)
        }
    }

    var raw: UInt64 {
        switch self {
        case .run(let number): number
        case .executor(let serial): 4 << 61 | UInt64(serial)
        case .audit(let serial): 5 << 61 | UInt64(serial)
        case .plugin(let index): 6 << 61 | UInt64(index)
        case .dates: 7 << 61
        case .facts: 7 << 61 | 1
        case .placement: 7 << 61 | 2
        case .clock: 7 << 61 | 3
        case .explain(let serial): 7 << 61 | UInt64(serial) << 3 | 4
        }
    }
}

// The reactor calls these methods on its own thread, which is this actor's executor.
extension Host: ReactorClient {
    package nonisolated func ready(_ token: UInt64, _ readiness: Readiness) {
        assumeIsolated {
            if token == DaemonClock.token {
                $0.clockWasSet()
            } else if token == Self.libraryToken {
                $0.librariesTouched()
            } else if FactMonitor.owns(token) {
                $0.factsChanged($0.facts.ready(token, readiness, now: $0.moment))
            } else {
                $0.executorReady(token, readiness)
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
            case .executor(let serial): executorDeadline(serial)
            case .audit(let serial): auditWorker(serial)
            case .explain(let serial): explanationIsLate(serial)
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
