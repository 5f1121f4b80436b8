// SPDX-License-Identifier: Apache-2.0

/// The indices of definitions that nothing needs, the lowest last.
struct UnusedDefinitions: Sendable {
    var tasks: [Int] = []
    var plugins: [Int] = []
    var handlers: [Int] = []
}

extension TaskCatalog {
    /// Frees the indices of retired definitions that nothing needs, for later manifests.
    ///
    /// So the tables hold the current definitions and those in use, and not all that ever were. It costs
    /// O(definitions).
    ///
    /// - Parameters:
    ///   - tasks: the tasks of runs in progress and of identifiers.
    ///   - plugins: the plugins that still have an executor.
    mutating func release(tasksInUse tasks: Set<Int>, pluginsInUse plugins: Set<Int>) {
        let usedTasks = Set(currentTasks).union(tasks)
        let usedHandlers = Set(usedTasks.map { handlerOfTask[$0] })
        let usedPlugins = Set(currentPlugins.values).union(plugins)
            .union(usedTasks.map { pluginOfTask[$0] })
            // Runs of a former plugin have the handlers of the one that replaced it.
            .union(usedHandlers.map { handlers[$0].plugin })
        unused.tasks = self.tasks.indices.reversed().filter { !usedTasks.contains($0) }
        unused.plugins = self.plugins.indices.reversed().filter { !usedPlugins.contains($0) }
        unused.handlers = handlers.indices.reversed().filter { !usedHandlers.contains($0) }
        handlerIndices = handlerIndices.filter { usedHandlers.contains($0.value) }
        handlersOfPlugin = [:]
        for handler in usedHandlers.sorted() {
            handlersOfPlugin[handlers[handler].plugin, default: []].append(handler)
        }
    }
}
