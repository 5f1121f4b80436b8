// SPDX-License-Identifier: Apache-2.0

/// What a plugin or function was made from.
enum PluginSource: Equatable, Sendable {
    case plugin(PluginDefinition)
    case function(FunctionDefinition)

    /// Without where it stands in its file: a line that was put in above it changes nothing.
    init(_ definition: PluginDefinition) {
        var definition = definition
        definition.origin = SourceLocation()
        self = .plugin(definition)
    }

    init(_ definition: FunctionDefinition) {
        var definition = definition
        definition.origin = SourceLocation()
        self = .function(definition)
    }

    var name: String {
        switch self {
        case .plugin(let definition): definition.name
        case .function(let definition): definition.name
        }
    }

    /// What the catalog keeps of it.
    var plugin: TaskCatalog.Plugin {
        switch self {
        case .plugin(let definition):
            TaskCatalog.Plugin(
                name: definition.name,
                isFunction: false,
                isInDaemon: definition.isolation == .inProcess,
                maxPending: definition.maxPending,
                runtimePerDay: definition.runtimePerDay
            )
        case .function(let definition):
            TaskCatalog.Plugin(
                name: definition.name,
                isFunction: true,
                isInDaemon: false,
                maxPending: nil,
                runtimePerDay: RuntimePerDay()
            )
        }
    }
}

/// What another manifest has changed in a catalog.
package struct CatalogChange: Equatable, Sendable {
    /// The indices of tasks that were not there in this form.
    package internal(set) var newTasks: [Int] = []
    /// Their forms of before, by their index; those that are quite new have none.
    package internal(set) var formerTasks: [Int: Int] = [:]
    /// The identifiers that are permitted no more, as the manifest wrote them.
    package internal(set) var removedTasks: [String] = []
    /// The indices of plugins and functions that were not there in this form.
    package internal(set) var newPlugins: [Int] = []
    /// The indices of those that begin no run any more, changed or removed.
    package internal(set) var retiredPlugins: [Int] = []
    /// The names of those that are there no more.
    package internal(set) var removedPlugins: [String] = []
    /// Whether other identifiers are permitted than before.
    package internal(set) var permitsOthers = false

    package init() {}
}

extension TaskCatalog {
    /// Takes over what a manifest says; what it does not change keeps its index.
    ///
    /// - Parameters:
    ///   - replaced: plugins that are to be new ones although their section is what it was, because
    ///     their file is another.
    ///   - probes: by the bit of a probe, what it is from now on; `nil` if nothing has changed.
    @discardableResult
    package mutating func take(
        _ manifest: Manifest,
        replacing replaced: Set<String> = [],
        probes: [RequirementSet]? = nil
    ) -> CatalogChange {
        var change = CatalogChange()
        if let probes { renumber(probes) }
        takePlugins(manifest, replaced, &change)
        takeTasks(manifest, &change)
        hasSessions = !manifest.sessions.isEmpty
        return change
    }

    private mutating func takePlugins(
        _ manifest: Manifest,
        _ replaced: Set<String>,
        _ change: inout CatalogChange
    ) {
        let before = currentPlugins
        currentPlugins = [:]
        let wanted =
            manifest.plugins.map { PluginSource($0) } + manifest.functions.map { PluginSource($0) }
        for source in wanted {
            if let known = before[source.name], sources[known] == source,
                !replaced.contains(source.name)
            {
                currentPlugins[source.name] = known
                continue
            }
            change.newPlugins.append(plugins.count)
            currentPlugins[source.name] = plugins.count
            plugins.append(source.plugin)
            sources.append(source)
            isRetired.append(false)
        }
        for (name, index) in before.sorted(by: { $0.value < $1.value })
        where currentPlugins[name] != index {
            change.retiredPlugins.append(index)
            isRetired[index] = true
            if currentPlugins[name] == nil { change.removedPlugins.append(name) }
        }
    }

    private mutating func takeTasks(_ manifest: Manifest, _ change: inout CatalogChange) {
        var before: [IdentifierPattern: Int] = [:]
        for index in currentTasks { before[tasks[index].identifier] = index }
        var permitted: [Int] = []
        for definition in manifest.allTasks {
            // The manifest's reader has refused a task without its plugin.
            guard let plugin = currentPlugins[definition.handler.plugin] else { continue }
            let former = before.removeValue(forKey: definition.identifier)
            if let former, pluginOfTask[former] == plugin, definition.says(tasks[former]) {
                permitted.append(former)
                continue
            }
            let index = add(definition, plugin: plugin)
            permitted.append(index)
            change.newTasks.append(index)
            if let former {
                change.formerTasks[index] = former
            } else {
                change.permitsOthers = true
            }
        }
        change.removedTasks = before.sorted { $0.value < $1.value }.map(\.key.description)
        if !before.isEmpty { change.permitsOthers = true }
        permit(permitted)
    }

    /// Has all tasks mean the same probes as before, now that they have other bits: those under whose
    /// terms a run is under way are among them.
    ///
    /// What a probe was that nobody has any more is required no more.
    private mutating func renumber(_ probes: [RequirementSet]) {
        for index in tasks.indices {
            let required = tasks[index].requirements
            guard !required.isDisjoint(with: .anyProbe) else { continue }
            let loss = tasks[index].loss
            tasks[index].requirements = required.renumbered(probes)
            for (bit, now) in probes.enumerated() where required.contains(.probe(bit)) {
                tasks[index].loss[now] = loss[.probe(bit)]
            }
        }
    }

    /// The plugin that begins the runs of one that may have been changed since; `nil` if the manifest
    /// has none of its name.
    package func current(plugin: Int) -> Int? {
        isRetired[plugin] ? currentPlugins[plugins[plugin].name] : plugin
    }
}

extension TaskDefinition {
    /// Whether it says the same as another one, wherever that stands.
    fileprivate func says(_ other: TaskDefinition) -> Bool {
        var own = self
        own.origin = other.origin
        return own == other
    }
}

extension RequirementSet {
    /// The same with other bits for the probes.
    func renumbered(_ probes: [RequirementSet]) -> RequirementSet {
        var renumbered = subtracting(.anyProbe)
        for (bit, now) in probes.enumerated() where contains(.probe(bit)) {
            renumbered.formUnion(now)
        }
        return renumbered
    }
}
