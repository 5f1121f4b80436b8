// SPDX-License-Identifier: Apache-2.0

package import BghostBase

/// Counts crashes and failed loads of plugins, and decides about pauses, quarantines and trials.
///
/// Histories are kept by plugin name, so they survive a reload. A plugin whose library or host has
/// changed since its quarantine is on trial: it runs, and the next crash quarantines it again.
///
/// The host owns it and carries out its verdicts. It holds no reference to the host. Use it on the
/// reactor's thread only. Each call costs O(1), besides the crashes within the window, of which
/// there are at most `CrashLoop.Limits.crashesMax`.
package final class CrashRegistry {
    /// What the host does after a crash or a failed load.
    package enum Verdict: Equatable {
        /// Nothing: the crash is counted, or the plugin is quarantined already.
        case counted
        /// No worker of the plugin starts until this time.
        case pause(until: MonotonicInstant)
        /// The plugin is quarantined for this reason, a sentence without a full stop.
        case quarantine(String)
    }

    /// What a quarantine means for the library that was found.
    package enum Check: Equatable {
        /// The plugin is not quarantined.
        case free
        /// The plugin stays quarantined.
        case held(Quarantine)
        /// The library or the host has changed, so the plugin's trial begins with this check.
        case trial
    }

    private struct History {
        var loop = CrashLoop()
        var quarantine: Quarantine?
        /// Whether the identity of the quarantined library is still being determined.
        var awaitsIdentity = false
        var idleEnds = IdleEndHistory()
        /// Whether the next crash quarantines the plugin again.
        var isOnTrial = false
        /// Failed loads since the last successful one.
        var loadFailures = 0

        /// Whether it can still change what happens to a plugin that comes back.
        func isNeeded(now: MonotonicInstant, window: UInt64) -> Bool {
            quarantine != nil || loop.isActive(now: now, window: window)
                || idleEnds.news(now: now, window: window) != nil
        }
    }

    /// The number of consecutive failed loads after which a plugin is quarantined.
    private static let loadFailuresMax = 3

    private let limits: CrashLoop.Limits
    private let loadBackoff: UInt64
    private let hostBuild: String
    private var histories: [String: History] = [:]

    /// - Parameters:
    ///   - loadBackoff: the pause after the first failed load, nanoseconds; it doubles with each.
    ///   - hostBuild: identifies the running host, ``HostConfiguration/build``.
    package init(limits: CrashLoop.Limits, loadBackoff: UInt64, hostBuild: String) {
        self.limits = limits
        self.loadBackoff = loadBackoff
        self.hostBuild = hostBuild
    }

    // MARK: Questions

    /// Whether a plugin is quarantined and not on trial.
    package func isQuarantined(_ plugin: String) -> Bool {
        guard let history = histories[plugin] else { return false }
        return history.quarantine != nil && !history.isOnTrial
    }

    /// The quarantine that holds a plugin; `nil` if it may run.
    package func quarantine(of plugin: String) -> Quarantine? {
        isQuarantined(plugin) ? histories[plugin]?.quarantine : nil
    }

    /// Whether a plugin has a quarantine, also one that its trial may lift.
    package func hasQuarantine(_ plugin: String) -> Bool { histories[plugin]?.quarantine != nil }

    /// Whether the next crash of a plugin quarantines it again.
    package func isOnTrial(_ plugin: String) -> Bool { histories[plugin]?.isOnTrial ?? false }

    /// The workers that were killed without a run, as long as `status` shows them.
    package func idleEnds(of plugin: String, now: MonotonicInstant) -> IdleWorkerEnds? {
        histories[plugin]?.idleEnds.news(now: now, window: limits.window)
    }

    // MARK: Crashes and failed loads

    /// Counts a crash: a worker ended by itself or violated a rule.
    ///
    /// - Parameter what: the cause, one sentence without a full stop.
    package func crashed(_ plugin: String, _ what: String, now: MonotonicInstant) -> Verdict {
        guard !isQuarantined(plugin) else { return .counted }
        guard !isOnTrial(plugin) else { return .quarantine(what) }
        switch histories[plugin, default: History()].loop.crashed(now: now, limits) {
        case .counted: return .counted
        case .pause(let end): return .pause(until: end)
        case .quarantine:
            let minutes = limits.window / 60_000_000_000
            return .quarantine("\(what); \(limits.crashesMax) crashes in \(minutes) min")
        }
    }

    /// Counts a failed load.
    ///
    /// - Parameter message: what failed, one sentence without a full stop.
    package func loadFailed(_ plugin: String, _ message: String, now: MonotonicInstant) -> Verdict {
        histories[plugin, default: History()].loadFailures += 1
        // A worker that was started before the quarantine must not cause another attempt.
        guard !isQuarantined(plugin) else { return .counted }
        let failures = histories[plugin]?.loadFailures ?? 1
        guard failures < Self.loadFailuresMax, !isOnTrial(plugin) else {
            return .quarantine(failures > 1 ? "\(message) (\(failures) times)" : message)
        }
        return .pause(until: now + loadBackoff << UInt64(failures - 1))
    }

    /// Forgets the failed loads: the plugin was loaded, or its files have changed.
    package func forgetLoadFailures(_ plugin: String) { histories[plugin]?.loadFailures = 0 }

    /// Records that a worker was killed because it worked without a run.
    package func idleWorkerEnded(
        _ plugin: String,
        for reason: String,
        now: MonotonicInstant,
        wall: Int64
    ) {
        histories[plugin, default: History()].idleEnds.ended(
            for: reason,
            now: now,
            wall: wall,
            window: limits.window
        )
    }

    // MARK: Quarantine and trial

    /// Takes over the quarantines that the previous daemon stored.
    package func recover(_ quarantines: [Quarantine]) {
        for quarantine in quarantines {
            histories[quarantine.plugin] = History(quarantine: quarantine)
        }
    }

    /// Quarantines a plugin.
    ///
    /// The library is not known yet; ``identify(_:library:)`` adds it.
    ///
    /// - Parameter wall: Unix nanoseconds.
    /// - Returns: the quarantine; `nil` if the plugin is quarantined already.
    package func quarantine(_ plugin: String, _ reason: String, wall: Int64) -> Quarantine? {
        guard !isQuarantined(plugin) else { return nil }
        let quarantine = Quarantine(
            plugin: plugin,
            library: "",
            host: hostBuild,
            since: wall,
            reason: String(reason.prefix(Self.reasonCharactersMax))
        )
        histories[plugin, default: History()].quarantine = quarantine
        histories[plugin]?.awaitsIdentity = true
        histories[plugin]?.isOnTrial = false
        return quarantine
    }

    private static let reasonCharactersMax = 1000

    /// Adds the identity of the library to a quarantine.
    ///
    /// - Returns: the quarantine to store; `nil` if it was lifted or replaced in the meantime.
    package func identify(_ quarantine: Quarantine, library: String) -> Quarantine? {
        guard histories[quarantine.plugin]?.quarantine == quarantine else { return nil }
        var quarantine = quarantine
        quarantine.library = library
        histories[quarantine.plugin]?.quarantine = quarantine
        histories[quarantine.plugin]?.awaitsIdentity = false
        return quarantine
    }

    /// Compares a plugin with the version that was quarantined; a changed one is on trial from now on.
    ///
    /// - Parameter library: the identity of its library; "" if the library could not be read and `nil` if it is not
    ///   known yet, and then it counts as unchanged: the next inspection decides.
    package func check(_ plugin: String, library: String?) -> Check {
        guard let quarantine = quarantine(of: plugin) else { return .free }
        let awaitsIdentity = histories[plugin]?.awaitsIdentity == true
        let isUnknown = library?.isEmpty ?? true
        // With a quarantined library that was never read, none can be compared.
        let isSame =
            awaitsIdentity
            || !quarantine.library.isEmpty
                && (isUnknown || library == quarantine.library)
        if isSame, quarantine.host == hostBuild { return .held(quarantine) }
        histories[plugin]?.isOnTrial = true
        return .trial
    }

    /// Begins with a new version of a plugin: what its predecessor's trial or loads showed is void.
    package func versionReplaced(_ plugin: String) {
        histories[plugin]?.isOnTrial = false
        histories[plugin]?.loadFailures = 0
    }

    /// Forgets the plugins that are no longer in the manifest.
    ///
    /// A plugin that comes back within the window has its crashes again, so removing it and adding it does not
    /// end a crash loop; a quarantine lasts until an operator lifts it. Costs O(histories), of which a
    /// reload leaves those of the manifest and these.
    package func forget(except plugins: Set<String>, now: MonotonicInstant) {
        histories = histories.filter { plugin, history in
            plugins.contains(plugin) || history.isNeeded(now: now, window: limits.window)
        }
    }

    /// The number of plugins with a history.
    var historyCount: Int { histories.count }

    /// Clears the history of a plugin.
    ///
    /// - Returns: whether it had a quarantine.
    package func clear(_ plugin: String) -> Bool {
        histories.removeValue(forKey: plugin)?.quarantine != nil
    }
}
