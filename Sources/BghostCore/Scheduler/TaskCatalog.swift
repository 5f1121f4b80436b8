// SPDX-License-Identifier: Apache-2.0

/// What a manifest permits, ready to be looked up: tasks, the plugins that carry them out, and the
/// handlers of those.
///
/// An index names the same task, plugin or handler for as long as the catalog lives: another manifest
/// adds what it brings and retires what it has no more (`TaskCatalog+Reload.swift`), so a run under way
/// goes on under the terms with which it began.
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

    /// In the order in which they came; those of no use any more are not in `currentTasks`.
    package internal(set) var tasks: [TaskDefinition] = []
    /// Plugins, and after them functions, each in the order in which they came.
    package internal(set) var plugins: [Plugin] = []
    package private(set) var handlers: [Handler] = []
    /// The index of each task's plugin.
    package private(set) var pluginOfTask: [Int] = []
    /// The index of each task's handler.
    package private(set) var handlerOfTask: [Int] = []
    /// What each plugin was made from, to see whether another manifest says the same.
    var sources: [PluginSource] = []
    /// Whether each task is one that is permitted now.
    private var isCurrent: [Bool] = []
    /// Whether each plugin is one that begins no run any more.
    var isRetired: [Bool] = []
    /// The tasks that are permitted, in the manifest's order.
    package internal(set) var currentTasks: [Int] = []
    /// The plugins that the manifest has, by name.
    var currentPlugins: [String: Int] = [:]
    /// Whether there are sessions, whose transfers may wait for a good moment.
    var hasSessions = false
    private var exact: [String: Int] = [:]
    /// The longest first.
    private var families: [Int] = []

    package init(_ manifest: Manifest) { take(manifest) }

    // MARK: What other manifests change

    /// Adds a task.
    ///
    /// - Returns: its index.
    mutating func add(_ task: TaskDefinition, plugin: Int) -> Int {
        tasks.append(task)
        pluginOfTask.append(plugin)
        handlerOfTask.append(place(of: Handler(plugin: plugin, name: task.handler.handler)))
        return tasks.count - 1
    }

    /// Permits these tasks, and no others.
    mutating func permit(_ permitted: [Int]) {
        currentTasks = permitted
        isCurrent = [Bool](repeating: false, count: tasks.count)
        for index in permitted { isCurrent[index] = true }
        exact = [:]
        families = []
        for index in permitted {
            if tasks[index].identifier.isFamily {
                families.append(index)
            } else {
                exact[tasks[index].identifier.description] = index
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

    /// Whether the manifest permits this very task, in this form.
    package func permits(task: Int) -> Bool { isCurrent[task] }

    /// Whether the manifest names the identifier itself, and not only its family.
    package func names(_ identifier: String) -> Bool { exact[identifier] != nil }

    /// The plugin of a task.
    package func plugin(ofTask task: Int) -> Plugin { plugins[pluginOfTask[task]] }

    /// Those that are counted together: a plugin's tasks of one kind.
    func quota(of task: Int) -> Int { Self.quota(plugin: pluginOfTask[task], tasks[task].kind) }

    static func quota(plugin: Int, _ kind: TaskKind) -> Int {
        let place =
            switch kind {
            case .refresh: 0
            case .processing: 1
            case .urlSession: 2
            case .notificationAction: 3
            }
        return plugin * 4 + place
    }

    /// All that some task may require of the machine.
    package var requirements: RequirementSet {
        let ofSessions = hasSessions ? SessionDefinition.watched : []
        return currentTasks.reduce(into: ofSessions) { all, index in
            let task = tasks[index]
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
