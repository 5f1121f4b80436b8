// SPDX-License-Identifier: Apache-2.0

package import BghostCore
internal import BghostStore

/// Switching plugins off and on by an operator.
extension Host {
    package func disable(
        plugin name: String,
        reason: String,
        stopsRuns: Bool
    ) async throws(OperatorRefusal) -> PluginSwitch {
        let plugin = try plugin(name)
        // Switch it off first: a request that arrives before the change is stored must not start.
        switchOff(plugin, reason)
        var answer = PluginSwitch(plugin: name, off: reason)
        for number in runs.numbers {
            guard let run = runs.index(of: number).flatMap({ runs[$0] }),
                run.executor.plugin.name == plugin.name
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
        if dispatcher.scheduler.switchedOff(plugin: plugin.index) != nil {
            log.write(.info, "plugin.enabled", "switched on", plugin: name)
        }
        var changes = [StoreChange.switched(plugin: name, off: nil)]
        if let lifted = lift(plugin) {
            log.write(.info, "plugin.released", "its quarantine is lifted", plugin: name)
            changes.append(lifted)
            // The inspection adopts a changed file.
            await inspectAgain(plugin, unless: nil)
        }
        switchOff(plugin, nil)
        prestart(plugin)
        try check(await committed(changes), "`\(name)` is switched on")
        return PluginSwitch(plugin: name, off: nil)
    }

    /// Switches a plugin off or on in the scheduler, without storing it.
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

    /// Stores a change that has already taken effect.
    ///
    /// - Parameter what: the effect, for the message if the change cannot be stored.
    func store(_ change: StoreChange, _ what: String) async throws(OperatorRefusal) {
        try check(await committed([change]), what)
    }

    func check(_ result: Result<Void, StoreError>, _ what: String) throws(OperatorRefusal) {
        guard case .failure(let error) = result else { return }
        throw OperatorRefusal(
            .notStored,
            "\(what), but that is not stored yet: \(error.message)",
            fix:
                "check the disk: it is then stored by itself; repeat the command only if bghost ends"
                + " before that"
        )
    }
}
