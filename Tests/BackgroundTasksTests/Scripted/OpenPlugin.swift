// SPDX-License-Identifier: Apache-2.0

import BackgroundTasks
import CBghost

/// A plugin that a host has opened.
final class OpenPlugin: @unchecked Sendable {
    // @unchecked: the table is never changed, and the instance is only passed back to the plugin.
    let table: bg_plugin
    private let instance: UnsafeMutableRawPointer

    /// Opens a plugin by its table; `nil` if there is no table, or if open() fails.
    init?(_ table: PluginTable?, on host: ScriptedHost, config: String) {
        guard let table = table?.assumingMemoryBound(to: bg_plugin.self).pointee else { return nil }
        var instance: UnsafeMutableRawPointer?
        let status = config.lend { table.open?(host.table, $0, &instance) ?? BG_E_ABSENT }
        guard status == BG_OK, let instance else { return nil }
        self.table = table
        self.instance = instance
    }

    func start(_ run: RunMemory) -> bg_status {
        run.task.pointee.start?(instance, run.info) ?? BG_E_ABSENT
    }

    func cancel(_ run: RunMemory, state: UnsafeMutableRawPointer?, why: UInt32) {
        run.task.pointee.cancel?(instance, run.number, state, why)
    }

    /// Closes the plugin, which must have no runs.
    func close() { table.close?(instance) }
}
