// SPDX-License-Identifier: Apache-2.0

internal import BghostCore
internal import BghostLinux
internal import BghostPlugin
internal import BghostStore
internal import BghostTrust

/// What is known against a plugin, by its name: it outlives a reload.
struct PluginCharge {
    var loop = CrashLoop()
    var quarantine: Quarantine?
}

/// Plugins that crash over and over: they are left alone for longer each time, and at last for good.
extension Host {
    /// A worker ended by itself, or broke the rules.
    ///
    /// - Parameter what: how, one sentence without a full stop.
    func crashed(_ plugin: PluginSlot, _ what: String) {
        guard !plugin.isRetired, !isQuarantined(plugin) else { return }
        guard !plugin.isOnTrial else { return quarantine(plugin, what) }
        let limits = patience.crashes
        switch charges[plugin.name, default: PluginCharge()].loop.crashed(now: now, limits) {
        case .counted: break
        case .quarantine:
            let minutes = limits.window / 60_000_000_000
            quarantine(
                plugin,
                "\(what), the last of \(limits.crashesMax) crashes within \(minutes) min"
            )
        case .pause(let end): pause(plugin, what, until: end)
        }
    }

    /// Begins no worker of a plugin for a while; its requests wait.
    func pause(_ plugin: PluginSlot, _ what: String, until end: UInt64) {
        // What is worse than a crash stays.
        guard end > now, plugin.problem == nil else { return }
        let message =
            "\(what); no worker of it is begun for \(DurationText.of(nanoseconds: end &- now))"
        log.write(.warning, "plugin.paused", message, plugin: plugin.name)
        plugin.problem = PluginProblem(
            message: message,
            file: plugin.file,
            retryAt: end,
            isPause: true
        )
        arm(end, token: TimerToken.plugin(plugin.index).raw)
        tellProblem(of: plugin)
    }

    // MARK: Quarantine

    /// Whether a plugin is not run any more.
    func isQuarantined(_ plugin: PluginSlot) -> Bool {
        charges[plugin.name]?.quarantine != nil && !plugin.isOnTrial
    }

    /// Does not run a plugin any more: not before its library or the host is another one, or its
    /// operator says so.
    func quarantine(_ plugin: PluginSlot, _ reason: String) {
        guard !isQuarantined(plugin) else { return }
        plugin.isOnTrial = false
        let quarantine = Quarantine(
            plugin: plugin.name,
            library: "",
            host: hostBuild,
            since: wall,
            reason: String(reason.prefix(Self.reasonCharactersMax))
        )
        charges[plugin.name, default: PluginCharge()].quarantine = quarantine
        log.write(.error, "plugin.quarantined", quarantine.sentence, plugin: plugin.name)
        set(quarantine, on: plugin)
        for carrier in plugin.carriers.values where carrier.isIdle { retire(carrier) }
        // Its library may be large, and this thread has limits to keep.
        let (code, path, held) = (plugin.code, plugin.path, plugin.held)
        spawner.perform { [weak self, reactor] in
            let library = Self.identity(of: code, path: path, held: held)
            Task(executorPreference: reactor) { await self?.keep(quarantine, of: library) }
        }
    }

    private static var reasonCharactersMax: Int { 1000 }

    private func set(_ quarantine: Quarantine, on plugin: PluginSlot) {
        plugin.problem = PluginProblem(
            message: quarantine.sentence,
            file: plugin.file ?? plugin.path.flatMap(fileIdentity)
        )
        tellProblem(of: plugin)
    }

    /// It is known what the quarantine is about.
    private func keep(_ quarantine: Quarantine, of library: String) {
        // Lifted meanwhile, or about something else by now.
        guard charges[quarantine.plugin]?.quarantine == quarantine else { return }
        var quarantine = quarantine
        quarantine.library = library
        charges[quarantine.plugin]?.quarantine = quarantine
        commit([.quarantined(plugin: quarantine.plugin, quarantine)])
    }

    /// Takes over what the daemon before this one, or this one before a reload, knew of a plugin.
    func holdToQuarantine(_ plugin: PluginSlot) {
        guard let quarantine = charges[plugin.name]?.quarantine else { return }
        let library = Self.identity(of: plugin.code, path: plugin.path, held: plugin.held)
        guard !quarantine.isAbout(library: library, host: hostBuild) else {
            log.write(.warning, "plugin.quarantined", quarantine.sentence, plugin: plugin.name)
            return set(quarantine, on: plugin)
        }
        beginTrial(plugin)
    }

    /// Whether a plugin's library has been touched and is still what was quarantined; if it is not,
    /// the plugin is on trial from here on.
    func isStillQuarantined(_ plugin: PluginSlot, at path: String) -> Bool {
        guard let quarantine = charges[plugin.name]?.quarantine, !plugin.isOnTrial else {
            return false
        }
        let library = Self.identity(of: plugin.code, path: path, held: nil)
        if quarantine.isAbout(library: library, host: hostBuild) { return true }
        beginTrial(plugin)
        return false
    }

    private func beginTrial(_ plugin: PluginSlot) {
        plugin.isOnTrial = true
        log.write(
            .warning,
            "plugin.retried",
            "it was quarantined, and its library or bghost is another one now: it is tried again, and"
                + " the next crash is enough",
            plugin: plugin.name
        )
    }

    /// A run of a plugin that was on trial has succeeded.
    func acquit(_ plugin: PluginSlot) {
        guard let change = lift(plugin) else { return }
        log.write(.info, "plugin.released", "it is quarantined no more", plugin: plugin.name)
        commit([change])
    }

    /// Forgets what is known against a plugin.
    ///
    /// - Returns: what is to be stored; `nil` if it was not quarantined.
    func lift(_ plugin: PluginSlot) -> StoreChange? {
        let wasQuarantined = charges.removeValue(forKey: plugin.name)?.quarantine != nil
        plugin.isOnTrial = false
        plugin.loadFailures = 0
        return wasQuarantined ? .quarantined(plugin: plugin.name, nil) : nil
    }

    /// What tells one version of a plugin from another.
    private static func identity(
        of code: PluginSlot.Code,
        path: String?,
        held: HeldLibrary?
    ) -> String {
        switch code {
        case .plugin: held?.sha256 ?? path.flatMap { LibraryDigest.sha256(path: $0) } ?? ""
        // The loader finds its library by name, and what most often crashes is a wrong signature.
        case .function(let function):
            "\(function.library)#\(function.symbol)\(function.signature)"
        }
    }
}

extension Quarantine {
    /// What is said of it, and what lifts it.
    var sentence: String {
        "\(reason); it is quarantined and is not tried again until its library or bghost changes, or"
            + " `bghost enable \(plugin)` lifts that"
    }

    fileprivate func isAbout(library: String, host: String) -> Bool {
        // What could not be read cannot be told to be the same.
        !self.library.isEmpty && self.library == library && self.host == host
    }
}

extension HostConfiguration {
    /// What tells one build of the host from another, as far as plugins meet it.
    var build: String {
        let worker = FileIdentity(path: workerPath)
        return "\(version) \(worker?.sizeBytes ?? 0).\(worker?.modifiedSeconds ?? 0)"
            + ".\(worker?.modifiedNanoseconds ?? 0)"
    }
}
