// SPDX-License-Identifier: Apache-2.0

/// What may keep a request from its run besides its dates, its task's other runs and the slots.
struct RunGates: Sendable {
    /// What is known of a plugin.
    struct Plugin: Sendable {
        /// Why its operator has switched it off, "" for no reason; `nil` if it is on.
        var switchedOff: String?
        /// Why it cannot be used; `nil` if it can.
        var problem: String?
        /// Whether a request waits for it.
        var hasTurnedAway = false
        /// When it was switched off and on.
        var switches = GateHistory()
        /// When it came to have a problem, and none.
        var problems = GateHistory()
    }

    /// What is known of a handler.
    struct Handler: Sendable {
        /// Whether its runs exclude one another; `nil` as long as its plugin has not been loaded.
        var isSerial: Bool?
        var running = 0
        /// Whether a request waits for it.
        var hasTurnedAway = false
    }

    private(set) var catalog: TaskCatalog
    var plugins: [Plugin]
    var handlers: [Handler]
    /// What the machine offers; `nil` if nobody watches it, and then all is unknown.
    var facts: FactSheet?
    var budgets: RuntimeBudgets
    /// The wall clock, as long as it is not believed.
    var clock: DoubtedClock?
    /// Pending requests whose successor is on its way to the store.
    ///
    /// They must not begin: the store has them as replaced by then, and would not take their outcome.
    var beingReplaced: Set<RunID> = []
    /// Why plugins are switched off that the manifest does not have, should they come back.
    var switchedOffElsewhere: [String: String] = [:]
    /// Plugins with a problem that some request waits for, to be looked at again.
    var inspections: [Int] = []

    init(_ catalog: TaskCatalog) {
        self.catalog = catalog
        budgets = RuntimeBudgets(catalog)
        plugins = catalog.plugins.map { _ in Plugin() }
        // A function has a worker for each run, so nothing is shared.
        handlers = catalog.handlers.map {
            Handler(isSerial: catalog.plugins[$0.plugin].isFunction ? false : nil)
        }
    }

    /// Takes over what another manifest has changed.
    ///
    /// A plugin that is switched off stays so in its new form, also after an absence.
    mutating func take(_ changed: TaskCatalog, _ change: CatalogChange) {
        catalog = changed
        budgets.take(changed)
        for index in plugins.count..<changed.plugins.count {
            let name = changed.plugins[index].name
            var plugin = Plugin()
            let former = change.retiredPlugins.first { changed.plugins[$0].name == name }
            if let former {
                plugin.switchedOff = plugins[former].switchedOff
                plugin.switches = plugins[former].switches
            } else {
                plugin.switchedOff = switchedOffElsewhere.removeValue(forKey: name)
            }
            plugins.append(plugin)
        }
        for index in change.retiredPlugins where changed.current(plugin: index) == nil {
            switchedOffElsewhere[changed.plugins[index].name] = plugins[index].switchedOff
        }
        for handler in changed.handlers[handlers.count...] {
            let isFunction = changed.plugins[handler.plugin].isFunction
            handlers.append(Handler(isSerial: isFunction ? false : nil))
        }
    }

    /// Whether a run of a request can begin now.
    ///
    /// If not, it is noted who is to come up again once what stands in the way has changed.
    mutating func lets(_ request: Request, task: Int) -> Bool {
        let plugin = catalog.pluginOfTask[task]
        guard isSwitchedOn(plugin) else {
            plugins[plugin].hasTurnedAway = true
            return false
        }
        guard isUsable(plugin) else {
            plugins[plugin].hasTurnedAway = true
            inspections.append(plugin)
            return false
        }
        let handler = catalog.handlerOfTask[task]
        guard isFree(handler) else {
            handlers[handler].hasTurnedAway = true
            return false
        }
        // `refill` brings it up again.
        guard request.isSimulated || budgets.spentUntil(catalog.quota(of: task)) == nil else {
            return false
        }
        return !isBeingReplaced(request) && !waitsForClock(request, task: task)
            && (request.isSimulated || unmet(request, task: task).isEmpty)
    }

    // MARK: One look each, for the decision and for its explanation

    func isSwitchedOn(_ plugin: Int) -> Bool { plugins[plugin].switchedOff == nil }

    func isUsable(_ plugin: Int) -> Bool { plugins[plugin].problem == nil }

    /// Whether a run of a handler may begin beside those that are under way.
    func isFree(_ handler: Int) -> Bool {
        // Before its plugin is loaded nobody knows, so its first run goes alone.
        handlers[handler].running == 0 || handlers[handler].isSerial == false
    }

    func isBeingReplaced(_ request: Request) -> Bool { beingReplaced.contains(request.id) }

    /// All that a request requires of the machine.
    func required(by request: Request, task: Int) -> RequirementSet {
        request.requirements.union(catalog.tasks[task].requirements)
    }

    /// What a request requires and the machine does not offer now.
    func unmet(_ request: Request, task: Int) -> [UnmetRequirement] {
        unmet(required(by: request, task: task))
    }

    func unmet(_ required: RequirementSet) -> [UnmetRequirement] {
        guard !required.isEmpty else { return [] }
        return (facts ?? FactSheet(probes: [])).unmet(required)
    }

    /// That a plugin is switched off, and why, in a sentence; `nil` if it is on.
    func switchedOff(_ plugin: Int) -> String? {
        guard let reason = plugins[plugin].switchedOff else { return nil }
        let name = catalog.plugins[plugin].name
        return "`\(name)` is switched off" + (reason.isEmpty ? "" : " (\(reason))")
            + "; `bghost enable \(name)` switches it on"
    }
}
