// SPDX-License-Identifier: Apache-2.0

internal import BghostCore
internal import BghostLinux
internal import BghostPlugin
internal import BghostTrust
internal import BghostWire
internal import Glibc

/// Plugins and tasks as the manifest defines them.
extension Host {
    func definePlugins() {
        for definition in manifest.plugins { add(.plugin(definition)) }
        for definition in manifest.functions { add(.function(definition)) }
        for plugin in plugins { inspect(plugin) }
        for plugin in plugins { tellProblem(of: plugin) }
    }

    func add(_ code: PluginSlot.Code) {
        let slot = PluginSlot(index: plugins.count, code: code)
        plugins.append(slot)
        pluginsByName[slot.name] = slot
    }

    // MARK: Looking at a plugin's file

    /// Finds a plugin's library and reads what it is, without running any of it.
    ///
    /// - Returns: whether it can be loaded as far as its file tells.
    @discardableResult
    func inspect(_ plugin: PluginSlot) -> Bool {
        // Reading and hashing a library can take long, and what begins next has all of its time.
        defer { reactor.lookAtClock() }
        do {
            plugin.dataDirectory = try state.dataDirectory(of: plugin.name)
        } catch {
            setProblem(plugin, error.description, file: nil)
            return false
        }
        guard case .plugin(let definition) = plugin.code else {
            guard mayHoldQuota(of: plugin) else { return false }
            plugin.problem = nil
            _ = walls(of: plugin)
            return true
        }
        let path: String
        do {
            path = try librarySearch.find(definition.library)
        } catch {
            setProblem(plugin, error.description, file: nil)
            return false
        }
        plugin.path = path
        plugin.held = nil
        plugin.file = fileIdentity(path)
        plugin.walls = nil
        let required = plugin.require.union(manifest.host.require)
        if plugin.isolation == .inProcess, !required.isEmpty {
            let names = SandboxLayer.allCases.filter(required.contains).map(\.rawValue)
            setProblem(
                plugin,
                "the manifest requires \(names.joined(separator: ", ")), and there are no walls inside"
                    + " the daemon; use `\"isolation\": \"worker\"`",
                file: nil
            )
            return false
        }
        do {
            let trust = LibraryTrust(definition, manifest, isLax: configuration.isLax)
            plugin.held = try trust.hold(path)
            _ = try PluginImage.inspect(path: path, held: plugin.held).requireLoadable()
            guard mayHoldQuota(of: plugin) else { return false }
            plugin.problem = nil
            // Now, and not with the first worker, when the limits of other runs wait for this thread.
            if plugin.isolation == .worker { _ = walls(of: plugin) }
            return true
        } catch {
            setProblem(plugin, "\(error)", file: fileIdentity(path))
            return false
        }
    }

    /// Whether the kernel keeps workers to a share of the processors.
    var holdsQuotas: Bool { controlGroup?.controllers.contains("cpu") ?? false }

    static let unheld =
        "its limits.cpuQuota cannot be held: bghost has no cpu controller of cgroup v2 to hand on"
        + " (in a unit: Delegate=yes); `bghost doctor` says what there is"

    /// Whether it has a limit that nobody holds here.
    func isUnheld(_ limits: WorkerLimits, _ isolation: Isolation) -> Bool {
        limits.cpuQuota != nil && isolation == .worker && !holdsQuotas
    }

    /// What only the kernel can hold is not left to luck, but where people develop.
    private func mayHoldQuota(of plugin: PluginSlot) -> Bool {
        guard isUnheld(plugin.limits, plugin.isolation) else { return true }
        guard configuration.isLax else {
            setProblem(plugin, Self.unheld, file: plugin.file)
            return false
        }
        log.write(.warning, "plugin.unlimited", Self.unheld, plugin: plugin.name)
        return true
    }

    var librarySearch: LibrarySearch {
        LibrarySearch(
            pluginPath: configuration.pluginPath,
            manifestDirectory: configuration.manifestDirectory
        )
    }

    func fileIdentity(_ path: String) -> FileIdentity? {
        FileIdentity(path: path)
    }

    private func setProblem(_ plugin: PluginSlot, _ message: String, file: FileIdentity?) {
        if plugin.problem?.message != message {
            log.write(.error, "plugin.unusable", message, plugin: plugin.name)
        }
        plugin.problem = PluginProblem(message: message, file: file)
    }

    /// A load failed in the worker.
    ///
    /// The plugin is left alone for a while, longer each time, and quarantined after a few.
    func loadFailed(_ plugin: PluginSlot, _ message: String) {
        plugin.loadFailures += 1
        log.write(.error, "plugin.load_failed", message, plugin: plugin.name)
        // A worker that was begun before it was quarantined must not have it tried again.
        guard !isQuarantined(plugin) else { return }
        guard plugin.loadFailures < HostLimits.loadFailuresMax, !plugin.isOnTrial else {
            return quarantine(plugin, "\(message) (\(plugin.loadFailures) times)")
        }
        let retryAt = now + patience.loadBackoff << UInt64(plugin.loadFailures - 1)
        plugin.problem = PluginProblem(
            message: message,
            file: plugin.path.flatMap(fileIdentity),
            retryAt: retryAt
        )
        arm(retryAt, token: TimerToken.plugin(plugin.index).raw)
        tellProblem(of: plugin)
    }

    /// Tells the scheduler whether runs of a plugin can begin now.
    func tellProblem(of plugin: PluginSlot) {
        decide { scheduler, now, effects in
            scheduler.plugin(
                plugin.index,
                hasProblem: plugin.problem?.message,
                now: now,
                &effects
            )
        }
    }

    /// Looks again at a plugin that has a problem, once its file has changed.
    func lookAgain(at plugin: PluginSlot) {
        guard !plugin.isRetired, let problem = plugin.problem,
            case .plugin(let definition) = plugin.code,
            let candidate = try? librarySearch.find(definition.library),
            problem.file == nil || fileIdentity(candidate) != problem.file
        else { return }
        guard !isStillQuarantined(plugin, at: candidate) else {
            plugin.problem?.file = fileIdentity(candidate)
            return
        }
        plugin.loadFailures = 0
        inspect(plugin)
        tellProblem(of: plugin)
    }

    /// A time has come at which a plugin is to be tried again.
    func pluginDue(_ plugin: PluginSlot) {
        if let problem = plugin.problem, problem.retryAt <= now {
            // Its file may be another one by now; after a crash that is as likely as at any time.
            if problem.isPause { plugin.problem = nil } else { inspect(plugin) }
            tellProblem(of: plugin)
        }
        prestart(plugin)
    }

    /// A plugin is loaded, and what its handlers allow is known.
    func noteHandlers(of plugin: PluginSlot, _ handlers: [Ready.Handler]) {
        let serial = handlers.filter { $0.flags & HandlerFlags.serial != 0 }.map(\.name)
        decide { scheduler, now, effects in
            scheduler.pluginLoaded(plugin.index, serial: serial, now: now, &effects)
        }
    }
}

/// The `BG_TASK_*` that the host acts upon.
enum HandlerFlags {
    static let serial: UInt32 = 2
    static let needsWorker: UInt32 = 4
}
