// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostDispatch
internal import BghostLinux
internal import BghostModel
internal import BghostPolicy
internal import BghostServices
internal import BghostTransfer
internal import BghostTransferBridge

/// Plugins that exceed the limits of their data directories.
extension WorkerPool {
    func measureData(ofPlugin name: String) {
        if let plugin = plugins[name] { measureData(of: plugin) }
    }

    func measureData(of plugin: PluginSlot) {
        guard plugin.isolation == .worker, !plugin.isRetired else { return }
        let name = plugin.name
        dataDirectories.measure(
            name,
            in: plugin.dataDirectory,
            DataDirectories.Limits(plugin.limits),
            of: plugin.executors.values.compactMap(\.pid),
            now: now
        ) { [reference] measurement in
            reference.perform { $0.dataMeasured(of: name, measurement) }
        }
    }

    /// Makes up for a measurement that was skipped meanwhile, if no other audit of a worker will.
    private func measureSkippedData(of plugin: PluginSlot) {
        guard let due = dataDirectories.skippedUntil(plugin.name) else { return }
        for worker in executors.workers(of: plugin) where worker.audit == .never {
            worker.audit = due
            deadlines.arm(.audit(worker.serial), at: due)
        }
    }

    private func dataMeasured(of name: String, _ measurement: DataDirectories.Measurement) {
        let (took, used) = (measurement.took, measurement.used)
        dataDirectories.measured(name, took: took, used: used, now: now)
        guard let plugin = plugins[name] else { return }
        measureSkippedData(of: plugin)
        let usage = measurement.usage
        if let file = usage.stripped.first { noteStripped(file, usage.stripped.count, of: plugin) }
        guard let problem = usage.problem,
            dispatcher.scheduler.disabledReason(plugin: plugin.index) == nil
        else { return }
        let limits = plugin.limits
        let what =
            switch problem {
            case .tooLarge: "holds more than \(limits.dataBytes >> 20) MiB"
            case .tooManyEntries: "has more than \(limits.files) files"
            case .tooDeep: "has folders more than \(FolderUsage.depthMax) deep"
            case .closed(let code): "cannot be looked at (\(SystemError("", code: code).reason))"
            case .unsteady: "cannot be counted, since its folders are moved all the time"
            case .setID(let code):
                "has a set-user-ID program that cannot be changed (\(SystemError("", code: code).reason))"
            }
        let reason =
            "its data directory \(plugin.dataDirectory) \(what): make room there or raise its limits,"
            + " then `bghost enable \(name)`"
        log.write(.error, "plugin.data_limit", reason, plugin: name)
        registry.switchOff(plugin, reason)
        commits.commit([.switched(plugin: name, off: reason)])
        for worker in executors.workers(of: plugin) {
            guard !worker.hasRun else {
                exceeded(worker, .data)
                continue
            }
            // An idle worker may continue to write. Do not record a crash: a run of another worker
            // may have written the data.
            worker.killedFor = KillReason.data.text
            retireNow(worker)
        }
    }

    /// Logs that the daemon removed what would give others rights: set-user-ID, set-group-ID or capabilities.
    private func noteStripped(_ file: String, _ count: Int, of plugin: PluginSlot) {
        let others = count > 1 ? " and " + CountText.of(count - 1, "other") : ""
        log.write(
            .error,
            "plugin.set_id",
            "took set-user-ID, set-group-ID or capabilities from `\(PrintableText.escaped(file))`\(others) in"
                + " \(plugin.dataDirectory)",
            plugin: plugin.name
        )
    }
}
