// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostConfiguration
internal import BghostDispatch
internal import BghostInspection
internal import BghostModel
internal import BghostPolicy
internal import BghostSandbox
internal import BghostServices
internal import BghostWire

/// Plugins and tasks of the manifest.
extension PluginRegistry {
    /// Defines the plugins of the first manifest and inspects their files.
    nonisolated(nonsending) func definePlugins() async {
        watchLibraries()
        for definition in manifest.value.plugins { add(.plugin(definition)) }
        for definition in manifest.value.functions { add(.function(definition)) }
        for plugin in plugins.all { adopt(await findings(of: plugin), for: plugin) }
        for plugin in plugins.all { reportProblem(of: plugin) }
    }

    /// Adds a plugin without inspecting its files.
    ///
    /// - Parameter index: as for ``PluginTable/add(_:at:)``.
    func add(_ code: PluginCode, at index: Int? = nil) {
        let slot = plugins.add(code, at: index)
        crashes.versionReplaced(slot.name)
        warnAboutDescriptorLimit(of: slot)
    }

    /// Adopts the findings of an inspection.
    func adopt(_ found: PluginFindings, for plugin: PluginSlot) {
        plugin.dataDirectory = found.dataDirectory
        plugin.path = found.path
        plugin.files = found.files
        plugin.held = found.held
        plugin.libraries = found.libraries
        plugin.isWatched = found.isWatched
        pool.forgetSandbox(of: plugin)
        plugin.change = nil
        plugin.refused = nil
        plugin.candidate = nil
        if !found.isWatched { scheduleCheck(at: plugin) }
        if let problem = found.problem {
            setProblem(plugin, problem.message, files: problem.isAboutPlace ? nil : found.files)
            return
        }
        guard mayHoldQuota(of: plugin) else { return }
        plugin.problem = nil
        adoptSchemas(found, for: plugin)
        // Compute the sandbox now; at the first worker's start it would delay the deadlines of other runs.
        if plugin.isolation == .worker { _ = pool.sandboxSpec(of: plugin) }
    }

    /// Takes the schemas of a trial load, or has a temporary worker read them.
    private func adoptSchemas(_ found: PluginFindings, for plugin: PluginSlot) {
        guard case .plugin(let definition) = plugin.code, found.checksParameters else {
            return parameters.forget(plugin.name)
        }
        if let known = found.schemas { return parameters.set(known, for: plugin.name) }
        let (reading, probe) = (parameters.beginReading(plugin.name), probe(manifest.value))
        reference.performAsync { registry in
            let result = await probe.schemas(of: definition, found)
            for problem in registry.parameters.finishReading(reading, definition.name, result) {
                registry.log.write(.warning, "plugin.unchecked", problem, plugin: definition.name)
            }
        }
    }

    static let unheld =
        "its limits.cpuQuota cannot be held: bghost has no cpu controller of cgroup v2 to hand on"
        + " (in a unit: Delegate=yes); `bghost doctor` says what there is"

    /// Whether the limits contain a CPU quota that cannot be enforced here.
    func isUnheld(_ limits: WorkerLimits, _ isolation: Isolation) -> Bool {
        limits.cpuQuota != nil && isolation == .worker && !pool.holdsQuotas
    }

    /// Whether a plugin may run; one with an unenforceable quota may run in development mode only.
    private func mayHoldQuota(of plugin: PluginSlot) -> Bool {
        guard isUnheld(plugin.limits, plugin.isolation) else { return true }
        guard configuration.allowsUntrustedFiles else {
            setProblem(plugin, Self.unheld, files: plugin.files)
            return false
        }
        log.write(.warning, "plugin.unlimited", Self.unheld, plugin: plugin.name)
        return true
    }

    private func setProblem(_ plugin: PluginSlot, _ message: String, files: FileSnapshot?) {
        if plugin.problem?.message != message {
            log.write(.error, "plugin.unusable", message, plugin: plugin.name)
        }
        plugin.problem = PluginProblem(message: message, files: files)
    }

    /// Handles a failed load.
    ///
    /// The plugin is paused, longer each time, and quarantined after a few failures.
    func loadFailed(_ plugin: PluginSlot, _ message: String) {
        log.write(.error, "plugin.load_failed", message, plugin: plugin.name)
        // A worker may have loaded refused files, which say nothing about the adopted ones.
        guard plugin.isRetired || !holdBack(plugin) else { return }
        // A replaced version is not loaded again, and its failures say nothing about the new one.
        let verdict =
            plugin.isRetired
            ? .pause(until: .never) : crashes.loadFailed(plugin.name, message, now: now)
        switch verdict {
        case .counted: return
        case .quarantine(let reason): return quarantine(plugin, reason)
        case .pause(let end):
            plugin.problem = PluginProblem(message: message, files: plugin.files, retryAt: end)
            plugin.problem?.isLoadFailure =
                plugin.isolation == .worker && plugin.held == nil && !plugin.isFunction
            if end < .never { deadlines.arm(.plugin(plugin.index), at: end) }
            reportProblem(of: plugin)
        }
    }

    /// Notifies the scheduler whether runs of a plugin can start.
    func reportProblem(of plugin: PluginSlot) {
        // Its index may be that of another plugin.
        guard !plugin.isReleased else { return }
        dispatcher.decide { scheduler, now, effects in
            scheduler.plugin(
                plugin.index,
                hasProblem: plugin.problem?.message,
                now: now,
                &effects
            )
        }
        if plugin.problem != nil { scheduleCheck(at: plugin) }
        tellAlerts(of: plugin)
    }

    /// Tells the alerts whether a plugin can be used; a pause ends by itself.
    func tellAlerts(of plugin: PluginSlot) {
        guard !plugin.isRetired else { return }
        let problem = plugin.problem.flatMap { $0.isPause ? nil : $0.message }
        alerts.monitor.pluginChanged(plugin.name, problem: problem)
    }

    /// Switches a plugin off or on in the scheduler, without storing it.
    func switchOff(_ plugin: PluginSlot, _ reason: String?) {
        dispatcher.decide { scheduler, now, effects in
            scheduler.set(plugin: plugin.index, disabledReason: reason, now: now, &effects)
        }
    }

    /// Pauses a plugin because of a shortage; the pause doubles each time, up to a maximum.
    func pauseForShortage(_ plugin: PluginSlot, _ message: String) {
        let shift = UInt64(min(plugin.shortages, HostLimits.shortageDoublingsMax))
        plugin.shortages += 1
        pause(plugin, message, until: now + timeouts.loadBackoff << shift)
    }

    /// The machine has the resources again that a worker of the plugin needs.
    func shortageEnded(_ plugin: PluginSlot) { plugin.shortages = 0 }

    /// Makes a plugin in the daemon unusable because a run of it did not stop.
    func abandoned(_ plugin: PluginSlot) {
        let message =
            "a run of `\(plugin.name)` inside the daemon did not stop and was abandoned; restart"
            + " bghost to use it again, or set `\"isolation\": \"worker\"`"
        plugin.problem = PluginProblem(message: message, files: plugin.files)
        log.write(.error, "plugin.abandoned", message, plugin: plugin.name)
        reportProblem(of: plugin)
    }

    /// Handles the timer of a plugin, for a retry or for a check of its files.
    func pluginDue(_ plugin: PluginSlot) {
        if plugin.checkAt <= now {
            plugin.checkAt = .never
            checkFiles(of: plugin)
        }
        if let problem = plugin.problem, problem.retryAt <= now {
            plugin.problem?.retryAt = .never
            plugin.problem?.files = nil
            if problem.isPause {
                plugin.problem = nil
                if !holdBack(plugin) { reportProblem(of: plugin) }
            } else if !holdBack(plugin) {
                // The file may have changed since the failure, so inspect it again.
                beginInspection(of: plugin, unless: nil)
            }
        }
        pool.prestart(plugin)
    }

    /// Passes the handlers of a loaded plugin to the scheduler.
    func noteHandlers(of plugin: PluginSlot, _ handlers: [Ready.Handler]) {
        let serial = handlers.filter { $0.flags & HandlerFlags.serial != 0 }.map(\.name)
        dispatcher.decide { scheduler, now, effects in
            scheduler.pluginLoaded(plugin.index, serial: serial, now: now, &effects)
        }
    }
}

/// The `BG_TASK_*` flags that the host uses.
enum HandlerFlags {
    static let serial: UInt32 = 2
    static let needsWorker: UInt32 = 4
}
