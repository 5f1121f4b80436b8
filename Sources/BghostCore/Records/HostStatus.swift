// SPDX-License-Identifier: Apache-2.0

/// A picture of the daemon at one moment.
public struct HostStatus: Equatable, Sendable {
    public var version: String
    public var pid: Int32
    /// Unix nanoseconds.
    public var startedAt: Int64
    public var manifest: String
    public var slots: Int
    /// Whether it takes no new work because it is about to stop.
    public var isDraining: Bool
    public var tasks: [TaskStatus]
    public var plugins: [PluginStatus]

    public init(
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
public struct TaskStatus: Equatable, Sendable {
    public var identifier: String
    public var plugin: String
    public var kind: TaskKind
    public var running: [RunRecord]
    public var pending: PendingRequest?
    public var last: RunRecord?

    public init(
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
public struct PluginStatus: Equatable, Sendable {
    public var name: String
    public var library: String
    public var isolation: Isolation
    /// Process ids of its live workers.
    public var workers: [Int32]
    /// Why it cannot be used now; `nil` if nothing is known against it.
    public var problem: String?

    public init(
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
public struct PendingRequest: Equatable, Sendable {
    public var id: RunID
    public var task: String
    /// Unix nanoseconds.
    public var submittedAt: Int64
    /// Not before this time, Unix nanoseconds.
    public var earliestBegin: Int64?
    public var priority: Int
    /// A JSON object.
    public var parameters: String
    /// Why it has not begun, one short sentence for each thing in its way.
    public var waitingFor: [String]

    public init(
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
