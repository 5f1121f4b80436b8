// SPDX-License-Identifier: Apache-2.0

internal import BghostCalendar
internal import BghostLinux
internal import BghostManifest
internal import BghostModel
internal import BghostPolicy
internal import BghostSchemas
internal import BghostWire
internal import CBghost

/// The plugin under test, with its manifest.
struct Subject: Sendable {
    let manifest: Manifest
    /// Its index in the catalog.
    let plugin: Int
    /// In the order of the plugin's table.
    let handlers: [Handler]
    /// `nil` if everything is permitted.
    let permissions: Permissions?
    /// The plugin's own folder.
    let dataDirectory: String
    let resultBytesMax: Int
    /// The plugin's configuration, a JSON object.
    let config: String

    /// A handler in the plugin's table.
    struct Handler: Sendable {
        var name: String
        var isSerial: Bool
        /// The schema of its parameters; `nil` if it declares none.
        var schema: ParameterSchema?
    }

    /// Reads a manifest, or creates one with a task for each handler.
    init(
        id: String,
        _ handlers: [Handler],
        tasks: String?,
        as name: String?,
        dataDirectory: String
    ) throws {
        let manifest =
            try tasks.map { try Self.read($0) } ?? Self.manifest(id: id, handlers)
        let chosen = try Self.choose(name, of: manifest, handlers)
        let definition = manifest.plugins[chosen]
        for task in manifest.tasks where task.handler.plugin == definition.name {
            guard handlers.contains(where: { $0.name == task.handler.handler }) else {
                throw TestHostError(
                    .invalidTasks,
                    "task `\(task.identifier)`: the plugin has no handler"
                        + " `\(task.handler.handler)`; it has \(Self.list(handlers.map(\.name)))"
                )
            }
        }
        self.manifest = Self.withOwnTasks(manifest, definition.name, handlers)
        plugin = chosen
        self.handlers = handlers
        permissions = tasks == nil ? nil : definition.permissions
        self.dataDirectory = dataDirectory
        resultBytesMax = definition.limits.resultBytes
        config = definition.config
    }

    /// Adds tasks for the handlers that the host runs by itself; a manifest need not contain them.
    private static func withOwnTasks(
        _ manifest: Manifest,
        _ plugin: String,
        _ handlers: [Handler]
    ) -> Manifest {
        var manifest = manifest
        for handler in handlers
        where handler.name == "urlSession" || handler.name.hasPrefix("urlSession.")
            || handler.name == "notificationAction"
        {
            let reference = HandlerReference.plugin(name: plugin, handler: handler.name)
            guard !manifest.tasks.contains(where: { $0.handler == reference }),
                let identifier = IdentifierPattern(handler.name)
            else { continue }
            manifest.tasks.append(TaskDefinition(identifier: identifier, handler: reference))
        }
        return manifest
    }

    private static let zones = SystemZones { try ZoneTable(name: $0, tzif: $1) }

    private static func read(_ text: String) throws -> Manifest {
        let reader = ManifestReader(
            manifestDirectory: "/",
            // A test has no secrets: references to them stay unresolved.
            unresolvedSecrets: .warning,
            resolveSecret: { _ in .failure(SecretError("a test has no secrets")) },
            zones: ZoneSource(find: zones.zone, names: zones.names)
        )
        let (manifest, diagnostics) = reader.read(
            ManifestFile(name: "tasks.json", bytes: Array(text.utf8))
        )
        guard let manifest else {
            let errors = diagnostics.filter { $0.severity == .error }
            throw TestHostError(
                .invalidTasks,
                errors.map { $0.rendered(color: false) }.joined()
            )
        }
        return manifest
    }

    private static func manifest(id: String, _ handlers: [Handler]) throws -> Manifest {
        Manifest(
            plugins: [PluginDefinition(name: id, library: "")],
            tasks: try handlers.map { handler in
                guard let identifier = IdentifierPattern(handler.name) else {
                    throw TestHostError(
                        .invalidTasks,
                        "the handler `\(handler.name)` cannot also be the name of a task: give a"
                            + " manifest that says which tasks there are"
                    )
                }
                return TaskDefinition(
                    identifier: identifier,
                    handler: .plugin(name: id, handler: handler.name)
                )
            }
        )
    }

    /// Selects the manifest's entry under test: the one with this name, or otherwise the only
    /// possible one.
    private static func choose(
        _ name: String?,
        of manifest: Manifest,
        _ handlers: [Handler]
    ) throws -> Int {
        let names = manifest.plugins.map(\.name)
        if let name {
            guard let index = names.firstIndex(of: name) else {
                throw TestHostError(
                    .invalidTasks,
                    "there is no plugin `\(name)` in the manifest; there are \(list(names))"
                )
            }
            return index
        }
        if names.count == 1 { return 0 }
        let own = Set(handlers.map(\.name))
        let fitting = names.indices.filter { index in
            let tasks = manifest.tasks.filter { $0.handler.plugin == names[index] }
            return !tasks.isEmpty && tasks.allSatisfy { own.contains($0.handler.handler) }
        }
        guard let only = fitting.first, fitting.count == 1 else {
            throw TestHostError(
                .invalidTasks,
                "the manifest has the plugins \(list(names)), of which"
                    + " \(fitting.count) have tasks for these handlers only: say which is tested by"
                    + " `as:`"
            )
        }
        return only
    }

    static func list(_ names: [String]) -> String {
        names.isEmpty ? "none" : names.map { "`\($0)`" }.joined(separator: ", ")
    }

    // MARK: Permissions

    /// Why a fetch is not permitted; `nil` if it is.
    func refusal(of fetch: FetchCall, host: String, port: UInt16) -> FetchEnd? {
        guard let permissions else { return nil }
        guard permissions.network.contains(where: { $0.allows(host: host, port: port) }) else {
            let target = host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
            return .failed(
                BG_E_PERM,
                "this plugin may not reach \(target): add \"\(target)\" to"
                    + " `permissions.network` of the plugin in the manifest"
            )
        }
        let readable = permissions.read + permissions.write + [dataDirectory]
        let mayRead =
            fetch.bodyFile.isEmpty
            || readable.contains { fetch.bodyFile == $0 || fetch.bodyFile.hasPrefix($0 + "/") }
        return mayRead
            ? nil
            : .failed(
                BG_E_ARG,
                "this plugin may not read `\(fetch.bodyFile)`: grant its folder in `permissions.read`"
            )
    }

    /// Whether the plugin may connect to a host.
    func mayReach(_ host: String, _ port: UInt16) -> Bool {
        permissions?.network.contains { $0.allows(host: host, port: port) } ?? true
    }

    /// Whether the plugin may read a file.
    func mayRead(_ file: String) -> Bool {
        guard let permissions else { return true }
        return (permissions.read + permissions.write + [dataDirectory]).contains {
            file == $0 || file.hasPrefix($0.hasSuffix("/") ? $0 : $0 + "/")
        }
    }

    /// The task that gets a session's wake: the one for the session's own handler, or the general
    /// one.
    func wakeTask(of session: String) -> String? {
        for handler in ["urlSession." + session, "urlSession"] {
            let task = manifest.tasks.first { task in
                task.handler == .plugin(name: manifest.plugins[plugin].name, handler: handler)
            }
            if let task { return task.identifier.description }
        }
        return nil
    }

    /// The task that gets the response to a notification.
    var actionTask: String? {
        manifest.tasks.first { task in
            task.handler
                == .plugin(name: manifest.plugins[plugin].name, handler: "notificationAction")
        }?.identifier.description
    }

    /// Whether the plugin may submit a task: one that it handles, or one that its permissions name.
    func maySubmit(_ identifier: String, _ catalog: TaskCatalog) -> Bool {
        guard let task = catalog.task(for: identifier) else { return false }
        return catalog.pluginOfTask[task] == plugin
            || permissions?.submit.contains { $0.matches(identifier) } == true
    }
}
