// SPDX-License-Identifier: Apache-2.0

internal import BghostFacts
internal import BghostModel
internal import BghostNotify

/// The definition that a plugin or function was created from.
enum PluginSource: Equatable, Sendable {
    case plugin(PluginDefinition)
    case function(FunctionDefinition)

    /// Omits the position in the file: a line inserted above the definition does not change it.
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

    /// The catalog's entry for it.
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

/// The changes that another manifest made to a catalog.
package struct CatalogChange: Equatable, Sendable {
    /// The indices of new and changed tasks.
    package internal(set) var newTasks: [Int] = []
    /// The previous indices of changed tasks, by their new index; new tasks have none.
    package internal(set) var formerTasks: [Int: Int] = [:]
    /// The identifiers and patterns that are no longer permitted, as written in the manifest.
    package internal(set) var removedTasks: [String] = []
    /// The indices of new and changed plugins and functions.
    package internal(set) var newPlugins: [Int] = []
    /// The indices of changed and removed plugins, which start no more runs.
    package internal(set) var retiredPlugins: [Int] = []
    /// The names of removed plugins.
    package internal(set) var removedPlugins: [String] = []
    /// The indices of all plugins that nothing needs; a later manifest gives them to others.
    package internal(set) var unusedPlugins: [Int] = []
    /// The indices of new handlers, and of those whose plugin was replaced.
    var newHandlers: [Int] = []
    /// Whether the set of permitted identifiers has changed.
    var changesIdentifiers = false

    init() {}
}

extension TaskCatalog {
    /// Adopts a manifest; unchanged definitions keep their index.
    ///
    /// - Parameters:
    ///   - replaced: plugins to treat as new although their definition is unchanged, because their
    ///     file has changed.
    ///   - probes: the new requirement of each probe, by its old bit; `nil` if nothing has changed.
    @discardableResult
    mutating func adopt(
        _ manifest: Manifest,
        replacing replaced: Set<String> = [],
        probes: [RequirementSet]? = nil
    ) -> CatalogChange {
        var change = CatalogChange()
        if let probes { renumber(probes) }
        adoptPlugins(manifest, replaced, &change)
        adoptTasks(manifest, &change)
        hasSessions = !manifest.sessions.isEmpty
        powerPolicy = manifest.host.powerPolicy
        return change
    }

    private mutating func adoptPlugins(
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
            let index = add(source)
            change.newPlugins.append(index)
            currentPlugins[source.name] = index
        }
        for (name, index) in before.sorted(by: { $0.value < $1.value })
        where currentPlugins[name] != index {
            change.retiredPlugins.append(index)
            isRetired[index] = true
            if currentPlugins[name] == nil { change.removedPlugins.append(name) }
        }
    }

    private mutating func adoptTasks(_ manifest: Manifest, _ change: inout CatalogChange) {
        var before: [IdentifierPattern: Int] = [:]
        for index in currentTasks { before[tasks[index].identifier] = index }
        var permitted: [Int] = []
        for definition in manifest.allTasks {
            // The manifest reader has rejected a task without its plugin.
            guard let plugin = currentPlugins[definition.handler.plugin] else { continue }
            let former = before.removeValue(forKey: definition.identifier)
            if let former, pluginOfTask[former] == plugin,
                definition.equalsIgnoringOrigin(tasks[former])
            {
                permitted.append(former)
                continue
            }
            let index = add(definition, plugin: plugin, &change)
            permitted.append(index)
            change.newTasks.append(index)
            if let former {
                change.formerTasks[index] = former
            } else {
                change.changesIdentifiers = true
            }
        }
        let order = currentTasks.map { tasks[$0].identifier }
        change.removedTasks = order.filter { before[$0] != nil }.map(\.description)
        if !before.isEmpty { change.changesIdentifiers = true }
        permit(permitted)
    }

    /// Renumbers the probes of all tasks, since their bits have changed.
    ///
    /// This includes former tasks, because runs in progress may still use their definitions. The requirement
    /// of a removed probe is dropped.
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

    /// Takes the index of a handler from a retired plugin of the same name; `nil` if it has none.
    mutating func takeRetired(_ handler: Handler) -> Int? {
        let name = plugins[handler.plugin].name
        for plugin in plugins.indices where isRetired[plugin] && plugins[plugin].name == name {
            let former = Handler(plugin: plugin, name: handler.name)
            guard let index = handlerIndices.removeValue(forKey: former) else { continue }
            handlersOfPlugin[plugin]?.removeAll { $0 == index }
            return index
        }
        return nil
    }

    /// The plugin that now starts the runs of a possibly changed plugin; `nil` if the manifest has
    /// no plugin with its name.
    func current(plugin: Int) -> Int? {
        isRetired[plugin] ? currentPlugins[plugins[plugin].name] : plugin
    }
}

extension TaskDefinition {
    /// Whether both definitions are equal, apart from their position in the file.
    fileprivate func equalsIgnoringOrigin(_ other: TaskDefinition) -> Bool {
        var own = self
        own.origin = other.origin
        return own == other
    }
}

extension RequirementSet {
    /// The same requirements with new bits for the probes.
    func renumbered(_ probes: [RequirementSet]) -> RequirementSet {
        var renumbered = subtracting(.anyProbe)
        for (bit, now) in probes.enumerated() where contains(.probe(bit)) {
            renumbered.formUnion(now)
        }
        return renumbered
    }
}
