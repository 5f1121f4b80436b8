// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostConfiguration
internal import BghostDispatch
internal import BghostModel
internal import BghostPolicy
internal import BghostServices

/// Prestarted workers: workers that load the plugin before a run needs them, as the manifest requests.
extension WorkerPool {
    func prestart() {
        for plugin in plugins.all { prestart(plugin) }
    }

    /// Starts workers until the requested number is idle.
    func prestart(_ plugin: PluginSlot) {
        guard plugin.prestart > 0, !plugin.isRetired, !isDraining,
            dispatcher.scheduler.disabledReason(plugin: plugin.index) == nil,
            plugin.problem == nil,
            now >= plugin.prestartAt
        else { return }
        for _ in 0..<max(0, plugin.prestart - idleWorkers(of: plugin)) {
            do {
                let worker = try addExecutor(for: plugin)
                list(worker)
                // No run waits for this worker, so no run's deadline would end a load that hangs.
                setDeadline(worker, now + timeouts.start)
            } catch {
                log.write(.warning, "worker.not_prestarted", error.description, plugin: plugin.name)
                putOffPrestart(plugin)
                return
            }
        }
    }

    /// Schedules a replacement for a prestarted worker that got a run.
    ///
    /// The replacement is delayed, because the worker may be idle again soon and a start now would
    /// delay the run.
    func workerTaken(_ plugin: PluginSlot) {
        guard plugin.prestart > 0, plugin.prestartAt <= now else { return }
        plugin.prestartAt = now + timeouts.prestart
        deadlines.arm(.plugin(plugin.index), at: plugin.prestartAt)
    }

    /// The number of workers without a run that are ready or loading.
    private func idleWorkers(of plugin: PluginSlot) -> Int {
        plugin.executors.values.count {
            $0.isIdle && ($0.state == .live || $0.state == .loading)
        }
    }

    /// Whether an idle worker is needed for the requested number of prestarted workers.
    func isKeptIdle(_ worker: Worker) -> Bool {
        let plugin = worker.plugin
        return dispatcher.scheduler.disabledReason(plugin: plugin.index) == nil && !isDraining
            && !plugin.isRetired
            && idleWorkers(of: plugin) <= plugin.prestart
    }

    /// Kills a prestarted worker that did not load within its timeout.
    func prestartOverdue(_ worker: Worker) {
        registry.loadFailed(
            worker.plugin,
            "it was not loaded within \(DurationText.of(nanoseconds: timeouts.start))"
        )
        worker.killedFor = "it was not loaded in time"
        retireNow(worker)
    }

    /// Replaces a worker that is gone, if the plugin has prestarted workers.
    ///
    /// - Parameter isUnasked: whether the worker ended without a request of the daemon.
    func replace(_ worker: Worker, isUnasked: Bool) {
        let plugin = worker.plugin
        guard plugin.prestart > 0 else { return }
        // The replacement may fail in the same way; without a delay, it would be restarted in a loop.
        if isUnasked, worker.lastRun == nil { putOffPrestart(plugin) }
        prestart(plugin)
    }

    /// Delays the next prestart; the delay doubles with each failure.
    private func putOffPrestart(_ plugin: PluginSlot) {
        let pause = timeouts.loadBackoff << UInt64(min(plugin.prestartFailures, 6))
        plugin.prestartFailures += 1
        plugin.prestartAt = now + pause
        deadlines.arm(.plugin(plugin.index), at: plugin.prestartAt)
    }
}
