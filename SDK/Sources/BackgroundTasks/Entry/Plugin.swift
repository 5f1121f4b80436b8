// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The host's table of functions, which the host passes to the entry function of a plugin.
public typealias HostTable = UnsafeRawPointer
/// The plugin's table of handlers, which the entry function returns.
public typealias PluginTable = UnsafeRawPointer

/// A plugin: its id, and the handlers that `tasks.json` may refer to.
///
/// Store it in a global constant, and return its table from the only function that a plugin
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

    /// Creates a plugin.
    ///
    /// - Parameters:
    ///   - id: a reverse DNS name, such as `org.example.hello`.
    ///   - version: the version of the plugin.
    ///   - vendor: the name of the vendor.
    ///   - handlers: 1 to 256 handlers with unique names.
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

    package init(id: String, version: String, vendor: String, _ handlers: [Handler]) {
        self.id = id
        self.version = version
        self.vendor = vendor
        self.handlers = handlers
    }

    /// Returns the plugin's table for a host, the same at each call.
    ///
    /// Call it in the entry function `bghost_plugin_v1` with that function's argument. It starts
    /// nothing and only allocates memory, which is never freed. Call it from any thread.
    ///
    /// - Parameter host: the host's table.
    /// - Returns: the table; `nil` if the plugin cannot run on that host, or has an invalid number
    ///   of handlers.
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

    /// Writes to the log of a host that has not opened the plugin why it gets no table.
    package static func reportFault(_ message: String, to host: HostTable?) {
        host.flatMap { Host($0) }?.log(.error, message)
    }
}

/// Builds the list of a plugin's handlers; `if` and `for` are supported.
@resultBuilder
public enum HandlerBuilder {
    /// Accepts one handler.
    public static func buildExpression(_ handler: Handler) -> [Handler] { [handler] }
    /// Concatenates handlers.
    public static func buildBlock(_ parts: [Handler]...) -> [Handler] { parts.flatMap(\.self) }
    /// Concatenates the handlers of a `for` loop.
    public static func buildArray(_ rounds: [[Handler]]) -> [Handler] { rounds.flatMap(\.self) }
    /// Accepts an `if` without `else`.
    public static func buildOptional(_ part: [Handler]?) -> [Handler] { part ?? [] }
    /// Accepts the first branch of an `if`.
    public static func buildEither(first part: [Handler]) -> [Handler] { part }
    /// Accepts the second branch of an `if`.
    public static func buildEither(second part: [Handler]) -> [Handler] { part }
}
