// SPDX-License-Identifier: Apache-2.0

/// A picture of the daemon at one moment.
package struct HostStatus: Equatable, Sendable {
    package var version: String
    package var pid: Int32
    /// Unix nanoseconds.
    package var startedAt: Int64
    package var manifest: String
    package var slots: Int
    /// Whether it takes no new work because it is about to stop.
    package var isDraining: Bool
    package var tasks: [TaskStatus]
    package var plugins: [PluginStatus]
    package var simulation: SimulationStatus
    package var transfers: TransferCounts
    /// Whether it takes files that others could change.
    package var isLax: Bool

    package init(
        version: String,
        pid: Int32,
        startedAt: Int64,
        manifest: String,
        slots: Int,
        isDraining: Bool,
        tasks: [TaskStatus],
        plugins: [PluginStatus],
        simulation: SimulationStatus = SimulationStatus(),
        transfers: TransferCounts = TransferCounts(),
        isLax: Bool = false
    ) {
        self.version = version
        self.pid = pid
        self.startedAt = startedAt
        self.manifest = manifest
        self.slots = slots
        self.isDraining = isDraining
        self.tasks = tasks
        self.plugins = plugins
        self.simulation = simulation
        self.transfers = transfers
        self.isLax = isLax
    }
}

/// One task of the manifest, or one identifier of a family that has been used.
package struct TaskStatus: Equatable, Sendable {
    package var identifier: String
    package var plugin: String
    package var kind: TaskKind
    package var running: [RunRecord]
    package var pending: PendingRequest?
    package var last: RunRecord?

    package init(
        identifier: String,
        plugin: String,
        kind: TaskKind,
        running: [RunRecord] = [],
        pending: PendingRequest? = nil,
        last: RunRecord? = nil
    ) {
        self.identifier = identifier
        self.plugin = plugin
        self.kind = kind
        self.running = running
        self.pending = pending
        self.last = last
    }
}

/// One plugin or function of the manifest and its workers.
package struct PluginStatus: Equatable, Sendable {
    package var name: String
    package var library: String
    package var isolation: Isolation
    /// Process ids of its live workers.
    package var workers: [Int32]
    /// Why it cannot be used now; `nil` if nothing is known against it.
    package var problem: String?
    /// How it stands with the walls around its workers; empty before the first of them.
    package var sandbox: [LayerStanding]
    /// Why its operator has switched it off, "" if he gave no reason; `nil` if it is on.
    package var switchedOff: String?
    /// Why it is not run any more, if it is not.
    package var quarantine: Quarantine?

    package init(
        name: String,
        library: String,
        isolation: Isolation,
        workers: [Int32] = [],
        problem: String? = nil,
        sandbox: [LayerStanding] = [],
        switchedOff: String? = nil,
        quarantine: Quarantine? = nil
    ) {
        self.name = name
        self.library = library
        self.isolation = isolation
        self.workers = workers
        self.problem = problem
        self.sandbox = sandbox
        self.switchedOff = switchedOff
        self.quarantine = quarantine
    }
}
