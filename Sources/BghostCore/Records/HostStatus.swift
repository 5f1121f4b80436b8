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

    package init(
        version: String,
        pid: Int32,
        startedAt: Int64,
        manifest: String,
        slots: Int,
        isDraining: Bool,
        tasks: [TaskStatus],
        plugins: [PluginStatus]
    ) {
        self.version = version
        self.pid = pid
        self.startedAt = startedAt
        self.manifest = manifest
        self.slots = slots
        self.isDraining = isDraining
        self.tasks = tasks
        self.plugins = plugins
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

    package init(
        name: String,
        library: String,
        isolation: Isolation,
        workers: [Int32] = [],
        problem: String? = nil
    ) {
        self.name = name
        self.library = library
        self.isolation = isolation
        self.workers = workers
        self.problem = problem
    }
}

/// A request that has been accepted and whose run has not begun.
package struct PendingRequest: Equatable, Sendable {
    package var id: RunID
    package var task: String
    /// Unix nanoseconds.
    package var submittedAt: Int64
    /// Not before this time, Unix nanoseconds.
    package var earliestBegin: Int64?
    package var priority: Int
    /// A JSON object.
    package var parameters: String
    /// Why it has not begun, one short sentence for each thing in its way.
    package var waitingFor: [String]

    package init(
        id: RunID,
        task: String,
        submittedAt: Int64,
        earliestBegin: Int64? = nil,
        priority: Int = 500,
        parameters: String = "{}",
        waitingFor: [String] = []
    ) {
        self.id = id
        self.task = task
        self.submittedAt = submittedAt
        self.earliestBegin = earliestBegin
        self.priority = priority
        self.parameters = parameters
        self.waitingFor = waitingFor
    }
}
