// SPDX-License-Identifier: Apache-2.0

/// The whole of a checked `tasks.json`: what may run, where, and within which limits.
///
/// A value of this type has passed every check that needs no file but the manifest itself, so its
/// users need not check again. `ManifestReader` makes it.
package struct Manifest: Equatable, Sendable {
    package var host: HostSettings
    package var plugins: [PluginDefinition]
    package var functions: [FunctionDefinition]
    package var signers: [SignerDefinition]
    package var tasks: [TaskDefinition]
    package var sessions: [SessionDefinition]
    /// Who delivers what plugins post; `nil` if nobody does.
    package var notifications: NotificationSettings?

    package init(
        host: HostSettings = HostSettings(),
        plugins: [PluginDefinition] = [],
        functions: [FunctionDefinition] = [],
        signers: [SignerDefinition] = [],
        tasks: [TaskDefinition] = [],
        sessions: [SessionDefinition] = [],
        notifications: NotificationSettings? = nil
    ) {
        self.host = host
        self.plugins = plugins
        self.functions = functions
        self.signers = signers
        self.tasks = tasks
        self.sessions = sessions
        self.notifications = notifications
    }
}

/// The section `host`.
package struct HostSettings: Equatable, Sendable {
    /// Where the daemon keeps its state, absolute; `nil` leaves the choice to the daemon.
    package var stateDirectory: String?
    /// The path of the control socket, absolute; `nil` puts it into the state directory.
    package var controlSocket: String?
    /// A group whose members may use it; `nil` is nobody else.
    package var controlGroup: String?
    /// What they may do.
    package var controlRole: ControlRole
    /// How many runs may be under way at once; `nil` is the number of processors.
    package var slots: Int?
    /// The zone of calendars that name none.
    package var timeZone: ZoneTable
    /// What the machine cannot tell by itself.
    package var facts: FactDefinitions
    /// Walls without which no worker may run.
    package var require: Set<SandboxLayer>

    package init(
        stateDirectory: String? = nil,
        controlSocket: String? = nil,
        controlGroup: String? = nil,
        controlRole: ControlRole = .read,
        slots: Int? = nil,
        timeZone: ZoneTable = .utc,
        facts: FactDefinitions = FactDefinitions(),
        require: Set<SandboxLayer> = []
    ) {
        self.stateDirectory = stateDirectory
        self.controlSocket = controlSocket
        self.controlGroup = controlGroup
        self.controlRole = controlRole
        self.slots = slots
        self.timeZone = timeZone
        self.facts = facts
        self.require = require
    }
}

/// Where a plugin's code runs.
package enum Isolation: String, Equatable, Sendable, CaseIterable {
    /// In a process of its own, which can be killed. The default.
    case worker
    /// In the daemon, for trusted code only: its runs can be cancelled or abandoned, never killed.
    case inProcess = "in-process"
}

/// One entry of `plugins`.
package struct PluginDefinition: Equatable, Sendable {
    package var name: String
    /// As written: absolute, relative to the manifest's folder, or a bare name to look up.
    package var library: String
    /// The SHA-256 that the file must have, 64 lower-case hex digits.
    package var sha256: String?
    /// The signer whose signature the file must bear.
    package var signedBy: String?
    package var isolation: Isolation
    /// How many runs may share one worker at a time, 1 or more.
    package var runsPerWorker: Int
    /// How many idle workers are kept loaded ahead of their runs.
    package var prestart: Int
    package var permissions: Permissions
    /// Walls without which its workers must not run, besides those that the host requires.
    package var require: Set<SandboxLayer>
    package var limits: WorkerLimits
    /// How many requests may wait for it.
    package var maxPending: PendingLimits
    /// How long its runs may take within a day.
    package var runtimePerDay: RuntimePerDay
    /// The plugin's own settings, a JSON object as text, secrets already put in.
    package var config: String
    /// Where the entry stands in the manifest, for messages about the plugin itself.
    package var origin: SourceLocation

    package init(
        name: String,
        library: String,
        sha256: String? = nil,
        signedBy: String? = nil,
        isolation: Isolation = .worker,
        runsPerWorker: Int = 1,
        prestart: Int = 0,
        permissions: Permissions = Permissions(),
        require: Set<SandboxLayer> = [],
        limits: WorkerLimits = WorkerLimits(),
        maxPending: PendingLimits = PendingLimits(),
        runtimePerDay: RuntimePerDay = RuntimePerDay(),
        config: String = "{}",
        origin: SourceLocation = SourceLocation()
    ) {
        self.name = name
        self.library = library
        self.sha256 = sha256
        self.signedBy = signedBy
        self.isolation = isolation
        self.runsPerWorker = runsPerWorker
        self.prestart = prestart
        self.permissions = permissions
        self.require = require
        self.limits = limits
        self.maxPending = maxPending
        self.runtimePerDay = runtimePerDay
        self.config = config
        self.origin = origin
    }
}

/// One entry of `signers`.
package struct SignerDefinition: Equatable, Sendable {
    package var name: String
    /// Ed25519, as a line of minisign.
    package var key: String

    package init(name: String, key: String) {
        self.name = name
        self.key = key
    }
}

/// One entry of `functions`: a plain C function that is called through libffi, always in a worker.
package struct FunctionDefinition: Equatable, Sendable {
    package var name: String
    package var library: String
    package var symbol: String
    /// Such as `ulong(ulong, bytes, uint)`, as written; `FunctionSignature` reads it.
    package var signature: String
    package var limits: WorkerLimits
    package var origin: SourceLocation

    package init(
        name: String,
        library: String,
        symbol: String,
        signature: String,
        limits: WorkerLimits = WorkerLimits(),
        origin: SourceLocation = SourceLocation()
    ) {
        self.name = name
        self.library = library
        self.symbol = symbol
        self.signature = signature
        self.limits = limits
        self.origin = origin
    }
}

/// What a plugin may do beyond computing and writing into its own data directory.
package struct Permissions: Equatable, Sendable {
    /// Hosts that the daemon may speak to for it.
    package var network: [NetworkGrant]
    /// Whether its worker may open sockets itself.
    package var directNetwork: Bool
    /// Folders or files that it may read, absolute.
    package var read: [String]
    /// Folders or files that it may write, absolute.
    package var write: [String]
    /// Tasks for which it may submit requests, besides those that it handles itself.
    package var submit: [IdentifierPattern]
    package var notify: Bool
    /// Whether it may make code while it runs.
    package var jit: Bool

    package init(
        network: [NetworkGrant] = [],
        directNetwork: Bool = false,
        read: [String] = [],
        write: [String] = [],
        submit: [IdentifierPattern] = [],
        notify: Bool = false,
        jit: Bool = false
    ) {
        self.network = network
        self.directNetwork = directNetwork
        self.read = read
        self.write = write
        self.submit = submit
        self.notify = notify
        self.jit = jit
    }
}

/// A host and port that a plugin may reach, such as `api.open-meteo.com:443`, `*.example.org:443`
/// or `[::1]:8080`.
package struct NetworkGrant: Equatable, Hashable, Sendable {
    /// In lower case, without brackets.
    ///
    /// A leading `*.` stands for one or more labels.
    package var host: String
    package var port: UInt16

    package init(host: String, port: UInt16) {
        self.host = host
        self.port = port
    }

    /// Whether this grant covers a host, in lower case and without brackets, and port.
    package func allows(host: String, port: UInt16) -> Bool {
        guard port == self.port else { return false }
        guard self.host.hasPrefix("*.") else { return host == self.host }
        let suffix = self.host.dropFirst()
        return host.utf8.count > suffix.utf8.count && host.hasSuffix(suffix)
    }
}

/// The kind of a task, which decides its default limits.
package enum TaskKind: String, Equatable, Codable, Sendable, CaseIterable {
    /// Short: 25 s of runtime and 5 s of grace.
    case refresh
    /// Long: 10 min of runtime and 30 s of grace.
    case processing
    /// What people did with a notification: 10 s of runtime and 5 s of grace. No manifest names it.
    case notificationAction
    /// Told that the transfers of a session have ended: as short as a refresh. No task of the
    /// manifest has this kind; its sessions have.
    case urlSession

    /// Those that a manifest may name.
    static let named: [TaskKind] = [.refresh, .processing]
}

/// What becomes of a request whose task already has a run under way.
package enum Overlap: String, Equatable, Sendable, CaseIterable {
    /// It waits for that run to end. The default.
    case queue
    /// It is dropped.
    case skip
    /// The run under way is asked to stop, and then it starts.
    case replace
    /// Both run.
    case allow
}

/// What carries out a task.
package enum HandlerReference: Equatable, Sendable {
    case plugin(name: String, handler: String)
    case function(name: String)
}

/// One entry of `tasks`: a permitted identifier, or a family of them, and how it runs.
package struct TaskDefinition: Equatable, Sendable {
    /// Its key: exact, or a family with a trailing `.*`.
    package var identifier: IdentifierPattern
    package var handler: HandlerReference
    package var kind: TaskKind
    package var limits: RunLimits
    package var overlap: Overlap
    /// 0 to 1000; the higher goes first.
    package var priority: Int
    /// A request is submitted when the daemon starts, unless one is pending.
    package var submitAtStart: Bool
    /// When requests are submitted by themselves; `nil` if they are not.
    package var schedule: TaskSchedule?
    /// How much later than its date it may begin to meet others.
    package var tolerance: Duration
    /// Whether it begins, within its tolerance, before what it refreshes is usually used.
    package var learnsUse: Bool
    /// What must hold of the machine before it begins.
    package var requirements: RequirementSet
    /// What becomes of a run that loses one of them.
    package var loss: RequirementLoss
    /// What follows a run that did not succeed.
    package var retry: RetryPolicy
    /// A JSON object as text; a request's own parameters are laid over it, key by key.
    package var parameters: String
    package var origin: SourceLocation

    package init(
        identifier: IdentifierPattern,
        handler: HandlerReference,
        kind: TaskKind = .refresh,
        limits: RunLimits? = nil,
        overlap: Overlap = .queue,
        priority: Int = 500,
        submitAtStart: Bool = false,
        schedule: TaskSchedule? = nil,
        tolerance: Duration = .zero,
        learnsUse: Bool = false,
        requirements: RequirementSet = [],
        loss: RequirementLoss = RequirementLoss(),
        retry: RetryPolicy? = nil,
        parameters: String = "{}",
        origin: SourceLocation = SourceLocation()
    ) {
        self.identifier = identifier
        self.handler = handler
        self.kind = kind
        self.limits = limits ?? RunLimits(kind: kind)
        self.overlap = overlap
        self.priority = priority
        self.submitAtStart = submitAtStart
        self.schedule = schedule
        self.tolerance = tolerance
        self.learnsUse = learnsUse
        self.requirements = requirements
        self.loss = loss
        self.retry = retry ?? RetryPolicy(kind: kind)
        self.parameters = parameters
        self.origin = origin
    }
}

extension TaskDefinition {
    /// Its tolerance in nanoseconds.
    var toleranceNanoseconds: Int64 { Int64(clamping: tolerance.clampedNanoseconds) }
}

/// How long one run of a task may take, on the monotonic clock.
package struct RunLimits: Equatable, Codable, Sendable {
    /// From the start of the handler until it is asked to stop.
    package var runtime: Duration
    /// From being asked until it is killed.
    package var grace: Duration

    package init(runtime: Duration, grace: Duration) {
        self.runtime = runtime
        self.grace = grace
    }

    /// The defaults of a kind.
    package init(kind: TaskKind) {
        switch kind {
        case .refresh, .urlSession: self.init(runtime: .seconds(25), grace: .seconds(5))
        case .processing: self.init(runtime: .seconds(600), grace: .seconds(30))
        case .notificationAction: self.init(runtime: .seconds(10), grace: .seconds(5))
        }
    }
}
