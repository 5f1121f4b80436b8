// SPDX-License-Identifier: Apache-2.0

package import BghostFacts
package import BghostModel

/// The contents of a manifest, prepared for lookups: tasks, their plugins, and the plugins'
/// handlers.
///
/// An index identifies the same task, plugin or handler for the lifetime of the catalog. A new manifest adds
/// entries and retires others (`TaskCatalog+Reload.swift`), so a run in progress keeps the definition with
/// which it started.
package struct TaskCatalog: Sendable {
    /// A plugin, or a function.
    package struct Plugin: Sendable {
        package let name: String
        let isFunction: Bool
        /// Whether its runs are in the daemon's process, and end with it.
        let isInDaemon: Bool
        /// The most pending requests; `nil` for functions, which submit nothing.
        let maxPending: PendingLimits?
        /// The most runtime within a day.
        let runtimePerDay: RuntimePerDay
    }

    /// A handler of a plugin.
    struct Handler: Hashable, Sendable {
        /// The index of its plugin.
        let plugin: Int
        /// "" for a function.
        let name: String
    }

    /// In the order of addition; retired tasks are not in `currentTasks`.
    package internal(set) var tasks: [TaskDefinition] = []
    /// Plugins and functions, in the order of addition.
    package internal(set) var plugins: [Plugin] = []
    private(set) var handlers: [Handler] = []
    private var handlerIndices: [Handler: Int] = [:]
    /// The indices of the handlers of each plugin.
    private var handlersOfPlugin: [Int: [Int]] = [:]
    /// The index of each task's plugin.
    package private(set) var pluginOfTask: [Int] = []
    /// The index of each task's handler.
    private(set) var handlerOfTask: [Int] = []
    /// The definition of each plugin, to detect whether another manifest changes it.
    var sources: [PluginSource] = []
    /// Whether each task is permitted now.
    private var isCurrent: [Bool] = []
    /// Whether each plugin is retired and starts no more runs.
    var isRetired: [Bool] = []
    /// The permitted tasks, in the manifest's order.
    package internal(set) var currentTasks: [Int] = []
    /// The plugins in the manifest, by name.
    var currentPlugins: [String: Int] = [:]
    /// The kinds of tasks that wait on a low battery.
    var powerPolicy = PowerPolicy.none
    /// Whether there are sessions, whose transfers may have requirements.
    var hasSessions = false
    private var exact: [String: Int] = [:]
    /// The longest pattern first.
    private var families: [Int] = []

    init(_ manifest: Manifest) { adopt(manifest) }

    // MARK: Changes by other manifests

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
        if let known = handlerIndices[handler] { return known }
        handlerIndices[handler] = handlers.count
        handlersOfPlugin[handler.plugin, default: []].append(handlers.count)
        handlers.append(handler)
        return handlers.count - 1
    }

    /// The task for an identifier: the one with that name, otherwise the longest matching family.
    package func task(for identifier: String) -> Int? {
        exact[identifier] ?? families.first { tasks[$0].identifier.matches(identifier) }
    }

    /// Whether this task, in this form, is permitted.
    func permits(task: Int) -> Bool { isCurrent[task] }

    /// The identifiers that the manifest contains, in any order; families are patterns and not among
    /// them.
    var names: some Collection<String> { exact.keys }

    /// Whether the manifest contains the identifier itself, not only its family.
    func names(_ identifier: String) -> Bool { exact[identifier] != nil }

    /// The indices of a plugin's handlers.
    func handlers(ofPlugin plugin: Int) -> [Int] { handlersOfPlugin[plugin] ?? [] }

    /// The plugin of a task.
    package func plugin(ofTask task: Int) -> Plugin { plugins[pluginOfTask[task]] }

    /// The quota in which a task's requests are counted: one per plugin and kind.
    func quotaIndex(of task: Int) -> Int {
        Self.quotaIndex(plugin: pluginOfTask[task], tasks[task].kind)
    }

    static func quotaIndex(plugin: Int, _ kind: TaskKind) -> Int {
        let place =
            switch kind {
            case .refresh: 0
            case .processing: 1
            case .urlSession: 2
            case .notificationAction: 3
            }
        return plugin * 4 + place
    }

    /// All requirements that tasks and sessions may have; the daemon watches their facts.
    package var requirements: RequirementSet {
        let ofSessions = hasSessions ? SessionDefinition.watched : []
        return currentTasks.reduce(into: ofSessions) { all, index in
            let task = tasks[index]
            all.formUnion(task.requirements)
            all.formUnion(powerPolicy.requirement(of: task.kind))
            // Apple's processing requests can have these requirements.
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
