// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostFacts
internal import BghostModel

/// The conditions for a run other than the request's dates, its task's other runs and the slots.
struct RunGates: Sendable {
    /// The state of a plugin.
    struct Plugin: Sendable {
        /// Why the operator has disabled it, "" without a reason; `nil` if it is enabled.
        var disabledReason: String?
        /// Why it cannot be used; `nil` if it can be used.
        var problem: String?
        /// Whether a request waits for it.
        var hasBlockedRequests = false
        /// The names of its serial handlers; `nil` until it has been loaded.
        var serial: [String]?
        /// The history of disabling and enabling it.
        var switches = GateHistory()
        /// The history of its problems.
        var problems = GateHistory()
    }

    /// The state of a handler.
    struct Handler: Sendable {
        /// Whether its runs exclude one another; `nil` until its plugin has been loaded.
        var isSerial: Bool?
        /// The number of its runs in progress, also of those that its plugin's earlier versions have begun.
        var running = 0
        /// Whether these runs are all of an earlier version of its plugin, under which they did not exclude
        /// one another.
        var hasSharedRuns = false

        /// Follows another version of its plugin.
        mutating func redefine(isSerial serial: Bool?) {
            hasSharedRuns = running > 0 && (isSerial == false || hasSharedRuns)
            isSerial = serial
        }

        mutating func begin() {
            running += 1
            hasSharedRuns = false
        }
    }

    private(set) var catalog: TaskCatalog
    var plugins: [Plugin]
    var handlers: [Handler]
    /// The facts of the machine; `nil` if they are not watched, and then all are unknown.
    var facts: FactSheet?
    var budgets: RuntimeBudgets
    /// The operators' pauses, also of tasks and plugins that the manifest does not have now.
    var pauses = PauseTable()
    /// The doubt about the wall clock; `nil` if the clock is trusted.
    var clock: DoubtedClock?
    /// The starts that one host of the fleet serves.
    var fleet = FleetGate()
    /// The partitions of the fleet that this host owns.
    var partitions = PartitionTable()
    /// Pending requests whose replacement is being stored.
    ///
    /// They must not start: the store would already have them as replaced, and would reject their
    /// outcome.
    var beingReplaced: Set<RunID> = []
    /// The reasons for disabled plugins that are not in the manifest, in case they come back.
    var disabledElsewhere: [String: String] = [:]
    /// Plugins with a problem for which a request waits; they are to be inspected again.
    var inspections: [Int] = []

    init(_ catalog: TaskCatalog) {
        self.catalog = catalog
        budgets = RuntimeBudgets(catalog)
        plugins = catalog.plugins.map { _ in Plugin() }
        // A function has one worker per run, so its runs share nothing.
        handlers = catalog.handlers.map {
            Handler(isSerial: catalog.plugins[$0.plugin].isFunction ? false : nil)
        }
    }

    /// Adopts the changes of another manifest.
    ///
    /// A disabled plugin stays disabled when its definition changes, and when it returns after an
    /// absence.
    mutating func adopt(_ changed: TaskCatalog, _ change: CatalogChange) {
        catalog = changed
        budgets.adopt(changed)
        var retired: [String: Int] = [:]
        for index in change.retiredPlugins { retired[changed.plugins[index].name] = index }
        while plugins.count < changed.plugins.count { plugins.append(Plugin()) }
        for index in change.newPlugins {
            let name = changed.plugins[index].name
            var plugin = Plugin()
            if let former = retired[name] {
                plugin.disabledReason = plugins[former].disabledReason
                plugin.switches = plugins[former].switches
            } else {
                plugin.disabledReason = disabledElsewhere.removeValue(forKey: name)
            }
            plugins[index] = plugin
        }
        for index in change.retiredPlugins where changed.current(plugin: index) == nil {
            disabledElsewhere[changed.plugins[index].name] = plugins[index].disabledReason
        }
        while handlers.count < changed.handlers.count { handlers.append(Handler()) }
        for index in change.newHandlers {
            let handler = changed.handlers[index]
            // Its plugin may have been loaded before a task named this handler.
            let serial = plugins[handler.plugin].serial
            let isFunction = changed.plugins[handler.plugin].isFunction
            handlers[index].redefine(
                isSerial: isFunction ? false : serial.map { $0.contains(handler.name) }
            )
        }
    }

    /// Adopts a catalog in which only unused definitions have changed.
    mutating func follow(_ changed: TaskCatalog) { catalog = changed }

    /// Whether a request may start a run now.
    ///
    /// If not, this records which requests to check again after the blocking condition changes.
    mutating func mayStart(_ request: Request, task: Int) -> Bool {
        let plugin = catalog.pluginOfTask[task]
        guard isEnabled(plugin) else {
            plugins[plugin].hasBlockedRequests = true
            return false
        }
        guard isUsable(plugin) else {
            plugins[plugin].hasBlockedRequests = true
            inspections.append(plugin)
            return false
        }
        // The index does not select requests of a handler that is not free.
        guard isFree(catalog.handlerOfTask[task]) else { return false }
        // `refillBudgets` and `factsChanged` check the request again.
        guard
            request.isManual
                || restrictions(plugin: plugin, catalog.tasks[task].kind).isEmpty
        else { return false }
        return !isBeingReplaced(request) && !waitsForClock(request, task: task)
            && (request.isManual || unmet(request, task: task).isEmpty)
            && mayStartPlaced(request, task: task)
            // Last, so that a host claims only what it can start.
            && mayServe(request, task: task)
    }

    // MARK: One check each, for decisions and their explanation

    func isEnabled(_ plugin: Int) -> Bool { plugins[plugin].disabledReason == nil }

    func isUsable(_ plugin: Int) -> Bool { plugins[plugin].problem == nil }

    /// Whether a run of a handler may start in addition to those in progress.
    func isFree(_ handler: Int) -> Bool {
        let handler = handlers[handler]
        // Until the plugin is loaded this is unknown, so its first run has no others beside it.
        let isSerial = handler.isSerial ?? !handler.hasSharedRuns
        return handler.running == 0 || !isSerial
    }

    /// The restrictions on runs of a plugin and kind; they also determine the refresh status.
    func restrictions(plugin: Int, _ kind: TaskKind) -> RefreshStatus.Restrictions {
        var restrictions: RefreshStatus.Restrictions = []
        if budgets.spentUntil(TaskCatalog.quotaIndex(plugin: plugin, kind)) != nil {
            restrictions.insert(.budget)
        }
        if !isPowerSufficient(for: kind) { restrictions.insert(.lowBattery) }
        return restrictions
    }

    /// Whether the manifest's `powerPolicy` permits runs of a kind; an unknown charge is
    /// sufficient.
    func isPowerSufficient(for kind: TaskKind) -> Bool {
        let requirement = catalog.powerPolicy.requirement(of: kind)
        return requirement.isEmpty || facts?[requirement].value != .fails
    }

    func isBeingReplaced(_ request: Request) -> Bool { beingReplaced.contains(request.id) }

    /// All requirements of a request, including those of its task.
    func required(by request: Request, task: Int) -> RequirementSet {
        request.requirements.union(catalog.tasks[task].requirements)
    }

    /// All facts that may delay the requests of a task, besides their own requirements.
    func watched(byTask task: Int) -> RequirementSet {
        catalog.tasks[task].requirements
            .union(catalog.powerPolicy.requirement(of: catalog.tasks[task].kind))
    }

    /// The requirements of a request that are not met now.
    func unmet(_ request: Request, task: Int) -> [UnmetRequirement] {
        unmet(required(by: request, task: task))
    }

    func unmet(_ required: RequirementSet) -> [UnmetRequirement] {
        guard !required.isEmpty else { return [] }
        return (facts ?? FactSheet(probes: [])).unmet(required)
    }

    /// A sentence that a plugin is disabled, and why; `nil` if it is enabled.
    func disabledReason(_ plugin: Int) -> String? {
        guard let reason = plugins[plugin].disabledReason else { return nil }
        let name = catalog.plugins[plugin].name
        return "`\(name)` is switched off" + (reason.isEmpty ? "" : " (\(reason))")
            + "; `bghost enable \(name)` switches it on"
    }
}
