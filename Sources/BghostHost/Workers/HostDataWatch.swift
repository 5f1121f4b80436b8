// SPDX-License-Identifier: Apache-2.0

internal import BghostCore
internal import BghostLinux

/// Watching what plugins leave on the disk.
///
/// The kernel bounds each file of a worker; what they are together is counted here, on a thread that may
/// wait for the disk: after runs and while they last, at most once a second.
extension Host {
    func lookAtData(of plugin: PluginSlot) {
        guard plugin.isolation == .worker, !plugin.isRetired, now >= plugin.dataLookAt else {
            return
        }
        let thread = dataThread ?? WorkThread()
        dataThread = thread
        // Without a thread the next look, at the end of a run or a second later, is the first.
        guard thread.begin() else { return }
        // Until the answer is there, which may take as long as the disk likes.
        plugin.dataLookAt = .max
        let (name, folder, limits) = (plugin.name, plugin.dataDirectory, plugin.limits)
        thread.perform { [weak self, reactor] in
            let begin = Monotonic.now
            let usage = FolderUsage(
                of: folder,
                bytesMax: limits.dataBytes,
                entriesMax: limits.files
            )
            let took = Monotonic.now &- begin
            Task(executorPreference: reactor) { await self?.lookedAtData(of: name, usage, took) }
        }
    }

    private func lookedAtData(of name: String, _ usage: FolderUsage, _ took: UInt64) {
        guard let plugin = pluginsByName[name] else { return }
        // Of a processor, a twentieth at the most.
        plugin.dataLookAt = now &+ max(HostLimits.dataPeriod, took &* 20)
        guard let problem = usage.problem, scheduler.switchedOff(plugin: plugin.index) == nil
        else { return }
        let limits = plugin.limits
        let what =
            switch problem {
            case .tooLarge: "holds more than \(limits.dataBytes >> 20) MiB"
            case .tooManyEntries: "has more than \(limits.files) files"
            case .tooDeep: "has folders more than \(FolderUsage.depthMax) deep"
            case .closed(let code): "cannot be looked at (\(SystemError("", code: code).reason))"
            }
        let reason =
            "its data directory \(plugin.dataDirectory) \(what): make room there or raise its limits,"
            + " then `bghost enable \(name)`"
        log.write(.error, "plugin.data_limit", reason, plugin: name)
        switchOff(plugin, reason)
        commit([.switched(plugin: name, off: reason)])
        for case let worker as Worker in plugin.carriers.values where !worker.isIdle {
            exceeded(worker, .data)
        }
    }
}
