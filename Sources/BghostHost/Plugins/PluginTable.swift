// SPDX-License-Identifier: Apache-2.0

internal import BghostInspection

/// The plugins and functions of the manifest, and the versions that a reload has replaced.
///
/// A plugin keeps its index, which is the same in the scheduler's catalog, until a reload finds that nothing
/// needs it any longer. Use it on the reactor's thread only; each call costs O(1).
final class PluginTable {
    private var slots: [PluginSlot] = []
    private var current: [String: PluginSlot] = [:]
    /// The number of plugins that callers were given; a list of all counts each: their work, which tests count.
    private(set) var slotsGiven = 0

    /// The current versions and those that have something to finish, by index; also some that have nothing.
    var all: [PluginSlot] {
        slotsGiven += slots.count
        return slots
    }

    subscript(index: Int) -> PluginSlot {
        slotsGiven += 1
        return slots[index]
    }

    /// The current version of a plugin; `nil` if the manifest has no such plugin.
    subscript(name: String) -> PluginSlot? {
        slotsGiven += 1
        return current[name]
    }

    /// The names of the current plugins, in no order.
    var names: Set<String> {
        slotsGiven += current.count
        return Set(current.keys)
    }

    /// Adds a plugin, which becomes the current version of its name.
    ///
    /// - Parameter index: the next one, or that of a plugin that was released; `nil` for the next one.
    func add(_ code: PluginCode, at index: Int? = nil) -> PluginSlot {
        let index = index ?? slots.count
        let plugin = PluginSlot(index: index, code: code)
        if index == slots.count {
            slots.append(plugin)
        } else {
            precondition(slots[index].isReleased, "a plugin has the number of another one")
            slots[index] = plugin
        }
        current[plugin.name] = plugin
        return plugin
    }

    /// The indices of the plugins that have an executor or that an unfinished piece of work refers to.
    var inUse: [Int] { all.filter(\.isInUse).map(\.index) }

    /// Records that later plugins may get the indices of retired ones.
    func release(_ indices: [Int]) {
        for index in indices { slots[index].isReleased = slots[index].isRetired }
    }

    /// Retires a version, because a reload has replaced or removed it.
    func retire(_ plugin: PluginSlot) {
        plugin.isRetired = true
        if current[plugin.name] === plugin { current[plugin.name] = nil }
    }
}
