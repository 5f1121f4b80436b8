// SPDX-License-Identifier: Apache-2.0

internal import BghostAPI
internal import BghostConfiguration
internal import BghostDispatch
internal import BghostMetrics
internal import BghostModel
internal import BghostServices
internal import BghostTransferBridge

/// What an operator may ask of a daemon, one object for each subject.
struct HostCommands {
    let status: StatusReader
    let health: HealthReader
    let metrics: MetricsReader
    let runs: RunCommands
    let history: RunHistory
    let plan: PlanCommand
    let tasks: TaskCommands
    let explainer: TaskExplainer
    let deadLetters: DeadLetterCommands
    let checkpoints: CheckpointList
    let uses: UseCommands
    let pauses: PauseCommands
    let switches: PluginSwitches
    let simulation: SimulationCommands
    let backup: BackupCommand
    let logs: LogCommands
    let notifications: NotificationCommands

    init(_ owners: HostOwners) {
        let services = owners.services
        let (clock, log) = (services.clock, services.log)
        let (plugins, currentRuns, manifest) = (owners.plugins, owners.runs, owners.manifest)
        let manifestPath = services.configuration.manifestPath
        let describer = RequestDescriber(owners.dispatcher, clock) {
            [transfers = owners.transfers] in transfers.wakeDelay(of: $0)
        }
        let simulation = SimulationCommands(
            owners.dispatcher,
            owners.facts,
            clock,
            owners.dates,
            log: log
        )
        self.simulation = simulation
        health = HealthReader(owners)
        metrics = MetricsReader(
            owners.dispatcher,
            owners.commits,
            owners.supervisor.meter,
            owners.loop,
            owners.intake,
            log: log,
            version: services.configuration.version,
            startedAt: clock.wall,
            alerts: owners.alerts,
            fleet: owners.fleet,
            spans: services.configuration.spans,
            journalFailingSince: {
                [transfers = owners.transfers] in transfers.journalStatus?.failingSince
            },
            transfers: { [transfers = owners.transfers] in transfers.counts },
            notifications: { [delivery = owners.notifications] in
                delivery.outbox == nil ? nil : delivery.statistics
            },
            storeFiles: services.state.storeFiles,
            plugins: { [pool = owners.pool] in pool.pluginStates }
        )
        status = StatusReader(
            services,
            owners.history,
            describer,
            owners.pool,
            owners.transfers,
            owners.fleet,
            owners.notifications,
            simulation
        )
        runs = RunCommands(
            owners.intake,
            describer,
            owners.registry,
            owners.supervisor,
            owners.history
        )
        history = RunHistory(
            owners.dispatcher,
            owners.history,
            clock,
            zone: { manifest.value.host.timeZone },
            activeRuns: { currentRuns.records(now: clock.monotonic) }
        )
        plan = PlanCommand(owners.dispatcher, owners.history, clock) { manifest.value }
        tasks = TaskCommands(owners.dispatcher, owners.commits, describer, clock) {
            manifest.replacements
        }
        checkpoints = CheckpointList(owners.dispatcher, owners.commits, owners.history)
        explainer = TaskExplainer(
            owners.dispatcher,
            owners.commits,
            owners.history,
            describer,
            clock,
            activeRuns: { currentRuns.records(now: clock.monotonic) },
            simulation: { simulation.status }
        )
        deadLetters = DeadLetterCommands(
            owners.dispatcher,
            owners.commits,
            owners.history,
            clock,
            zone: { manifest.value.host.timeZone },
            log: log
        )
        uses = UseCommands(owners.dispatcher, owners.commits, clock, manifestPath: manifestPath)
        pauses = PauseCommands(
            owners.dispatcher,
            owners.commits,
            clock,
            zone: { manifest.value.host.timeZone },
            activeRuns: { currentRuns.records(now: clock.monotonic) }
        )
        switches = PluginSwitches(
            owners.registry,
            owners.pool,
            owners.supervisor,
            owners.dispatcher,
            owners.commits,
            configuration: services.configuration
        )
        let transfers = owners.transfers
        backup = BackupCommand(
            owners.store,
            transfers: { transfers.table?.journal },
            state: services.state,
            log: log
        )
        logs = LogCommands(log, clock) { manifest.value.host.timeZone }
        notifications = NotificationCommands(
            owners.notifications,
            owners.intake,
            uses,
            clock,
            log: log,
            manifestPath: manifestPath,
            zone: { manifest.value.host.timeZone },
            permissions: { plugins[$0]?.permissions }
        )
    }
}
