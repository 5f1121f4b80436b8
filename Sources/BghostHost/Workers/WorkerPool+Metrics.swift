// SPDX-License-Identifier: Apache-2.0

internal import BghostDispatch
internal import BghostMetrics
internal import BghostModel
internal import BghostPolicy

/// What the metrics show of plugins.
extension WorkerPool {
    /// The plugins of the manifest; it costs O(plugins + workers).
    var pluginStates: [MetricsSnapshot.Plugin] {
        let workers = pidsByPlugin
        return plugins.all.filter { !$0.isRetired }.map { plugin in
            let state: MetricsSnapshot.PluginState =
                if dispatcher.scheduler.disabledReason(plugin: plugin.index) != nil {
                    .disabled
                } else if crashes.quarantine(of: plugin.name) != nil {
                    .quarantined
                } else if plugin.problem != nil {
                    .unusable
                } else {
                    dispatcher.scheduler.isPaused(plugin: plugin.name) ? .paused : .ready
                }
            var metrics = MetricsSnapshot.Plugin(
                name: plugin.name,
                state: state,
                workers: workers[plugin.name] ?? []
            )
            let layers = plugin.layerStates
            if !layers.isEmpty { metrics.layersMissing = layers.count { $0.state == .missing } }
            return metrics
        }
    }
}
