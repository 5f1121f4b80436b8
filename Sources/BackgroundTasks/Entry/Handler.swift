// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials

/// A function of a plugin that tasks of `tasks.json` can name.
///
/// It is an `async` closure, or a type that conforms to `TaskHandler`. Returning ends the run as
/// succeeded, with what it returns as the run's result in JSON; throwing ends it otherwise:
///
/// | thrown | the run |
/// | --- | --- |
/// | `CancellationError`, when the run was asked to stop | was cancelled |
/// | `RetryLater` | failed and is tried again |
/// | anything else | failed, with the error's description |
///
/// Runs of one handler overlap unless its options say `.serial`. A run begins on a thread of the
/// host that is its own until the handler first suspends, so it may block there; after that it is on
/// Swift's pool, where it should not.
public struct Handler: Sendable {
    let name: String
    let options: HandlerOptions
    /// Does the work of a run; the result is JSON, or `nil` for none.
    let body: @Sendable (TaskContext) async throws -> Data?
    /// The one of its plugin; `nil` if that is no app.
    private(set) var center: UNUserNotificationCenter?

    private init(
        _ name: String,
        _ options: HandlerOptions,
        _ body: @escaping @Sendable (TaskContext) async throws -> Data?
    ) {
        self.name = name
        self.options = options
        self.body = body
    }

    /// The same with a notification center.
    func using(_ center: UNUserNotificationCenter) -> Handler {
        var handler = self
        handler.center = center
        return handler
    }

    /// Makes a handler of a closure.
    ///
    /// - Parameter name: what `tasks.json` calls it: 1 to 128 of `A-Z a-z 0-9 . _ -`.
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

    /// Makes a handler of a closure whose result is recorded with the run.
    public init<Result: Encodable & SendableMetatype>(
        _ name: String,
        options: HandlerOptions = [],
        _ body: @escaping @Sendable (TaskContext) async throws -> Result
    ) {
        self.init(name, options) { try JSON.encode(await body($0)) }
    }

    /// Makes a handler of a closure that is given the task's parameters.
    ///
    /// Parameters that do not fit their type fail the run, with a message that names the place.
    public init<Parameters: Decodable & SendableMetatype>(
        _ name: String,
        options: HandlerOptions = [],
        _ body: @escaping @Sendable (TaskContext, Parameters) async throws -> Void
    ) {
        self.init(name, options) { context in
            try await body(context, context.parameters())
            return nil
        }
    }

    /// Makes a handler of a closure that is given the task's parameters and whose result is
    /// recorded with the run.
    public init<
        Parameters: Decodable & SendableMetatype,
        Result: Encodable & SendableMetatype
    >(
        _ name: String,
        options: HandlerOptions = [],
        _ body: @escaping @Sendable (TaskContext, Parameters) async throws -> Result
    ) {
        self.init(name, options) { try JSON.encode(await body($0, $0.parameters())) }
    }

    /// Makes a handler of a type: each run makes a value of it from the parameters and runs that.
    public init<Run: TaskHandler>(
        _ name: String,
        options: HandlerOptions = [],
        _ type: Run.Type
    ) {
        self.init(name, options) { context in
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
    /// What a run results in.
    associatedtype Result: Encodable, SendableMetatype

    /// Carries out one run.
    func run(_ context: TaskContext) async throws -> Result
}

/// How the host is to run a handler.
public struct HandlerOptions: OptionSet, Sendable {
    /// The bits of `BG_TASK_*`.
    public let rawValue: UInt32

    /// Makes a set of its bits.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Never two runs of this handler at once.
    public static let serial = HandlerOptions(rawValue: 2)
    /// Never inside the daemon, whatever `tasks.json` says.
    public static let needsWorker = HandlerOptions(rawValue: 4)

    /// The bits that the host understands.
    static let known: UInt32 = 6
}
