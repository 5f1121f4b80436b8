// SPDX-License-Identifier: Apache-2.0

internal import BghostInspection

/// The plugins and functions of the manifest, and the versions that a reload has replaced.
///
/// A plugin keeps its index, which is the same in the scheduler's catalog, until a reload finds that nothing
/// needs it any longer. Use it on the reactor's thread only; each call costs O(1).
final class PluginTable {
    /// The current versions and those that have something to finish, by index; also some that have nothing.
    private(set) var all: [PluginSlot] = []
    private var current: [String: PluginSlot] = [:]

    subscript(index: Int) -> PluginSlot { all[index] }

    /// The current version of a plugin; `nil` if the manifest has no such plugin.
    subscript(name: String) -> PluginSlot? { current[name] }

    /// The names of the current plugins, in no order.
    var names: Set<String> { Set(current.keys) }

    /// Adds a plugin, which becomes the current version of its name.
    ///
    /// - Parameter index: the next one, or that of a plugin that was released; `nil` for the next one.
    func add(_ code: PluginCode, at index: Int? = nil) -> PluginSlot {
        let index = index ?? all.count
        let plugin = PluginSlot(index: index, code: code)
        if index == all.count {
            all.append(plugin)
        } else {
            precondition(all[index].isReleased, "a plugin has the number of another one")
            all[index] = plugin
        }
        current[plugin.name] = plugin
        return plugin
    }

    /// The indices of the plugins that have an executor or that an unfinished piece of work refers to.
    var inUse: [Int] { all.indices.filter { all[$0].isInUse } }

    /// Records that later plugins may get the indices of retired ones.
    func release(_ indices: [Int]) {
        for index in indices { all[index].isReleased = all[index].isRetired }
    }

    /// Retires a version, because a reload has replaced or removed it.
    func retire(_ plugin: PluginSlot) {
        plugin.isRetired = true
        if current[plugin.name] === plugin { current[plugin.name] = nil }
    }
}
