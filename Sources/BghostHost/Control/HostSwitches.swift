// SPDX-License-Identifier: Apache-2.0

package import BghostCore
internal import BghostStore

/// Plugins that their operator switches off and on.
extension Host {
    package func disable(
        plugin name: String,
        reason: String,
        stopsRuns: Bool
    ) async throws(OperatorRefusal) -> PluginSwitch {
        let plugin = try plugin(name)
        // First of all: what comes in before it is stored must not begin any more.
        switchOff(plugin, reason)
        var answer = PluginSwitch(plugin: name, off: reason)
        for number in runs.numbers {
            guard let run = runs.index(of: number).flatMap({ runs[$0] }),
                run.carrier.plugin.name == plugin.name
            else { continue }
            if stopsRuns {
                answer.stopping.append(run.record.id)
                handle(.stop(.user), of: number)
            } else {
                answer.running.append(run.record.id)
            }
        }
        let why = reason.isEmpty ? "switched off" : "switched off: \(reason)"
        log.write(.warning, "plugin.disabled", why, plugin: name)
        try await store(.switched(plugin: name, off: reason), "`\(name)` is switched off")
        return answer
    }

    package func enable(plugin name: String) async throws(OperatorRefusal) -> PluginSwitch {
        let plugin = try plugin(name)
        if scheduler.switchedOff(plugin: plugin.index) != nil {
            log.write(.info, "plugin.enabled", "switched on", plugin: name)
        }
        var changes = [StoreChange.switched(plugin: name, off: nil)]
        if let lifted = lift(plugin) {
            log.write(.info, "plugin.released", "its quarantine is lifted", plugin: name)
            changes.append(lifted)
            // Its file is looked at anew.
            inspect(plugin)
            tellProblem(of: plugin)
        }
        switchOff(plugin, nil)
        prestart(plugin)
        try check(await committed(changes), "`\(name)` is switched on")
        return PluginSwitch(plugin: name, off: nil)
    }

    /// From now on; it is not stored yet.
    func switchOff(_ plugin: PluginSlot, _ reason: String?) {
        decide { scheduler, now, effects in
            scheduler.set(plugin: plugin.index, switchedOff: reason, now: now, &effects)
        }
    }

    private func plugin(_ name: String) throws(OperatorRefusal) -> PluginSlot {
        if let plugin = pluginsByName[name] { return plugin }
        let nearest = Spelling.nearest(to: name, among: plugins.map(\.name))
        let shown = PrintableText.escaped(String(name.prefix(200)))
        throw OperatorRefusal(
            .noSuchPlugin,
            "\(configuration.manifestPath) has no plugin `\(shown)`",
            fix: nearest.map { "did you mean \($0)?" } ?? "bghost status lists the plugins' tasks",
            candidates: nearest.map { [$0] } ?? []
        )
    }

    /// Commits one change that has taken effect already.
    ///
    /// - Parameter what: what has, for the case that it cannot be stored.
    func store(_ change: StoreChange, _ what: String) async throws(OperatorRefusal) {
        try check(await committed([change]), what)
    }

    func check(_ result: Result<Void, StoreError>, _ what: String) throws(OperatorRefusal) {
        guard case .failure(let error) = result else { return }
        throw OperatorRefusal(
            .storeFailed,
            "\(what), but only until bghost ends: it could not be stored: \(error.message)",
            fix: "see to the disk, and repeat the command"
        )
    }
}
