// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The end of a plugin.
extension PluginRuntime {
    /// Tells the plugin to start nothing new.
    ///
    /// The caller has cancelled its runs.
    package func drain() {
        guard case .plugin(let plugin, let instance) = program else { return }
        plugin.drain?(instance)
    }

    /// Closes the plugin, which must have no runs.
    ///
    /// Its later calls return `BG_E_CLOSED`.
    package func close() {
        if case .plugin(let plugin, let instance) = program { plugin.close?(instance) }
        isClosed.store(true, ordering: .sequentiallyConsistent)
        calls.abandonAll()
    }
}
