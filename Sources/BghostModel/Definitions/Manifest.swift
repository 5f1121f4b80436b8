// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
package import BghostCalendar
package import BghostFacts

/// The contents of a checked `tasks.json`: which tasks may run, where, and within which limits.
///
/// `ManifestReader` makes it only after every check that needs no other file has passed, so code
/// that uses it need not check again.
package struct Manifest: Equatable, Sendable {
    package var host: HostSettings
    package var plugins: [PluginDefinition]
    package var functions: [FunctionDefinition]
    package var signers: [SignerDefinition]
    package var tasks: [TaskDefinition]
    package var sessions: [SessionDefinition]
    /// How the daemon delivers notifications that plugins post; `nil` if it does not deliver them.
    package var notifications: NotificationSettings?
    /// The SHA-256 of the text of its files, in the order in which they were read, as hexadecimal
    /// digits; "" if the manifest was not read from files.
    package var digest = ""
    /// The sections and definitions as the files contain them; empty if it was not read from files.
    package var written = WrittenDefinitions()

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

/// How the daemon handles a changed file of a plugin's library.
package enum LibraryChange: String, Equatable, Sendable, CaseIterable {
    /// The daemon inspects the new library, loads it for a test, and uses it for all runs that
    /// start afterwards.
    case reload
    /// The daemon keeps the inspected library until the operator reloads the manifest.
    case ask
}

/// One entry of `plugins`.
package struct PluginDefinition: Equatable, Sendable {
    package var name: String
    /// The path as written: absolute, relative to the manifest's folder, or a bare name to look up.
    package var library: String
    /// The SHA-256 that the library must have, 64 lower-case hexadecimal digits.
    package var sha256: String?
    /// The name of the signer who must have signed the library.
    package var signedBy: String?
    /// The SHA-256 of each library that it loads, by the name under which it loads it.
    package var libraries: [String: String]
    /// How the daemon handles a changed library; `nil` if the manifest does not say.
    package var writtenOnChange: LibraryChange?
    package var isolation: Isolation
    /// The maximum number of concurrent runs in one worker, 1 or more.
    package var runsPerWorker: Int
    /// The number of idle workers that are kept ready for future runs.
    package var prestart: Int
    package var permissions: Permissions
    /// The sandbox layers without which its workers must not run, in addition to the host's.
    package var require: Set<SandboxLayer>
    package var limits: WorkerLimits
    /// The maximum number of pending requests.
    package var maxPending: PendingLimits
    /// The maximum total runtime of its runs within any 24 hours.
    package var runtimePerDay: RuntimePerDay
    /// The plugin's own settings: a JSON object as text, with all secrets resolved.
    package var config: String
    /// The place of the entry in the manifest, for messages about the plugin.
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
        libraries: [String: String] = [:],
        writtenOnChange: LibraryChange? = nil,
        origin: SourceLocation = SourceLocation()
    ) {
        self.name = name
        self.library = library
        self.sha256 = sha256
        self.signedBy = signedBy
        self.libraries = libraries
        self.writtenOnChange = writtenOnChange
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

extension PluginDefinition {
    /// How the daemon handles a changed library; by default, a pinned or signed one waits for the
    /// operator.
    package var onChange: LibraryChange {
        writtenOnChange ?? (sha256 == nil && signedBy == nil ? .reload : .ask)
    }
}

/// One entry of `signers`.
package struct SignerDefinition: Equatable, Sendable {
    package var name: String
    /// The Ed25519 public key, as a line of minisign.
    package var key: String

    package init(name: String, key: String) {
        self.name = name
        self.key = key
    }
}

/// One entry of `functions`: a plain C function that a worker calls through libffi.
package struct FunctionDefinition: Equatable, Sendable {
    package var name: String
    package var library: String
    package var symbol: String
    /// Such as `ulong(ulong, bytes, uint)`, as written; `FunctionSignature` parses it.
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

/// What a plugin may do in addition to computing and writing into its own data directory.
package struct Permissions: Equatable, Sendable {
    /// The hosts that the daemon may contact for the plugin.
    package var network: [NetworkGrant]
    /// Whether its worker may open sockets itself.
    package var directNetwork: Bool
    /// Absolute paths of the folders and files that it may read.
    package var read: [String]
    /// Absolute paths of the folders and files that it may write.
    package var write: [String]
    /// The tasks for which it may submit requests, in addition to its own.
    package var submit: [IdentifierPattern]
    package var notify: Bool
    /// Whether it may generate machine code at run time.
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

/// The kind of a task, which decides its default limits.
package enum TaskKind: String, Equatable, Codable, Sendable, CaseIterable {
    /// Short: 25 s of runtime and 5 s of grace.
    case refresh
    /// Long: 10 min of runtime and 30 s of grace.
    case processing
    /// A person's action on a notification: 10 s of runtime and 5 s of grace; no manifest names it.
    case notificationAction
    /// The notice that a session's transfers have ended, with the limits of a refresh; only the
    /// task of a session has this kind.
    case urlSession

    /// The kinds that a manifest may name.
    package static let named: [TaskKind] = [.refresh, .processing]

    /// Whether plugins submit requests of this kind, and so may list and withdraw them.
    ///
    /// The others are the daemon's: an answer that a person has given, a session's wake.
    package var isSubmittedByPlugins: Bool { Self.named.contains(self) }
}

/// What happens to a request whose task is already running.
package enum Overlap: String, Equatable, Sendable, CaseIterable {
    /// The request waits until that run ends; the default.
    case queue
    /// The request is dropped.
    case skip
    /// The daemon cancels the present run, and starts the request after it.
    case replace
    /// Both run at the same time.
    case allow
}

/// The code that handles a task.
package enum HandlerReference: Equatable, Sendable {
    case plugin(name: String, handler: String)
    case function(name: String)
}

/// One entry of `tasks`: a permitted identifier or a family of identifiers, and how it runs.
package struct TaskDefinition: Equatable, Sendable {
    /// Its key: an exact identifier, or a family with a trailing `.*`.
    package var identifier: IdentifierPattern
    package var handler: HandlerReference
    package var kind: TaskKind
    package var limits: RunLimits
    package var overlap: Overlap
    /// 0 to 1000; a higher priority starts first.
    package var priority: Int
    /// Whether the daemon submits a request when it starts, unless one is pending.
    package var submitAtStart: Bool
    /// When the daemon submits requests by itself; `nil` if it does not.
    package var schedule: TaskSchedule?
    /// Whether one host of the fleet serves each time of its schedule, and not every host.
    package var isOnceInFleet: Bool
    /// Whether its requests live in the fleet's store, and run on the host that owns their partition.
    package var isInFleet: Bool
    /// How much later than its date a run may start to share a wake-up with others.
    var tolerance: Duration
    /// Whether a run starts, within its tolerance, before people usually use its results.
    package var learnsUse: Bool
    /// The requirements that must be met before a run starts.
    package var requirements: RequirementSet
    /// What happens to a run when one of its requirements is no longer met.
    package var loss: RequirementLoss
    /// What happens after a run that did not succeed.
    package var retry: RetryPolicy
    /// When runs that do not stop in time delay the next ones.
    package var throttle: ThrottlePolicy
    /// How much of its history is kept, if less than the host keeps.
    package var history: TaskHistory
    /// What makes an alert, if the host has any.
    package var expect: TaskExpectation
    /// A JSON object as text; the keys of a request's own parameters override it.
    package var parameters: String
    /// A JSON Schema as text, besides that of the handler; `nil` if the manifest gives none.
    package var parametersSchema: String?
    /// The names by which operators select it together with other tasks, at most 16.
    package var tags: [String]
    /// The tasks that are submitted when a run of it ends with success, at most 16.
    package var then: [TaskFollower]
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
        isOnceInFleet: Bool = false,
        isInFleet: Bool = false,
        tolerance: Duration = .zero,
        learnsUse: Bool = false,
        requirements: RequirementSet = [],
        loss: RequirementLoss = RequirementLoss(),
        retry: RetryPolicy? = nil,
        throttle: ThrottlePolicy = ThrottlePolicy(),
        history: TaskHistory = TaskHistory(),
        expect: TaskExpectation? = nil,
        parameters: String = "{}",
        parametersSchema: String? = nil,
        tags: [String] = [],
        then: [TaskFollower] = [],
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
        self.isOnceInFleet = isOnceInFleet
        self.isInFleet = isInFleet
        self.tolerance = tolerance
        self.learnsUse = learnsUse
        self.requirements = requirements
        self.loss = loss
        self.retry = retry ?? RetryPolicy(kind: kind)
        self.throttle = throttle
        self.history = history
        self.expect = expect ?? (schedule == nil ? TaskExpectation() : .ofSchedules)
        self.parameters = parameters
        self.parametersSchema = parametersSchema
        self.tags = tags
        self.then = then
        self.origin = origin
    }
}

/// How long one run of a task may take, on the monotonic clock.
package struct RunLimits: Equatable, Codable, Sendable {
    /// The time from the start of the handler until the daemon cancels the run.
    package var runtime: Duration
    /// The time from the cancellation until the daemon kills the run.
    package var grace: Duration

    package init(runtime: Duration, grace: Duration) {
        self.runtime = runtime
        self.grace = grace
    }

    /// The default limits of a kind.
    package init(kind: TaskKind) {
        switch kind {
        case .refresh, .urlSession: self.init(runtime: .seconds(25), grace: .seconds(5))
        case .processing: self.init(runtime: .seconds(600), grace: .seconds(30))
        case .notificationAction: self.init(runtime: .seconds(10), grace: .seconds(5))
        }
    }
}
