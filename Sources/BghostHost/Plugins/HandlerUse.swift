// SPDX-License-Identifier: Apache-2.0

internal import BghostCore
internal import BghostLinux
internal import BghostWire

/// One handler of a plugin, as far as it decides whether a run of it may begin.
struct HandlerUse {
    /// The index of its plugin.
    let plugin: Int
    let name: String
    /// Whether its runs exclude one another; `nil` as long as its plugin has not been loaded.
    var isSerial: Bool?
    var running = 0
    /// Whether a request waits because of it.
    var hasTurnedAway = false
}

extension Host {
    /// The place of a task's handler in `handlerUses`, made if it is the first task of it.
    func use(of plugin: PluginSlot, _ handler: HandlerReference) -> Int {
        let name = if case .plugin(_, let handler) = handler { handler } else { "" }
        let known = handlerUses.firstIndex { $0.plugin == plugin.index && $0.name == name }
        if let known { return known }
        // A function has a worker for each run, so nothing is shared.
        let isSerial: Bool? = plugin.isFunction ? false : nil
        handlerUses.append(HandlerUse(plugin: plugin.index, name: name, isSerial: isSerial))
        return handlerUses.count - 1
    }

    /// Whether a run of a definition can begin now.
    ///
    /// If not, its requests come up again once what stands in the way has changed.
    func canBegin(_ definition: Int) -> Bool {
        let plugin = pluginOfDefinition[definition]
        guard isUsable(plugin) else {
            plugin.hasTurnedAway = true
            return false
        }
        let use = useOfDefinition[definition]
        // Before its plugin is loaded nobody knows, so its first run goes alone.
        guard handlerUses[use].running == 0 || handlerUses[use].isSerial == false else {
            handlerUses[use].hasTurnedAway = true
            return false
        }
        return true
    }

    /// A run of a definition has ended.
    func handlerLeft(_ definition: Int) {
        let use = useOfDefinition[definition]
        handlerUses[use].running -= 1
        if handlerUses[use].hasTurnedAway { retryRequests(ofUse: use) }
    }

    /// A plugin is loaded, and what its handlers allow is known.
    func noteHandlers(of plugin: PluginSlot, _ handlers: [Ready.Handler]) {
        for use in handlerUses.indices
        where handlerUses[use].plugin == plugin.index && !plugin.isFunction {
            let name = handlerUses[use].name
            let flags = handlers.first { $0.name == name }?.flags ?? 0
            handlerUses[use].isSerial = flags & HandlerFlags.serial != 0
            if handlerUses[use].hasTurnedAway { retryRequests(ofUse: use) }
        }
    }

    private func retryRequests(ofUse use: Int) {
        handlerUses[use].hasTurnedAway = false
        retryRequests { useOfDefinition[$0] == use }
    }

    /// Brings up again what was turned away because of a plugin.
    func retryRequests(of plugin: PluginSlot) {
        plugin.hasTurnedAway = false
        retryRequests { pluginOfDefinition[$0] === plugin }
    }

    private func retryRequests(where isWanted: (_ definition: Int) -> Bool) {
        for entry in book.entries.indices where isWanted(book.entries[entry].definition) {
            book.retry(entry: entry, now: WallClock.now)
        }
    }
}

/// The `BG_TASK_*` that the host acts upon.
enum HandlerFlags {
    static let serial: UInt32 = 2
    static let needsWorker: UInt32 = 4
}
