// SPDX-License-Identifier: Apache-2.0

internal import BghostCore
internal import BghostLinux
internal import BghostPlugin
internal import BghostStore
internal import BghostTrust

/// The crash history and quarantine of a plugin, by name; it survives a reload.
struct PluginCrashHistory {
    var loop = CrashLoop()
    var quarantine: Quarantine?
    var idleEnds = IdleEndHistory()
}

/// Handling of plugins that crash repeatedly: longer and longer pauses, and finally quarantine.
extension Host {
    /// Counts a crash of a plugin: its worker exited unexpectedly or violated a rule.
    ///
    /// - Parameter what: the cause, one sentence without a full stop.
    func crashed(_ plugin: PluginSlot, _ what: String) {
        guard !plugin.isRetired, !isQuarantined(plugin) else { return }
        guard !plugin.isOnTrial else { return quarantine(plugin, what) }
        let limits = timeouts.crashes
        switch crashHistories[plugin.name, default: PluginCrashHistory()].loop.crashed(
            now: now,
            limits
        ) {
        case .counted: break
        case .quarantine:
            let minutes = limits.window / 60_000_000_000
            quarantine(
                plugin,
                "\(what); \(limits.crashesMax) crashes in \(minutes) min"
            )
        case .pause(let end): pause(plugin, what, until: end)
        }
    }

    /// Starts no worker of a plugin until a given time; its requests wait.
    func pause(_ plugin: PluginSlot, _ what: String, until end: UInt64) {
        // A pause must not replace a more serious problem.
        guard end > now, plugin.problem == nil else { return }
        let message =
            "\(what); next worker start delayed \(DurationText.of(nanoseconds: end &- now))"
        log.write(.warning, "plugin.paused", message, plugin: plugin.name)
        plugin.problem = PluginProblem(
            message: message,
            files: plugin.files,
            retryAt: end,
            isPause: true
        )
        arm(end, token: TimerToken.plugin(plugin.index).raw)
        tellProblem(of: plugin)
    }

    // MARK: Quarantine

    /// Whether a plugin is quarantined and not on trial.
    func isQuarantined(_ plugin: PluginSlot) -> Bool {
        crashHistories[plugin.name]?.quarantine != nil && !plugin.isOnTrial
    }

    /// Stops running a plugin until its library or the host changes, or the operator enables it.
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
        crashHistories[plugin.name, default: PluginCrashHistory()].quarantine = quarantine
        log.write(.error, "plugin.quarantined", quarantine.sentence, plugin: plugin.name)
        set(quarantine, on: plugin)
        for executor in plugin.executors.values where executor.isIdle { retire(executor) }
        let (code, path, held) = (plugin.code, plugin.path, plugin.held)
        Task(executorPreference: reactor) { [weak self] in
            guard let self else { return }
            let library = await onInspectionThread {
                Self.identity(of: code, sha256: Self.digest(path, held))
            }
            await keep(quarantine, of: library ?? "")
        }
    }

    private static var reasonCharactersMax: Int { 1000 }

    private func set(_ quarantine: Quarantine, on plugin: PluginSlot) {
        plugin.problem = PluginProblem(
            message: quarantine.sentence,
            files: plugin.files
        )
        tellProblem(of: plugin)
    }

    /// Stores a quarantine when the identity of the library is known.
    private func keep(_ quarantine: Quarantine, of library: String) {
        // The quarantine may have been lifted or replaced in the meantime.
        guard crashHistories[quarantine.plugin]?.quarantine == quarantine else { return }
        var quarantine = quarantine
        quarantine.library = library
        crashHistories[quarantine.plugin]?.quarantine = quarantine
        commit([.quarantined(plugin: quarantine.plugin, quarantine)])
    }

    /// Applies a quarantine that an earlier daemon stored.
    ///
    /// The plugin stays stopped until its library is hashed, which shows whether the library has changed.
    func holdToQuarantine(_ plugin: PluginSlot) {
        guard let quarantine = crashHistories[plugin.name]?.quarantine else { return }
        let isSameCode =
            plugin.isFunction
            ? quarantine.library == Self.identity(of: plugin.code, sha256: "")
            : !quarantine.library.isEmpty
        guard isSameCode, quarantine.host == hostBuild else { return beginTrial(plugin) }
        log.write(.warning, "plugin.quarantined", quarantine.sentence, plugin: plugin.name)
        set(quarantine, on: plugin)
        if !plugin.isFunction { beginInspection(of: plugin, unless: nil) }
    }

    /// Applies a quarantine from before a reload.
    ///
    /// - Parameter sha256: the hash of the plugin's library.
    func holdToQuarantine(_ plugin: PluginSlot, library sha256: String) {
        guard let quarantine = crashHistories[plugin.name]?.quarantine,
            isStillQuarantined(plugin, library: sha256)
        else { return }
        log.write(.warning, "plugin.quarantined", quarantine.sentence, plugin: plugin.name)
        set(quarantine, on: plugin)
    }

    /// Whether a plugin is still the quarantined version; if not, its trial starts here.
    ///
    /// - Parameter sha256: the hash of its library; "" if the library could not be read.
    func isStillQuarantined(_ plugin: PluginSlot, library sha256: String) -> Bool {
        guard let quarantine = crashHistories[plugin.name]?.quarantine, !plugin.isOnTrial else {
            return false
        }
        let library = Self.identity(of: plugin.code, sha256: sha256)
        if quarantine.isAbout(library: library, host: hostBuild) { return true }
        beginTrial(plugin)
        return false
    }

    private func beginTrial(_ plugin: PluginSlot) {
        plugin.isOnTrial = true
        log.write(
            .warning,
            "plugin.retried",
            "its library or bghost has changed since it was quarantined: trying it again; the next"
                + " crash quarantines it again",
            plugin: plugin.name
        )
    }

    /// Lifts the quarantine after a successful run of a plugin on trial.
    func acquit(_ plugin: PluginSlot) {
        guard let change = lift(plugin) else { return }
        log.write(.info, "plugin.released", "its quarantine is lifted", plugin: plugin.name)
        commit([change])
    }

    /// Clears the crash history of a plugin.
    ///
    /// - Returns: the change to store; `nil` if the plugin was not quarantined.
    func lift(_ plugin: PluginSlot) -> StoreChange? {
        let wasQuarantined = crashHistories.removeValue(forKey: plugin.name)?.quarantine != nil
        plugin.isOnTrial = false
        plugin.loadFailures = 0
        return wasQuarantined ? .quarantined(plugin: plugin.name, nil) : nil
    }

    /// Identifies a version of a plugin.
    private static func identity(of code: PluginSlot.Code, sha256: String) -> String {
        switch code {
        case .plugin: sha256
        // The loader finds the library by name, so there is no hash. A wrong signature is the most
        // frequent cause of crashes.
        case .function(let function):
            "\(function.library)#\(function.symbol)\(function.signature)"
        }
    }

    /// The SHA-256 of a plugin's library, or "".
    ///
    /// It blocks on the disk.
    private static func digest(_ path: String?, _ held: HeldLibrary?) -> String {
        held?.sha256 ?? path.flatMap { LibraryDigest.sha256(path: $0) } ?? ""
    }
}

extension Quarantine {
    /// The reason, with the actions that lift the quarantine.
    var sentence: String {
        "\(reason); quarantined until its library or bghost changes; fix it, then"
            + " `bghost enable \(plugin)`"
    }

    fileprivate func isAbout(library: String, host: String) -> Bool {
        // A library that could not be read cannot be compared.
        !self.library.isEmpty && self.library == library && self.host == host
    }
}

extension HostConfiguration {
    /// Identifies the build of the host: its version and the worker executable.
    var build: String {
        let worker = FileIdentity(path: workerPath)
        return "\(version) \(worker?.sizeBytes ?? 0).\(worker?.modifiedSeconds ?? 0)"
            + ".\(worker?.modifiedNanoseconds ?? 0)"
    }
}
