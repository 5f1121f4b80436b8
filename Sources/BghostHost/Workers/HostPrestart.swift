// SPDX-License-Identifier: Apache-2.0

internal import BghostCore
internal import BghostLinux

/// Workers that are started ahead of their runs, where the manifest wants some: a run then finds its
/// plugin loaded.
extension Host {
    func prestart() {
        for plugin in plugins { prestart(plugin) }
    }

    /// Starts as many workers as are wanted idle and are missing.
    func prestart(_ plugin: PluginSlot) {
        guard plugin.prestart > 0, !plugin.isRetired, !isDraining,
            scheduler.switchedOff(plugin: plugin.index) == nil,
            plugin.problem == nil,
            now >= plugin.prestartAt
        else { return }
        for _ in 0..<max(0, plugin.prestart - idleWorkers(of: plugin)) {
            do {
                let worker = try addCarrier(for: plugin)
                list(worker)
                // Nobody waits for it, so no run ends it if its plugin never comes to an end of loading.
                setDeadline(worker, now &+ patience.start)
            } catch {
                log.write(.warning, "worker.not_prestarted", error.description, plugin: plugin.name)
                putOffPrestart(plugin)
                return
            }
        }
    }

    /// A run has taken a worker.
    ///
    /// Another one is started unless it is back soon; at this moment that would hold up the run.
    func noteTaken(_ plugin: PluginSlot) {
        guard plugin.prestart > 0, plugin.prestartAt <= now else { return }
        plugin.prestartAt = now &+ patience.prestart
        arm(plugin.prestartAt, token: TimerToken.plugin(plugin.index).raw)
    }

    /// Workers that have no run and could take one, or soon can.
    private func idleWorkers(of plugin: PluginSlot) -> Int {
        plugin.carriers.values.count {
            $0.isIdle && ($0.state == .live || $0.state == .loading)
        }
    }

    /// Whether an idle worker is one of those that are to be kept.
    func isKeptIdle(_ worker: Worker) -> Bool {
        let plugin = worker.plugin
        return scheduler.switchedOff(plugin: plugin.index) == nil && !isDraining
            && !plugin.isRetired
            && idleWorkers(of: plugin) <= plugin.prestart
    }

    /// A worker that nobody waited for did not come to an end of loading.
    func prestartOverdue(_ worker: Worker) {
        loadFailed(
            worker.plugin,
            "it was not loaded within \(DurationText.of(nanoseconds: patience.start))"
        )
        worker.killedFor = "it was not loaded in time"
        retireNow(worker)
    }

    /// A worker is gone, and may have to be replaced.
    ///
    /// - Parameter isUnasked: whether it ended without having been told to.
    func replace(_ worker: Worker, isUnasked: Bool) {
        let plugin = worker.plugin
        guard plugin.prestart > 0 else { return }
        // Its successors may do the same, and no run holds them up.
        if isUnasked, worker.lastRun == nil { putOffPrestart(plugin) }
        prestart(plugin)
    }

    /// Waits before the next start, longer each time that it comes to nothing.
    private func putOffPrestart(_ plugin: PluginSlot) {
        let pause = patience.loadBackoff << UInt64(min(plugin.prestartFailures, 6))
        plugin.prestartFailures += 1
        plugin.prestartAt = now &+ pause
        arm(plugin.prestartAt, token: TimerToken.plugin(plugin.index).raw)
    }
}
