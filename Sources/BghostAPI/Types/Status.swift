// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
package import BghostModel

extension API {
    /// The daemon, its tasks and its plugins.
    package struct Status: Codable, Equatable, Sendable {
        /// The daemon itself.
        package var daemon: Daemon
        /// What an operator should resolve, the most important first; empty if the daemon is healthy.
        @ElementsOrEmpty package var problems: [StatusProblem]
        /// The number of dead letters of all tasks.
        @OrDefault package var deadLetters: Int
        /// The tasks of the manifest, and the identifiers of families that were used, the latest first.
        @Elements package var tasks: [Task]
        /// The number of used identifiers of families that `tasks` omits.
        @OrDefault package var tasksOmitted: Int
        /// The plugins and functions of the manifest.
        @Elements package var plugins: [Plugin]
        /// The pauses in force, the oldest first.
        @ElementsOrEmpty package var pauses: [Pause]
        /// The number of transfers; a daemon of an older version has none.
        @OrNull package var transfers: TransferCounts?
        /// Whether changes can be stored; a daemon of an older version does not say it.
        @OrNull package var store: StoreStatus?
        /// Whether transfers can be stored; null if the manifest has no sessions and no transfer is left,
        /// and from a daemon of an older version.
        @OrNull package var transferJournal: TransferJournalStatus?
        /// Why the host has no valid lease in its fleet; null if it has one or is in no fleet.
        @OrNull package var fleetProblem: String?
        /// Why no request of the fleet starts on this host, or that partitions have no owner; null if neither,
        /// if it has no task with `inFleet`, and from a daemon of an older version.
        @OrNull package var partitionsProblem: String?
        /// Whether a task delivers notifications, so that `GET /v1/notifications` has an answer.
        @OrDefault package var deliversNotifications: Bool
    }

    /// The process of the daemon.
    package struct Daemon: Codable, Equatable, Sendable {
        /// Its version, such as `0.2.0`.
        package var version: String
        /// Its process id.
        package var pid: Int32
        /// When it started.
        @Formatted<RFC3339> package var startedAt: Int64
        /// The path of its manifest.
        @OrDefault package var manifest: String
        /// How many runs can be in progress.
        @OrDefault package var slots: Int
        /// The slots in use, including runs whose end is being stored.
        @OrNull package var slotsInUse: Int?
        /// Whether it accepts no more work because it is stopping.
        @OrDefault package var draining: Bool
        /// What is simulated; null if nothing is.
        @OrNull package var simulation: SimulationStatus?
        /// Whether it accepts files that other users could change.
        @OrDefault package var dev: Bool
        /// The plugins that have another library than the manifest's, as `--dev-library` says.
        @ElementsOrEmpty package var devPlugins: [String]
    }

    /// A task of the manifest, or an identifier of a family that was used.
    package struct Task: Codable, Equatable, Sendable {
        /// Its identifier.
        package var id: String
        /// The plugin or function that runs it.
        package var plugin: String
        /// Its kind.
        package var kind: TaskKind
        /// Its state in one word: `running`, `paused`, `waiting` or `idle`.
        @OrDefault package var state: String
        /// Its runs in progress.
        @ElementsOrEmpty package var running: [Run]
        /// Its next waiting request; null if there is none.
        @OrNull package var pending: Request?
        /// Its last ended run; null if there is none.
        @OrNull package var last: Run?
        /// The number of its dead letters.
        @OrDefault package var deadLetters: Int
        /// Its pause, of several the one that ends last; null if it is not paused.
        @OrNull package var paused: Pause?
        /// The JSON Schemas that its parameters must fit, laid over by those of a request: that of the
        /// manifest, then that of its handler; only where tasks are asked for by name, and it has some.
        @OrAbsent package var parametersSchemas: [JSONPart]?
        /// Its definition in the manifest, or that of its family; only where tasks are asked for by name.
        @OrAbsent package var definition: TaskDefinitionText?
        /// Its tags; absent if it has none.
        @OrAbsent package var tags: [String]?
    }

    /// A plugin or function of the manifest, and its workers.
    package struct Plugin: Codable, Equatable, Sendable {
        /// Its name in the manifest.
        package var name: String
        /// The path of its library.
        package var library: String
        /// Where its code runs.
        package var isolation: Isolation
        /// The process ids of its live workers.
        @ElementsOrEmpty package var workers: [Int32]
        /// The resident memory of its workers together; absent if there are none.
        @OrAbsent package var memoryBytes: UInt64?
        /// The SHA-256 of the library that its newest worker has loaded, in hexadecimal digits; "" before its
        /// first worker.
        @OrDefault package var sha256: String
        /// Why it cannot be used now; null if no problem is known.
        @OrNull package var problem: String?
        /// A message that its files have changed since they were inspected; null if they have not.
        @OrNull package var change: String?
        /// Why the operator has disabled it, "" without a reason; null if it is enabled.
        @OrNull package var switchedOff: String?
        /// Why it is quarantined; null if it is not.
        @OrNull package var quarantine: PluginQuarantine?
        /// Its workers that were recently killed for working without a run; null if there were none.
        @OrNull package var idleEnds: IdleEnds?
        /// The number of dead letters of its tasks.
        @OrDefault package var deadLetters: Int
        /// The number of dead letters that were dropped since the start of the daemon.
        @OrDefault package var deadLettersDropped: Int
        /// The layers of the sandbox of its workers; empty before its first worker.
        @ElementsOrEmpty package var sandbox: [Layer]
    }

    /// The quarantine of a plugin.
    package struct PluginQuarantine: Codable, Equatable, Sendable {
        /// Since when.
        @FormOrNull<RFC3339> package var since: Int64?
        /// A description of its crashes.
        package var reason: String
        /// The SHA-256 of its library in hexadecimal digits; "" if it could not be read.
        @OrDefault package var library: String
        /// The build of the host.
        @OrDefault package var host: String
    }

    /// Workers that were killed because they worked without a run.
    package struct IdleEnds: Codable, Equatable, Sendable {
        /// The number of kills in a row.
        package var count: Int
        /// The time of the first kill.
        @FormOrNull<RFC3339> package var since: Int64?
        /// The time of the last kill.
        @Formatted<RFC3339> package var last: Int64
        /// What the last worker did, as a clause with the worker as the subject.
        @OrDefault package var reason: String
    }

    /// A layer of the sandbox of a worker.
    package struct Layer: Codable, Equatable, Sendable {
        /// The name of the layer.
        package var layer: SandboxLayer
        /// Whether it is enforced.
        @Formatted<LayerState> package var state: LayerStanding.State
        /// What exactly is enforced, or why it is not; may be empty.
        @OrDefault package var detail: String
    }

    /// The state of a layer: `missing`, `holds` or `waived`.
    package enum LayerState: FieldForm {
        package static func json(_ value: LayerStanding.State) -> String { value.text }

        package static func value(_ json: String) -> LayerStanding.State? {
            [.missing, .holds, .waived].first { $0.text == json }
        }
    }
}

// MARK: - Conversions

extension API.Status {
    package init(_ status: HostStatus) {
        self.init(
            daemon: API.Daemon(
                version: status.version,
                pid: status.pid,
                startedAt: status.startedAt,
                manifest: status.manifest,
                slots: status.slots,
                slotsInUse: status.slotsInUse,
                draining: status.isDraining,
                simulation: status.simulation.isActive ? status.simulation : nil,
                dev: status.allowsUntrustedFiles,
                devPlugins: status.developmentPlugins
            ),
            problems: status.problems,
            deadLetters: status.deadLetters,
            tasks: status.tasks.map(API.Task.init),
            tasksOmitted: status.tasksOmitted,
            plugins: status.plugins.map(API.Plugin.init),
            pauses: status.pauses.map(API.Pause.init),
            transfers: status.transfers,
            store: status.store,
            transferJournal: status.transferJournal,
            fleetProblem: status.fleetProblem,
            partitionsProblem: status.partitionsProblem,
            deliversNotifications: status.deliversNotifications
        )
    }

    package var status: HostStatus {
        HostStatus(
            version: daemon.version,
            pid: daemon.pid,
            startedAt: daemon.startedAt,
            manifest: daemon.manifest,
            slots: daemon.slots,
            isDraining: daemon.draining,
            tasks: tasks.map(\.status),
            tasksOmitted: tasksOmitted,
            plugins: plugins.map(\.status),
            pauses: pauses.map(\.pause),
            simulation: daemon.simulation ?? SimulationStatus(),
            transfers: transfers ?? TransferCounts(),
            store: store ?? StoreStatus(),
            transferJournal: transferJournal,
            fleetProblem: fleetProblem,
            partitionsProblem: partitionsProblem,
            deliversNotifications: deliversNotifications,
            allowsUntrustedFiles: daemon.dev,
            developmentPlugins: daemon.devPlugins,
            slotsInUse: daemon.slotsInUse,
            deadLetters: deadLetters
        )
    }
}

extension API.Task {
    fileprivate init(_ task: TaskStatus) {
        self.init(
            id: task.identifier,
            plugin: task.plugin,
            kind: task.kind,
            state: task.state,
            running: task.running.map(API.Run.init),
            pending: task.pending.map(API.Request.init),
            last: task.last.map(API.Run.init),
            deadLetters: task.deadLetters,
            paused: task.pause.map(API.Pause.init),
            parametersSchemas: task.parametersSchemas.isEmpty
                ? nil : task.parametersSchemas.map { JSONPart($0) },
            definition: task.definition,
            tags: task.tags.isEmpty ? nil : task.tags
        )
    }

    fileprivate var status: TaskStatus {
        TaskStatus(
            identifier: id,
            plugin: plugin,
            kind: kind,
            running: running.map(\.record),
            pending: pending?.request,
            last: last?.record,
            deadLetters: deadLetters,
            pause: paused?.pause,
            parametersSchemas: parametersSchemas?.map(\.text) ?? [],
            definition: definition,
            tags: tags ?? []
        )
    }
}

extension API.Plugin {
    fileprivate init(_ plugin: PluginStatus) {
        self.init(
            name: plugin.name,
            library: plugin.library,
            isolation: plugin.isolation,
            workers: plugin.workers,
            memoryBytes: plugin.memoryBytes,
            sha256: plugin.sha256,
            problem: plugin.problem,
            change: plugin.change,
            switchedOff: plugin.switchedOff,
            quarantine: plugin.quarantine.map {
                API.PluginQuarantine(
                    since: $0.since,
                    reason: $0.reason,
                    library: $0.library,
                    host: $0.host
                )
            },
            idleEnds: plugin.idleEnds.map {
                API.IdleEnds(count: $0.count, since: $0.since, last: $0.last, reason: $0.reason)
            },
            deadLetters: plugin.deadLetters,
            deadLettersDropped: plugin.deadLettersDropped,
            sandbox: plugin.sandbox.map(API.Layer.init)
        )
    }

    fileprivate var status: PluginStatus {
        PluginStatus(
            name: name,
            library: library,
            isolation: isolation,
            workers: workers,
            memoryBytes: memoryBytes,
            sha256: sha256,
            problem: problem,
            change: change,
            sandbox: sandbox.map { LayerStanding($0.layer, $0.state, $0.detail) },
            switchedOff: switchedOff,
            quarantine: quarantine.map {
                Quarantine(
                    plugin: name,
                    library: $0.library,
                    host: $0.host,
                    since: $0.since ?? 0,
                    reason: $0.reason
                )
            },
            idleEnds: idleEnds.map {
                IdleWorkerEnds(
                    count: $0.count,
                    since: $0.since ?? $0.last,
                    last: $0.last,
                    reason: $0.reason
                )
            },
            deadLetters: deadLetters,
            deadLettersDropped: deadLettersDropped
        )
    }
}

extension API.Layer {
    package init(_ standing: LayerStanding) {
        self.init(layer: standing.layer, state: standing.state, detail: standing.detail)
    }
}
