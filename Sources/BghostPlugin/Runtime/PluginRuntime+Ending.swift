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
        refuseCalls()
    }

    private func refuseCalls() {
        isClosed.store(true, ordering: .sequentiallyConsistent)
        calls.abandonAll()
    }

    /// Gives back what the runtime holds of a process that continues without it: threads and
    /// descriptors.
    ///
    /// The plugin is closed, or did not open, and nothing may be started any more. Its later calls
    /// return `BG_E_CLOSED`. A thread that is in the plugin ends when it comes back.
    package func leave() {
        refuseCalls()
        for pool in [threads, callers, finisher] { pool.end() }
        for slot in slots where slot.current == .none { slot.closeCancelDescriptor() }
    }
}
