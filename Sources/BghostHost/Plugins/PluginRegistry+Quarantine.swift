// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostConfiguration
internal import BghostDispatch
internal import BghostInspection
internal import BghostModel
internal import BghostPolicy
internal import BghostServices
internal import BghostPlugin
internal import BghostStore
internal import BghostTrust

/// Handling of plugins that crash repeatedly: longer and longer pauses, and finally quarantine.
extension PluginRegistry {
    /// Counts a crash of a plugin: its worker exited unexpectedly or violated a rule.
    ///
    /// - Parameter what: the cause, one sentence without a full stop.
    func crashed(_ plugin: PluginSlot, _ what: String) {
        guard !plugin.isRetired else { return }
        switch crashes.crashed(plugin.name, what, now: now) {
        case .counted: break
        case .pause(let end): pause(plugin, what, until: end)
        case .quarantine(let reason): quarantine(plugin, reason)
        }
    }

    /// Starts no worker of a plugin until a given time; its requests wait.
    func pause(_ plugin: PluginSlot, _ what: String, until end: MonotonicInstant) {
        // A pause must not replace a more serious problem.
        guard end > now, plugin.problem == nil else { return }
        let message =
            "\(what); next worker start delayed \(DurationText.of(nanoseconds: end.since(now)))"
        log.write(.warning, "plugin.paused", message, plugin: plugin.name)
        plugin.problem = PluginProblem(
            message: message,
            files: plugin.files,
            retryAt: end,
            isPause: true
        )
        deadlines.arm(.plugin(plugin.index), at: end)
        reportProblem(of: plugin)
    }

    // MARK: Quarantine

    /// Stops running a plugin until its library or the host changes, or the operator enables it.
    func quarantine(_ plugin: PluginSlot, _ reason: String) {
        guard let quarantine = crashes.quarantine(plugin.name, reason, wall: clock.wall) else {
            return
        }
        log.write(.error, "plugin.quarantined", quarantine.sentence, plugin: plugin.name)
        set(quarantine, on: plugin)
        for executor in plugin.executors.values where executor.isIdle { pool.retire(executor) }
        let (code, path, held) = (plugin.code, plugin.path, plugin.held)
        reference.performAsync { registry in
            let library = await registry.onInspectionThread {
                code.identity(sha256: Self.digest(path, held))
            }
            registry.keep(quarantine, of: library ?? "")
        }
    }

    private func set(_ quarantine: Quarantine, on plugin: PluginSlot) {
        plugin.problem = PluginProblem(
            message: quarantine.sentence,
            files: plugin.files
        )
        reportProblem(of: plugin)
    }

    /// Stores a quarantine when the identity of the library is known.
    private func keep(_ quarantine: Quarantine, of library: String) {
        guard let known = crashes.identify(quarantine, library: library) else { return }
        commits.commit([.quarantined(plugin: known.plugin, known)])
    }

    /// Applies a quarantine that an earlier daemon stored.
    ///
    /// The plugin stays stopped until its library is hashed, which shows whether the library has changed.
    func holdToQuarantine(_ plugin: PluginSlot) {
        hold(plugin, library: plugin.isFunction ? plugin.code.identity(sha256: "") : nil)
        guard crashes.isQuarantined(plugin.name), !plugin.isFunction else { return }
        beginInspection(of: plugin, unless: nil)
    }

    /// Applies a quarantine from before a reload, or that began while the reload inspected the plugin.
    ///
    /// - Parameter sha256: the hash of the plugin's library; "" if it is unknown, and then it is hashed.
    func holdToQuarantine(_ plugin: PluginSlot, library sha256: String) {
        guard !sha256.isEmpty else { return holdToQuarantine(plugin) }
        hold(plugin, library: plugin.code.identity(sha256: sha256))
    }

    private func hold(_ plugin: PluginSlot, library: String?) {
        switch crashes.check(plugin.name, library: library) {
        case .free: break
        case .trial: logTrial(plugin)
        case .held(let quarantine):
            log.write(.warning, "plugin.quarantined", quarantine.sentence, plugin: plugin.name)
            set(quarantine, on: plugin)
        }
    }

    /// Whether a plugin is still the quarantined version; if not, its trial starts here.
    ///
    /// - Parameter sha256: the hash of its library; "" if the library could not be read.
    func isStillQuarantined(_ plugin: PluginSlot, library sha256: String) -> Bool {
        switch crashes.check(plugin.name, library: plugin.code.identity(sha256: sha256)) {
        case .free: return false
        case .held: return true
        case .trial:
            logTrial(plugin)
            return false
        }
    }

    private func logTrial(_ plugin: PluginSlot) {
        log.write(
            .warning,
            "plugin.retried",
            "its library or bghost has changed since it was quarantined: trying it again; the next"
                + " crash quarantines it again",
            plugin: plugin.name
        )
    }

    /// Lifts the quarantine after a successful run of a plugin on trial.
    func liftQuarantine(_ plugin: PluginSlot) {
        guard let change = lift(plugin) else { return }
        log.write(.info, "plugin.released", "its quarantine is lifted", plugin: plugin.name)
        commits.commit([change])
    }

    /// Clears the crash history of a plugin.
    ///
    /// - Returns: the change to store; `nil` if the plugin was not quarantined.
    func lift(_ plugin: PluginSlot) -> StoreChange? {
        crashes.clear(plugin.name) ? .quarantined(plugin: plugin.name, nil) : nil
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
}

extension HostConfiguration {
    /// Identifies the build of the host: its version and the worker executable.
    var build: String {
        let worker = FileIdentity(path: workerPath)
        return "\(version) \(worker?.sizeBytes ?? 0).\(worker?.modifiedSeconds ?? 0)"
            + ".\(worker?.modifiedNanoseconds ?? 0)"
    }
}
