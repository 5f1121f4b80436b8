// SPDX-License-Identifier: Apache-2.0

/// What a manifest permits, ready to be looked up: tasks, the plugins that carry them out, and the
/// handlers of those.
package struct TaskCatalog: Sendable {
    /// What carries tasks out: a plugin, or a function.
    package struct Plugin: Sendable {
        package let name: String
        package let isFunction: Bool
        /// Whether its runs share the daemon's process, and its death.
        package let isInDaemon: Bool
        /// How many requests may wait for it; `nil` for functions, which submit nothing.
        package let maxPending: PendingLimits?
        /// How long its runs may take within a day.
        package let runtimePerDay: RuntimePerDay
    }

    /// A handler of a plugin.
    package struct Handler: Equatable, Sendable {
        /// The index of its plugin.
        package let plugin: Int
        /// "" for a function.
        package let name: String
    }

    /// In the manifest's order.
    package let tasks: [TaskDefinition]
    /// Plugins, and after them functions, each in the manifest's order.
    package let plugins: [Plugin]
    package private(set) var handlers: [Handler] = []
    /// The index of each task's plugin.
    package private(set) var pluginOfTask: [Int] = []
    /// The index of each task's handler.
    package private(set) var handlerOfTask: [Int] = []
    private var exact: [String: Int] = [:]
    /// The longest first.
    private var families: [Int] = []

    package init(_ manifest: Manifest) {
        plugins =
            manifest.plugins.map {
                Plugin(
                    name: $0.name,
                    isFunction: false,
                    isInDaemon: $0.isolation == .inProcess,
                    maxPending: $0.maxPending,
                    runtimePerDay: $0.runtimePerDay
                )
            }
            + manifest.functions.map {
                Plugin(
                    name: $0.name,
                    isFunction: true,
                    isInDaemon: false,
                    maxPending: nil,
                    runtimePerDay: RuntimePerDay()
                )
            }
        var known: [String: Int] = [:]
        for (index, plugin) in plugins.enumerated() { known[plugin.name] = index }
        // The manifest's reader has refused a task without its plugin.
        tasks = manifest.tasks.filter { known[$0.handler.plugin] != nil }
        for (index, task) in tasks.enumerated() {
            guard let plugin = known[task.handler.plugin] else { continue }
            let handler = Handler(plugin: plugin, name: task.handler.handler)
            pluginOfTask.append(plugin)
            handlerOfTask.append(place(of: handler))
            if task.identifier.isFamily {
                families.append(index)
            } else {
                exact[task.identifier.description] = index
            }
        }
        families.sort { [tasks] in
            tasks[$0].identifier.description.utf8.count
                > tasks[$1].identifier.description.utf8.count
        }
    }

    private mutating func place(of handler: Handler) -> Int {
        if let known = handlers.firstIndex(of: handler) { return known }
        handlers.append(handler)
        return handlers.count - 1
    }

    /// The task that permits an identifier: the one of that name, else the longest family.
    package func task(for identifier: String) -> Int? {
        exact[identifier] ?? families.first { tasks[$0].identifier.matches(identifier) }
    }

    /// Whether the manifest names the identifier itself, and not only its family.
    package func names(_ identifier: String) -> Bool { exact[identifier] != nil }

    /// The plugin of a task.
    package func plugin(ofTask task: Int) -> Plugin { plugins[pluginOfTask[task]] }

    /// Those that are counted together: a plugin's tasks of one kind.
    func quota(of task: Int) -> Int { Self.quota(plugin: pluginOfTask[task], tasks[task].kind) }

    static func quota(plugin: Int, _ kind: TaskKind) -> Int {
        plugin * 2 + (kind == .refresh ? 0 : 1)
    }

    /// All that some task may require of the machine.
    package var requirements: RequirementSet {
        tasks.reduce(into: []) { all, task in
            all.formUnion(task.requirements)
            // What Apple's processing requests can ask for.
            if task.kind == .processing { all.formUnion([.externalPower, .network]) }
        }
    }
}

extension HandlerReference {
    /// The name of the plugin or function.
    package var plugin: String {
        switch self {
        case .plugin(let name, _): name
        case .function(let name): name
        }
    }

    /// The name of the handler; "" for a function.
    package var handler: String {
        if case .plugin(_, let handler) = self { handler } else { "" }
    }
}
