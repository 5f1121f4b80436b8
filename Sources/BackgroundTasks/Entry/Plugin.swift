// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// What the host hands to the entry point of a plugin: its table of functions.
public typealias HostTable = UnsafeRawPointer
/// What the entry point of a plugin answers: the plugin's table of handlers.
public typealias PluginTable = UnsafeRawPointer

/// A plugin: a name, and the handlers that `tasks.json` may use.
///
/// Keep it in a global constant and hand its table to the host from the one function that a plugin
/// exports:
///
///     let plugin = Plugin(id: "org.example.hello", version: "1.0.0") {
///         Handler("hello") { context in context.log(.info, "Hello!") }
///     }
///
///     @c(bghost_plugin_v1)
///     public func entry(_ host: HostTable?) -> PluginTable? { plugin.table(for: host) }
public final class Plugin: Sendable {
    let id: String
    let version: String
    let vendor: String
    let handlers: [Handler]
    private let table = Mutex<TablePointer?>(nil)

    /// Describes a plugin.
    ///
    /// - Parameters:
    ///   - id: in reverse DNS, such as `org.example.hello`.
    ///   - vendor: who made it, for people.
    ///   - handlers: from 1 to 256, each with a name of its own.
    public init(
        id: String,
        version: String,
        vendor: String = "",
        @HandlerBuilder handlers: () -> [Handler]
    ) {
        self.id = id
        self.version = version
        self.vendor = vendor
        self.handlers = handlers()
    }

    init(id: String, version: String, vendor: String, _ handlers: [Handler]) {
        self.id = id
        self.version = version
        self.vendor = vendor
        self.handlers = handlers
    }

    /// The plugin's table for a host, the same at each call; `nil` if it cannot run on that host.
    ///
    /// The body of the entry point `bghost_plugin_v1`, which passes on what it was given. It starts
    /// nothing and touches nothing but memory. Call it from any thread.
    public func table(for host: HostTable?) -> PluginTable? {
        if let host, Host(host) == nil { return nil }
        return table.withLock { table in
            if table == nil { table = TablePointer(self) }
            if table == nil, let host = host.flatMap(Host.init) {
                let limit = "a plugin has from 1 to \(TablePointer.handlersMax)"
                host.log(.error, "plugin \(id) has \(handlers.count) handlers: \(limit)")
            }
            return table.map { UnsafeRawPointer($0.pointer) }
        }
    }
}

/// Lists the handlers of a plugin, one below the other; `if` and `for` may stand between them.
@resultBuilder
public enum HandlerBuilder {
    /// Takes one handler.
    public static func buildExpression(_ handler: Handler) -> [Handler] { [handler] }
    /// Joins what stands one below the other.
    public static func buildBlock(_ parts: [Handler]...) -> [Handler] { parts.flatMap(\.self) }
    /// Joins the rounds of a `for`.
    public static func buildArray(_ rounds: [[Handler]]) -> [Handler] { rounds.flatMap(\.self) }
    /// Takes an `if` without `else`.
    public static func buildOptional(_ part: [Handler]?) -> [Handler] { part ?? [] }
    /// Takes the first branch of an `if`.
    public static func buildEither(first part: [Handler]) -> [Handler] { part }
    /// Takes the second branch of an `if`.
    public static func buildEither(second part: [Handler]) -> [Handler] { part }
}
