// SPDX-License-Identifier: Apache-2.0

package import BghostFacts
package import BghostModel

/// The contents of a manifest, prepared for lookups: tasks, their plugins, and the plugins'
/// handlers.
///
/// An index identifies the same task, plugin or handler as long as something needs it. A new manifest adds
/// entries and retires others (`TaskCatalog+Reload.swift`), so a run in progress keeps the definition with
/// which it started. Retired entries that nothing needs any longer are given to new ones
/// (`TaskCatalog+Release.swift`).
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
        /// The index of its plugin; that of the last one, if the plugin has been replaced.
        let plugin: Int
        /// "" for a function.
        let name: String
    }

    /// In no order; retired tasks are not in `currentTasks`.
    package internal(set) var tasks: [TaskDefinition] = []
    /// Plugins and functions, in no order.
    package internal(set) var plugins: [Plugin] = []
    private(set) var handlers: [Handler] = []
    var handlerIndices: [Handler: Int] = [:]
    /// The indices of the handlers of each plugin.
    var handlersOfPlugin: [Int: [Int]] = [:]
    /// The indices that the next definitions get.
    var unused = UnusedDefinitions()
    /// The index of each task's plugin.
    package private(set) var pluginOfTask: [Int] = []
    /// The index of each task's handler.
    private(set) var handlerOfTask: [Int] = []
    /// The definition of each plugin, to detect whether another manifest changes it.
    var sources: [PluginSource] = []
    /// Whether each task is permitted now.
    private(set) var isCurrent: [Bool] = []
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
    /// The families by their patterns without the trailing `*`, such as `com.example.`.
    private var families: [Substring: Int] = [:]

    init(_ manifest: Manifest) { adopt(manifest) }

    // MARK: Changes by other manifests

    /// Adds a task.
    ///
    /// - Returns: its index.
    mutating func add(_ task: TaskDefinition, plugin: Int, _ change: inout CatalogChange) -> Int {
        let handler = place(of: Handler(plugin: plugin, name: task.handler.handler), &change)
        guard let index = unused.tasks.popLast() else {
            tasks.append(task)
            pluginOfTask.append(plugin)
            handlerOfTask.append(handler)
            return tasks.count - 1
        }
        tasks[index] = task
        pluginOfTask[index] = plugin
        handlerOfTask[index] = handler
        return index
    }

    /// Adds a plugin.
    ///
    /// - Returns: its index.
    mutating func add(_ source: PluginSource) -> Int {
        guard let index = unused.plugins.popLast() else {
            plugins.append(source.plugin)
            sources.append(source)
            isRetired.append(false)
            return plugins.count - 1
        }
        plugins[index] = source.plugin
        sources[index] = source
        isRetired[index] = false
        return index
    }

    /// Permits these tasks, and no others.
    mutating func permit(_ permitted: [Int]) {
        currentTasks = permitted
        isCurrent = [Bool](repeating: false, count: tasks.count)
        for index in permitted { isCurrent[index] = true }
        exact = [:]
        families = [:]
        for index in permitted {
            let identifier = tasks[index].identifier
            if identifier.isFamily {
                families[identifier.description.dropLast()] = index
            } else {
                exact[identifier.description] = index
            }
        }
    }

    /// The index of a handler.
    ///
    /// A handler keeps its index when its plugin is replaced, so that the runs in progress count beside those
    /// of the new plugin.
    private mutating func place(of handler: Handler, _ change: inout CatalogChange) -> Int {
        if let known = handlerIndices[handler] { return known }
        let index = takeRetired(handler) ?? unused.handlers.popLast() ?? handlers.count
        if index == handlers.count {
            handlers.append(handler)
        } else {
            handlers[index] = handler
        }
        handlerIndices[handler] = index
        handlersOfPlugin[handler.plugin, default: []].append(index)
        change.newHandlers.append(index)
        return index
    }

    /// The task for an identifier: the one with that name, otherwise the longest matching family.
    ///
    /// It costs one lookup for each dot of the identifier, however many families there are.
    package func task(for identifier: String) -> Int? {
        if let task = exact[identifier] { return task }
        guard !families.isEmpty else { return nil }
        return Self.stems(of: identifier).lazy.compactMap { families[$0] }.first
            .flatMap { tasks[$0].identifier.matches(identifier) ? $0 : nil }
    }

    /// The beginnings of an identifier that may be families, the longest first.
    static func stems(of identifier: String) -> some Sequence<Substring> {
        // No identifier is longer, and a client may send any text.
        let isTooLong = identifier.utf8.count > IdentifierPattern.bytesMax
        let dots =
            isTooLong
            ? [] : identifier.utf8.indices.filter { identifier.utf8[$0] == UInt8(ascii: ".") }
        return dots.reversed().lazy.map { identifier[...$0] }
    }

    /// Whether this is the pattern of a family, such as `com.example.*`.
    func isFamily(_ pattern: String) -> Bool { family(pattern) != nil }

    /// The task of the family with this pattern; `nil` if there is none.
    func family(_ pattern: String) -> Int? {
        pattern.hasSuffix(".*") ? families[pattern.dropLast()] : nil
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
