// SPDX-License-Identifier: Apache-2.0

package import BghostModel

/// The status of the daemon at one time.
package struct HostStatus: Equatable, Sendable {
    package var version: String
    package var pid: Int32
    /// Unix nanoseconds.
    package var startedAt: Int64
    var manifest: String
    package var slots: Int
    /// The slots in use, including runs whose end is being stored and runs of tasks that are not listed.
    package var slotsInUse: Int
    /// Dead letters of all tasks.
    package var deadLetters: Int
    /// Whether it accepts no more work because it is stopping.
    package var isDraining: Bool
    /// The tasks of the manifest, and the identifiers of families that were used, the latest first.
    package var tasks: [TaskStatus]
    /// The number of identifiers of families that are in use, or were used lately, and that `tasks` leaves
    /// out.
    package var tasksOmitted: Int
    package var plugins: [PluginStatus]
    /// The pauses in force, the oldest first.
    package var pauses: [Pause]
    package var simulation: SimulationStatus
    package var transfers: TransferCounts
    package var store: StoreStatus
    /// `nil` if no journal of transfers is open.
    package var transferJournal: TransferJournalStatus?
    /// Why the host has no valid lease in its fleet; `nil` if it has one or is in no fleet.
    package var fleetProblem: String?
    /// What is wrong with the requests of the fleet on this host; `nil` if nothing, or if it has none.
    package var partitionsProblem: String?
    /// Whether a task delivers notifications.
    package var deliversNotifications: Bool
    /// Whether it accepts files that other users could change.
    package var allowsUntrustedFiles: Bool
    /// The plugins that have another library than the manifest's, for development.
    package var developmentPlugins: [String]

    /// The most identifiers of families in `tasks`, unless a client asks for tasks by name.
    package static let familyMembersMax = 256

    /// - Parameter slotsInUse: `nil` means the number of runs of the listed tasks.
    package init(
        version: String,
        pid: Int32,
        startedAt: Int64,
        manifest: String,
        slots: Int,
        isDraining: Bool,
        tasks: [TaskStatus],
        tasksOmitted: Int = 0,
        plugins: [PluginStatus],
        pauses: [Pause] = [],
        simulation: SimulationStatus = SimulationStatus(),
        transfers: TransferCounts = TransferCounts(),
        store: StoreStatus = StoreStatus(),
        transferJournal: TransferJournalStatus? = nil,
        fleetProblem: String? = nil,
        partitionsProblem: String? = nil,
        deliversNotifications: Bool = false,
        allowsUntrustedFiles: Bool = false,
        developmentPlugins: [String] = [],
        slotsInUse: Int? = nil,
        deadLetters: Int = 0
    ) {
        self.slotsInUse = slotsInUse ?? tasks.reduce(0) { $0 + $1.running.count }
        self.deadLetters = deadLetters
        self.version = version
        self.pid = pid
        self.startedAt = startedAt
        self.manifest = manifest
        self.slots = slots
        self.isDraining = isDraining
        self.tasks = tasks
        self.tasksOmitted = tasksOmitted
        self.plugins = plugins
        self.pauses = pauses
        self.simulation = simulation
        self.transfers = transfers
        self.store = store
        self.transferJournal = transferJournal
        self.fleetProblem = fleetProblem
        self.partitionsProblem = partitionsProblem
        self.deliversNotifications = deliversNotifications
        self.allowsUntrustedFiles = allowsUntrustedFiles
        self.developmentPlugins = developmentPlugins
    }
}

/// One task of the manifest, or one identifier of a family that has been used.
package struct TaskStatus: Equatable, Sendable {
    package var identifier: String
    var plugin: String
    package var kind: TaskKind
    package var running: [RunRecord]
    package var pending: PendingRequest?
    package var last: RunRecord?
    /// The number of its dead letters among those of `HostStatus.deadLetters`.
    package var deadLetters: Int
    /// The pause of its pauses that ends last; `nil` if it is not paused.
    package var pause: Pause?
    /// The JSON Schemas that its parameters must fit; only where tasks are asked for by name.
    package var parametersSchemas: [String]
    /// Its definition as the manifest contains it; only where tasks are asked for by name.
    package var definition: TaskDefinitionText?
    /// Its tags in the manifest.
    package var tags: [String]

    package init(
        identifier: String,
        plugin: String,
        kind: TaskKind,
        running: [RunRecord] = [],
        pending: PendingRequest? = nil,
        last: RunRecord? = nil,
        deadLetters: Int = 0,
        pause: Pause? = nil,
        parametersSchemas: [String] = [],
        definition: TaskDefinitionText? = nil,
        tags: [String] = []
    ) {
        self.pause = pause
        self.definition = definition
        self.parametersSchemas = parametersSchemas
        self.tags = tags
        self.identifier = identifier
        self.plugin = plugin
        self.kind = kind
        self.running = running
        self.pending = pending
        self.last = last
        self.deadLetters = deadLetters
    }

    /// What it is about, in one word: `running`, `paused`, `waiting` or `idle`.
    package var state: String {
        if !running.isEmpty { return "running" }
        if pause != nil { return "paused" }
        return pending == nil ? "idle" : "waiting"
    }
}

/// The definition of a task as the manifest contains it; secrets are references such as `${env:TOKEN}`.
package struct TaskDefinitionText: Codable, Equatable, Sendable {
    /// One key with its value.
    package struct Setting: Codable, Equatable, Sendable {
        /// The path of the key, such as `limits.runtime`.
        package var key: String
        /// A string without its quotation marks, or JSON.
        package var value: String

        package init(key: String, value: String) {
            self.key = key
            self.value = value
        }
    }

    /// The file and the line of its name, such as `tasks.json:12`; "" if it is not known.
    @OrDefault package var place: String
    /// Its keys, in the order of the file.
    @ElementsOrEmpty package var settings: [Setting]

    package init(place: String, settings: [Setting]) {
        self.place = place
        self.settings = settings
    }
}

/// The status of a plugin or function of the manifest and of its workers.
package struct PluginStatus: Equatable, Sendable {
    package var name: String
    var library: String
    var isolation: Isolation
    /// The process ids of its live workers.
    package var workers: [Int32]
    /// The resident memory of its workers together; `nil` while it is not measured.
    package var memoryBytes: UInt64?
    /// The SHA-256 of the library that its newest worker has loaded; "" before its first worker.
    package var sha256: String
    /// Why it cannot be used now; `nil` if no problem is known.
    package var problem: String?
    /// A message that its files have changed since they were inspected; `nil` if they have not.
    package var change: String?
    /// The status of each sandbox layer of its workers; empty before its first worker.
    package var sandbox: [LayerStanding]
    /// Why the operator has disabled it, "" without a reason; `nil` if it is enabled.
    package var switchedOff: String?
    /// Why it is quarantined; `nil` if it is not.
    package var quarantine: Quarantine?
    /// The workers that were recently killed for working without a run.
    package var idleEnds: IdleWorkerEnds?
    /// The number of dead letters of its tasks.
    var deadLetters: Int
    /// The number of dead letters that were dropped since the start, because there were too many.
    var deadLettersDropped: Int

    package init(
        name: String,
        library: String,
        isolation: Isolation,
        workers: [Int32] = [],
        memoryBytes: UInt64? = nil,
        sha256: String = "",
        problem: String? = nil,
        change: String? = nil,
        sandbox: [LayerStanding] = [],
        switchedOff: String? = nil,
        quarantine: Quarantine? = nil,
        idleEnds: IdleWorkerEnds? = nil,
        deadLetters: Int = 0,
        deadLettersDropped: Int = 0
    ) {
        self.name = name
        self.library = library
        self.isolation = isolation
        self.workers = workers
        self.memoryBytes = memoryBytes
        self.sha256 = sha256
        self.problem = problem
        self.change = change
        self.sandbox = sandbox
        self.switchedOff = switchedOff
        self.quarantine = quarantine
        self.idleEnds = idleEnds
        self.deadLetters = deadLetters
        self.deadLettersDropped = deadLettersDropped
    }
}
