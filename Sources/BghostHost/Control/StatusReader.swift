// SPDX-License-Identifier: Apache-2.0

internal import BghostAPI
internal import BghostConfiguration
internal import BghostDispatch
internal import BghostLinux
internal import BghostModel
internal import BghostPolicy
internal import BghostServices
internal import BghostStore
internal import Glibc

/// Describes the daemon, its tasks and its plugins for `status`.
///
/// The host owns it. Use it on the reactor's thread only; it changes nothing, and another thread reads the
/// store. It costs O(n) in the listed tasks, the plugins, and the current runs and workers.
final class StatusReader {
    private let configuration: HostConfiguration
    private let clock: DaemonClock
    private let dispatcher: Dispatcher
    private let commits: CommitQueue
    private let history: HistoryReader
    private let describer: RequestDescriber
    private let pool: WorkerPool
    private let plugins: PluginTable
    private let runs: RunTable
    private let transfers: TransferCoordinator
    private let fleet: FleetMember
    private let notifications: NotificationDelivery
    private let simulation: SimulationCommands
    /// Unix nanoseconds.
    private let startedAt = WallClock.now

    init(
        _ services: HostServices,
        _ history: HistoryReader,
        _ describer: RequestDescriber,
        _ pool: WorkerPool,
        _ transfers: TransferCoordinator,
        _ fleet: FleetMember,
        _ notifications: NotificationDelivery,
        _ simulation: SimulationCommands
    ) {
        configuration = services.configuration
        clock = services.clock
        self.history = history
        self.describer = describer
        self.pool = pool
        self.transfers = transfers
        self.fleet = fleet
        self.notifications = notifications
        self.simulation = simulation
        dispatcher = pool.dispatcher
        commits = pool.commits
        plugins = pool.plugins
        runs = pool.runs
    }

    /// The status of all tasks and plugins.
    nonisolated(nonsending) func status() async -> HostStatus {
        let catalog = dispatcher.scheduler.catalog
        // Families that the manifest implies are omitted; their known members are listed instead.
        let own = catalog.currentTasks.filter { catalog.tasks[$0].kind != .notificationAction }
            .map { catalog.tasks[$0].identifier.description }
        let members = dispatcher.scheduler.familyMembers(limit: HostStatus.familyMembersMax)
        // A running member is listed, however long ago its first use was.
        let running = Set(runs.records(now: clock.monotonic).map(\.task)).subtracting(own)
            .subtracting(members.identifiers)
        return await status(
            listing: own + members.identifiers + running.sorted(),
            omitted: members.total - members.identifiers.count - running.count
        )
    }

    /// The status with the named tasks only.
    nonisolated(nonsending) func status(
        of tasks: [String]
    ) async throws(OperatorRefusal) -> HostStatus {
        for task in tasks { try dispatcher.requireTask(task) }
        var status = await status(listing: tasks, omitted: 0)
        let definitions = DefinitionTexts(pool.manifest.value, of: tasks, dispatcher)
        for index in status.tasks.indices {
            let task = status.tasks[index].identifier
            status.tasks[index].parametersSchemas = pool.registry.parameters.schemas(of: task)
            status.tasks[index].definition = definitions[task]
        }
        return status
    }

    private nonisolated(nonsending) func status(
        listing identifiers: [String],
        omitted: Int
    ) async -> HostStatus {
        let counts = await transfers.counts()
        var status = status(listing: identifiers, omitted: omitted, counts)
        let names = status.tasks.map(\.identifier)
        let last = await lastRuns(of: names)
        for index in status.tasks.indices {
            guard let run = last[status.tasks[index].identifier] else { continue }
            status.tasks[index].last = run
            // It ended while the store was asked.
            status.tasks[index].running.removeAll { $0.id == run.id }
        }
        return status
    }

    /// In parts, so that no other question to the store waits for all of them.
    private nonisolated(nonsending) func lastRuns(of tasks: [String]) async -> [String: RunRecord] {
        var last: [String: RunRecord] = [:]
        for start in stride(from: 0, to: tasks.count, by: SQLiteStore.lastRunsMax) {
            let part = Array(tasks[start...].prefix(SQLiteStore.lastRunsMax))
            let found = await history.ask { $0.lastRuns(tasks: part) }
            last.merge(found) { $1 }
        }
        return last
    }

    /// The status without the last runs.
    private func status(
        listing identifiers: [String],
        omitted: Int,
        _ counts: TransferCounts
    ) -> HostStatus {
        let workers = pool.pidsByPlugin
        return HostStatus(
            version: configuration.version,
            pid: getpid(),
            startedAt: startedAt,
            manifest: configuration.manifestPath,
            slots: dispatcher.scheduler.settings.slots,
            isDraining: dispatcher.scheduler.isDraining,
            tasks: taskStatuses(of: identifiers),
            tasksOmitted: max(0, omitted),
            plugins: plugins.all.filter { !$0.isRetired }.map { plugin in
                PluginStatus(
                    name: plugin.name,
                    library: plugin.path ?? plugin.library,
                    isolation: plugin.isolation,
                    workers: workers[plugin.name]?.sorted() ?? [],
                    sha256: plugin.origin?.library ?? "",
                    problem: plugin.problem?.message,
                    change: plugin.change,
                    sandbox: plugin.layerStates,
                    switchedOff: dispatcher.scheduler.disabledReason(plugin: plugin.index),
                    quarantine: pool.crashes.quarantine(of: plugin.name),
                    idleEnds: pool.crashes.idleEnds(of: plugin.name, now: clock.monotonic),
                    deadLetters: commits.deadLetters.count(of: plugin.name),
                    deadLettersDropped: commits.deadLetters.dropped[plugin.name] ?? 0
                )
            },
            pauses: dispatcher.scheduler.pauses,
            simulation: simulation.status,
            transfers: counts,
            store: commits.status,
            transferJournal: transfers.journalStatus,
            fleetProblem: fleet.lossSentence,
            partitionsProblem: fleet.partitions?.problemSentence,
            deliversNotifications: notifications.outbox != nil,
            allowsUntrustedFiles: configuration.allowsUntrustedFiles,
            developmentPlugins: configuration.developmentPlugins,
            slotsInUse: dispatcher.scheduler.slotsInUse,
            deadLetters: commits.deadLetters.count
        )
    }

    /// The status of tasks; identifiers that are no longer in the manifest are left out.
    private func taskStatuses(of identifiers: [String]) -> [TaskStatus] {
        let catalog = dispatcher.scheduler.catalog
        var running: [String: [RunRecord]] = [:]
        for record in runs.records(now: clock.monotonic) {
            running[record.task, default: []].append(record)
        }
        var families: [String: Int] = [:]
        for task in catalog.currentTasks where catalog.tasks[task].identifier.isFamily {
            families[catalog.tasks[task].identifier.description] = task
        }
        return identifiers.compactMap { identifier in
            guard let task = catalog.task(for: identifier) ?? families[identifier] else {
                return nil
            }
            return TaskStatus(
                identifier: identifier,
                plugin: catalog.plugin(ofTask: task).name,
                kind: catalog.tasks[task].kind,
                running: running[identifier] ?? [],
                pending: dispatcher.scheduler.pendingOrAppended(identifier).map {
                    describer.describe($0)
                },
                deadLetters: commits.deadLetters.tasks[identifier] ?? 0,
                pause: dispatcher.scheduler.pauses(of: identifier).first,
                tags: catalog.tasks[task].tags
            )
        }
    }
}
