// SPDX-License-Identifier: Apache-2.0

internal import BghostAPI
internal import BghostBase
internal import BghostConfiguration
internal import BghostDispatch
internal import BghostModel
internal import BghostPolicy
internal import BghostServices

/// Switches plugins off and on for an operator.
///
/// The host owns it. Use it on the reactor's thread only; it does not block.
final class PluginSwitches {
    private let plugins: PluginTable
    private let registry: PluginRegistry
    private let pool: WorkerPool
    private let supervisor: RunSupervisor
    private let dispatcher: Dispatcher
    private let commits: CommitQueue
    private let log: HostLog
    private let manifestPath: String

    init(
        _ registry: PluginRegistry,
        _ pool: WorkerPool,
        _ supervisor: RunSupervisor,
        _ dispatcher: Dispatcher,
        _ commits: CommitQueue,
        configuration: HostConfiguration
    ) {
        plugins = registry.plugins
        self.registry = registry
        self.pool = pool
        self.supervisor = supervisor
        self.dispatcher = dispatcher
        self.commits = commits
        log = configuration.log
        manifestPath = configuration.manifestPath
    }

    /// Switches a plugin off, and returns when that is stored.
    ///
    /// - Parameter stopsRuns: whether its runs are cancelled.
    nonisolated(nonsending) func disable(
        plugin name: String,
        reason: String,
        stopsRuns: Bool
    ) async throws(OperatorRefusal) -> PluginSwitch {
        let plugin = try plugin(name)
        // Switch it off first: a request that arrives before the change is stored must not start.
        registry.switchOff(plugin, reason)
        var answer = PluginSwitch(plugin: name, off: reason)
        for number in supervisor.runs.numbers {
            guard let run = supervisor.runs.run(number), run.executor.plugin.name == plugin.name
            else { continue }
            if stopsRuns {
                answer.stopping.append(run.record.id)
                supervisor.handle(.stop(.user), of: number)
            } else {
                answer.running.append(run.record.id)
            }
        }
        let why = reason.isEmpty ? "switched off" : "switched off: \(reason)"
        log.write(.warning, "plugin.disabled", why, plugin: name)
        try await commits.store(
            [.switched(plugin: name, off: reason)],
            "`\(name)` is switched off"
        )
        return answer
    }

    /// Switches a plugin on, lifts its quarantine, and returns when that is stored.
    nonisolated(nonsending) func enable(
        plugin name: String
    ) async throws(OperatorRefusal) -> PluginSwitch {
        let plugin = try plugin(name)
        if dispatcher.scheduler.disabledReason(plugin: plugin.index) != nil {
            log.write(.info, "plugin.enabled", "switched on", plugin: name)
        }
        var changes = [StoreChange.switched(plugin: name, off: nil)]
        if let lifted = registry.lift(plugin) {
            log.write(.info, "plugin.released", "its quarantine is lifted", plugin: name)
            changes.append(lifted)
            // The inspection adopts a changed file.
            await registry.inspectAgain(plugin, unless: nil)
        }
        registry.switchOff(plugin, nil)
        pool.prestart(plugin)
        try await commits.store(changes, "`\(name)` is switched on")
        return PluginSwitch(plugin: name, off: nil)
    }

    private func plugin(_ name: String) throws(OperatorRefusal) -> PluginSlot {
        if let plugin = plugins[name] { return plugin }
        let nearest = Spelling.nearest(to: name, among: plugins.all.map(\.name))
        let shown = PrintableText.escaped(String(name.prefix(200)))
        throw OperatorRefusal(
            .noSuchPlugin,
            "\(manifestPath) has no plugin `\(shown)`",
            fix: nearest.map { "did you mean \($0)?" } ?? "bghost status lists the plugins' tasks",
            candidates: nearest.map { [$0] } ?? []
        )
    }
}
