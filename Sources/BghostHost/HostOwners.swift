// SPDX-License-Identifier: Apache-2.0

internal import BghostConfiguration
internal import BghostDispatch
internal import BghostLinux
internal import BghostModel
internal import BghostPolicy
internal import BghostServices
internal import BghostStore
internal import BghostTransferBridge

/// The owners of a daemon's state, and how they are connected.
///
/// Each has one job and changes its own state only. What crosses is a call with a value. An owner that
/// others call back holds the callbacks, and `connect` sets them.
struct HostOwners {
    let services: HostServices
    let store: any Store
    let family: ProcessFamily
    let manifest: CurrentManifest
    let plugins = PluginTable()
    let runs = RunTable()
    let executors: ExecutorTable
    let commits: CommitQueue
    let history: HistoryReader
    let checkpoints: CheckpointCommands
    let dispatcher: Dispatcher
    let intake: RequestIntake
    let dates: DateWatch
    let facts: FactWatch
    let notifications: NotificationDelivery
    let transfers: TransferCoordinator
    let calls: PluginCalls
    let registry: PluginRegistry
    let pool: WorkerPool
    let supervisor: RunSupervisor
    let reloader: ManifestReloader
    let drain: DrainCommands
    let reporter: ServiceReporter
    let audit: AuditCommands
    let alerts: AlertOwners
    let fleet: FleetMember
    let loop: LoopMeter

    /// - Parameter controlGroup: the control group of the workers; `nil` if none is delegated.
    init(_ services: HostServices, _ store: any Store, controlGroup: ControlGroup?) {
        let configuration = services.configuration
        let (reactor, clock, log) = (services.reactor, services.clock, services.log)
        self.services = services
        self.store = store
        loop = LoopMeter(reactor)
        family = ProcessFamily(isSubreaper: configuration.isSubreaper)
        let manifest = CurrentManifest(
            configuration.manifest,
            dataFolder: services.state.dataFolder
        )
        self.manifest = manifest
        executors = ExecutorTable(after: configuration.lastSerial)
        commits = CommitQueue(
            store,
            reactor: reactor,
            log: log,
            deadLettersMax: configuration.deadLettersMax,
            audit: configuration.manifest.host.audit
        )
        history = HistoryReader(store, services.threads, spawner: services.spawner)
        checkpoints = CheckpointCommands(commits, history, clock, log: log)
        audit = AuditCommands(
            commits,
            history,
            clock,
            services.deadlines,
            log: log,
            rowWait: configuration.timeouts.auditRow
        ) { manifest.value.host.timeZone }
        dispatcher = Dispatcher(
            Self.settings(configuration),
            moment: { clock.moment },
            recorder: configuration.recorder
        )
        intake = RequestIntake(dispatcher, commits)
        dates = DateWatch(clock, services.deadlines, dispatcher, log: log) { wall in
            guard let look = configuration.clockDoubt else { return KernelClock.doubt(unix: wall) }
            return look()
        }
        facts = FactWatch(
            Self.monitor(services),
            dispatcher,
            services.deadlines,
            clock,
            log: log
        ) { manifest.value.host.facts }
        notifications = NotificationDelivery(
            configuration.manifest.notifications,
            manifestPath: configuration.manifestPath,
            dispatcher,
            commits,
            intake,
            dates,
            clock,
            log: log
        )
        alerts = AlertOwners(
            dispatcher,
            commits,
            clock,
            services.deadlines,
            notifications,
            reactor: reactor,
            spawner: services.spawner,
            transport: configuration.alertTransport,
            log: log
        ) { manifest.value.host.timeZone }
        fleet = FleetMember(
            configuration.manifest.host.fleet,
            configuration.fleetLink?(services.state.path),
            dispatcher,
            services.deadlines,
            clock,
            log: log,
            reactor: reactor
        ) {
            let manifest = manifest.value
            return { manifest.fleetTasks }
        }
        fleet.partitions = PartitionOwner(fleet, configuration.partitions, commits) {
            [unowned facts] in facts.watch($0)
        }
        let dataDirectories = DataDirectories(services.threads)
        let replies = CallReplies(executors, runs, clock, log: log)
        transfers = TransferCoordinator(
            dispatcher,
            commits,
            intake,
            replies,
            executors,
            runs,
            clock,
            dataDirectories,
            state: services.state,
            reactor: reactor,
            spawner: services.spawner,
            configuration: configuration
        ) { manifest.value }
        calls = PluginCalls(
            dispatcher,
            intake,
            replies,
            executors,
            runs,
            plugins,
            notifications,
            transfers,
            facts,
            checkpoints,
            clock,
            reactor: reactor,
            configuration: configuration,
            writable: { manifest.writable },
            zone: { manifest.value.host.timeZone }
        )
        let crashes = CrashRegistry(
            limits: configuration.timeouts.crashes,
            loadBackoff: configuration.timeouts.loadBackoff,
            hostBuild: configuration.build
        )
        registry = PluginRegistry(services, plugins, dispatcher, commits, crashes, manifest)
        pool = WorkerPool(
            services,
            executors,
            runs,
            plugins,
            dispatcher,
            commits,
            crashes,
            dataDirectories,
            replies,
            calls,
            manifest,
            family,
            controlGroup: controlGroup
        )
        supervisor = RunSupervisor(
            services,
            runs,
            plugins,
            dispatcher,
            commits,
            notifications,
            transfers,
            calls
        )
        drain = DrainCommands(
            dispatcher,
            services.deadlines,
            services.clock,
            log: services.log,
            runCount: { [runs] in runs.count }
        )
        reloader = ManifestReloader(services, registry, pool, transfers, facts)
        let summary = ServiceSummary(
            dispatcher: dispatcher,
            commits: commits,
            plugins: plugins,
            transfers: transfers,
            runs: runs,
            alerts: alerts.monitor
        )
        reporter = ServiceReporter(
            reactor,
            services.deadlines,
            notify: configuration.notify,
            watchdogTimeout: configuration.watchdogTimeout
        ) { [spawner = services.spawner] thread, answer in
            switch thread {
            case .store: store.answer(answer)
            case .spawner: spawner.perform(answer)
            }
        } describe: {
            summary.text
        }
    }

    private static func settings(_ configuration: HostConfiguration) -> Scheduler.Settings {
        var random = SystemRandomNumberGenerator()
        return Scheduler.Settings(
            manifest: configuration.manifest,
            manifestPath: configuration.manifestPath,
            slots: configuration.manifest.slots,
            machineID: MachineID.read() ?? "",
            // Without an id, each start of the daemon counts as a boot.
            bootID: BootID.read() ?? "unknown \(random.next())",
            seed: random.next()
        )
    }

    private static func monitor(_ services: HostServices) -> FactMonitor {
        let (configuration, spawner) = (services.configuration, services.spawner)
        return FactMonitor(configuration.manifest.host.facts, reactor: services.reactor) {
            wanted,
            definitions in
            configuration.factSources?(wanted)
                ?? FactSettings(definitions, storage: configuration.stateDirectory)
                .sources(for: wanted, spawner: spawner)
        }
    }

    /// Connects owners that call each other; call it once, before any other use.
    ///
    /// - Parameter onEnd: called when a run or an executor has ended.
    func connect(onEnd: @escaping () -> Void) {
        services.deadlines.begin {
            [
                unowned supervisor, unowned pool, unowned registry, unowned dates, unowned facts,
                unowned reporter, unowned drain, unowned audit, unowned alerts, unowned fleet
            ]
            token,
            deadline in
            switch token {
            case .run(let number): supervisor.isLive(number, deadline)
            case .executor, .audit, .explain, .placement: pool.isLive(token, deadline)
            case .plugin(let index): registry.isLive(index, deadline)
            case .dates, .clock: dates.isLive(token, deadline)
            case .facts: facts.isLive(deadline)
            case .service, .watchdog: reporter.isLive(token, deadline)
            case .drain: drain.isLive(deadline)
            case .auditHead, .auditRow: audit.isLive(token, deadline)
            case .alerts, .heartbeat: alerts.isLive(token, deadline)
            case .fleet, .partitions: fleet.isLive(token, deadline)
            }
        }
        registry.connect(pool, reloader, intake.parameters, alerts)
        pool.connect(supervisor, registry, onEnd: onEnd)
        supervisor.connect(pool, registry, onEnd: onEnd)
        supervisor.fleet = fleet
        fleet.onChange = { [unowned alerts] in alerts.monitor.fleetChanged($0, problem: $1) }
        fleet.partitions?.stopRun = { [unowned supervisor] id in
            supervisor.stop(
                supervisor.runs.slots.lazy.compactMap(\.self).first { $0.record.request == id }
            )
        }
        supervisor.onStart = { [unowned alerts] in alerts.monitor.runStarted($0) }
        dispatcher.begin { [unowned supervisor] in
            supervisor.execute($0)
        } onRoundEnd: { [unowned notifications, unowned dates, unowned reporter] in
            notifications.advance()
            dates.arm()
            reporter.stateChanged()
        }
        reloader.connect(reporter)
    }

    // MARK: Events

    /// Handles a deadline that has passed.
    func handle(_ deadline: TimerToken) {
        switch deadline {
        case .run(let number): supervisor.handle(.deadline, of: number)
        case .executor(let serial): pool.executorDeadline(serial)
        case .audit(let serial): pool.auditWorker(serial)
        case .explain(let serial): pool.explanationIsLate(serial)
        case .plugin(let index): registry.pluginDue(plugins[index])
        case .dates: dates.timerFired()
        case .facts: facts.deadlinePassed()
        case .placement: pool.placementDue()
        case .clock: dates.checkClock()
        case .service, .watchdog: reporter.deadlinePassed(deadline)
        case .drain: drain.deadlinePassed()
        case .auditHead, .auditRow: audit.deadlinePassed(deadline)
        case .alerts, .heartbeat: alerts.deadlinePassed(deadline)
        case .fleet, .partitions: fleet.deadlinePassed(deadline)
        }
    }

    /// Handles a descriptor that is ready.
    func ready(_ token: UInt64, _ readiness: Readiness) {
        if token == DaemonClock.token {
            dates.clockWasSet()
        } else if token == PluginRegistry.libraryToken {
            registry.librariesTouched()
        } else if FactMonitor.owns(token) {
            facts.ready(token, readiness)
        } else {
            pool.executorReady(token, readiness)
        }
    }
}
