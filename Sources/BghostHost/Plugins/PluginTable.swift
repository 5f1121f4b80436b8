// SPDX-License-Identifier: Apache-2.0

internal import BghostInspection

/// The plugins and functions of the manifest, and the versions that a reload has replaced.
///
/// A plugin keeps its index, which is the same in the scheduler's catalog. Use it on the reactor's thread
/// only; each call costs O(1).
final class PluginTable {
    /// All versions, by index.
    private(set) var all: [PluginSlot] = []
    private var current: [String: PluginSlot] = [:]

    subscript(index: Int) -> PluginSlot { all[index] }

    /// The current version of a plugin; `nil` if the manifest has no such plugin.
    subscript(name: String) -> PluginSlot? { current[name] }

    /// The names of the current plugins, in no order.
    var names: Set<String> { Set(current.keys) }

    /// Adds a plugin, which becomes the current version of its name.
    func add(_ code: PluginCode) -> PluginSlot {
        let plugin = PluginSlot(index: all.count, code: code)
        all.append(plugin)
        current[plugin.name] = plugin
        return plugin
    }

    /// Retires a version, because a reload has replaced or removed it.
    func retire(_ plugin: PluginSlot) {
        plugin.isRetired = true
        if current[plugin.name] === plugin { current[plugin.name] = nil }
    }
}
