// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials

/// A function of a plugin that tasks of `tasks.json` can refer to.
///
/// It is an `async` closure, or a type that conforms to `TaskHandler`. If it returns, the run
/// succeeds, and its return value, encoded as JSON, is the run's result. If it throws, the error
/// determines the outcome:
///
/// | thrown | outcome |
/// | --- | --- |
/// | `CancellationError`, after the run was cancelled | cancelled |
/// | `RetryLater` | failed; the daemon retries it |
/// | `PermanentFailure` | failed; the daemon does not retry it |
/// | any other error | failed with the error's description; the manifest decides on a retry |
///
/// The daemon stores the type of the error with the run, and where it was made if the error knows that:
/// `LocatedError`.
///
/// Runs of one handler overlap unless its options contain `.serial`. A run starts on its own thread
/// of the host, where it may block until the handler first suspends. After that it runs on Swift's
/// pool, where it should not block.
public struct Handler: Sendable {
    package let name: String
    let options: HandlerOptions
    /// The JSON Schema of its parameters; "" if there is none.
    package private(set) var schema: String
    /// Performs a run; the result is JSON, or `nil` for none.
    let body: @Sendable (TaskContext) async throws -> Data?
    /// The app objects of its plugin; `nil` if the plugin is not an app.
    private(set) var objects: AppObjects?
    /// Whether delegates of sessions get the events of a wake only once the handler releases them.
    private(set) var holdsDeliveries = false

    private init(
        _ name: String,
        _ options: HandlerOptions,
        schema: String = "",
        _ body: @escaping @Sendable (TaskContext) async throws -> Data?
    ) {
        self.name = name
        self.options = options
        self.schema = schema
        self.body = body
    }

    /// Returns a copy with the objects of its plugin.
    package func using(_ objects: AppObjects) -> Handler {
        var handler = self
        handler.objects = objects
        return handler
    }

    /// Returns a copy whose wakes deliver nothing to delegates of sessions before the handler calls
    /// `release()` of the run's sessions.
    package func holdingDeliveries() -> Handler {
        var handler = self
        handler.holdsDeliveries = true
        return handler
    }

    /// Returns a copy with another JSON Schema of the parameters, instead of the one that the SDK derives
    /// from their type.
    ///
    /// The host refuses requests whose parameters do not fit, before it stores them. It knows the
    /// keywords that docs/HANDLERS.md lists; `bghost plugin check` finds others.
    ///
    ///     Handler("resize") { (context, size: Size) in … }
    ///         .parametersSchema(#"{"properties": {"width": {"minimum": 1}}, "required": ["width"]}"#)
    ///
    /// - Parameter json: the schema, at most 64 KiB; "" for none, so that the host checks nothing.
    public func parametersSchema(_ json: String) -> Handler {
        var handler = self
        handler.schema = json
        return handler
    }

    /// Creates a handler from a closure.
    ///
    /// - Parameters:
    ///   - name: the handler's name in `tasks.json`: 1 to 128 characters of `A-Z a-z 0-9 . _ -`.
    ///   - options: how the host runs the handler.
    ///   - body: performs a run.
    public init(
        _ name: String,
        options: HandlerOptions = [],
        _ body: @escaping @Sendable (TaskContext) async throws -> Void
    ) {
        self.init(name, options) { context in
            try await body(context)
            return nil
        }
    }

    /// Creates a handler from a closure whose result is recorded with the run, encoded as JSON.
    public init<Result: Encodable & SendableMetatype>(
        _ name: String,
        options: HandlerOptions = [],
        _ body: @escaping @Sendable (TaskContext) async throws -> Result
    ) {
        self.init(name, options) { try JSON.encode(await body($0)) }
    }

    /// Creates a handler from a closure with the task's parameters as an argument.
    ///
    /// The host checks parameters against a JSON Schema that the SDK derives from their type. If they
    /// pass and do not match the type, the run fails with a message that names the place.
    public init<Parameters: Decodable & SendableMetatype>(
        _ name: String,
        options: HandlerOptions = [],
        _ body: @escaping @Sendable (TaskContext, Parameters) async throws -> Void
    ) {
        let schema = SchemaRecorder.schema(of: Parameters.self)
        self.init(name, options, schema: schema) { context in
            try await body(context, context.parameters())
            return nil
        }
    }

    /// Creates a handler from a closure with the task's parameters as an argument, whose result is
    /// recorded with the run.
    public init<
        Parameters: Decodable & SendableMetatype,
        Result: Encodable & SendableMetatype
    >(
        _ name: String,
        options: HandlerOptions = [],
        _ body: @escaping @Sendable (TaskContext, Parameters) async throws -> Result
    ) {
        let schema = SchemaRecorder.schema(of: Parameters.self)
        self.init(name, options, schema: schema) {
            try JSON.encode(await body($0, $0.parameters()))
        }
    }

    /// Creates a handler from a type: each run decodes a value of the type from the parameters, and
    /// calls its `run`.
    public init<Run: TaskHandler>(
        _ name: String,
        options: HandlerOptions = [],
        _ type: Run.Type
    ) {
        self.init(name, options, schema: SchemaRecorder.schema(of: type)) { context in
            let run: Run = try context.parameters()
            return try JSON.encode(await run.run(context))
        }
    }
}

/// A handler as a type, whose stored properties are the parameters of the task.
///
///     struct Hello: TaskHandler {
///         var name: String
///         func run(_ context: TaskContext) async throws -> [String: String] {
///             ["greeting": "Hello, \(name)!"]
///         }
///     }
public protocol TaskHandler: Decodable, SendableMetatype {
    /// The type of a run's result.
    associatedtype Result: Encodable, SendableMetatype

    /// Performs one run.
    ///
    /// - Parameter context: the context of the run.
    /// - Returns: the result, which is recorded with the run as JSON.
    /// - Throws: an error that determines the outcome, see `Handler`.
    func run(_ context: TaskContext) async throws -> Result
}

/// How the host runs a handler.
public struct HandlerOptions: OptionSet, Sendable {
    /// The bits of `BG_TASK_*`.
    public let rawValue: UInt32

    /// Creates a set from its bits.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Two runs of this handler never overlap.
    public static let serial = HandlerOptions(rawValue: 2)
    /// The handler never runs inside the daemon, whatever `tasks.json` says.
    public static let needsWorker = HandlerOptions(rawValue: 4)

    /// The bits that the host knows.
    static let known: UInt32 = 6
}
