// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The end of the plugin.
extension PluginRuntime {
    /// Tells the plugin to begin nothing new.
    ///
    /// The caller has cancelled its runs.
    package func drain() {
        guard case .plugin(let plugin, let instance) = program else { return }
        plugin.drain?(instance)
    }

    /// Closes the plugin, which must have no run.
    ///
    /// What it still calls is answered `BG_E_CLOSED`.
    package func close() {
        if case .plugin(let plugin, let instance) = program { plugin.close?(instance) }
        isClosed.store(true, ordering: .sequentiallyConsistent)
        calls.abandonAll()
    }
}
