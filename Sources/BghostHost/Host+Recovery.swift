// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostConfiguration
internal import BghostDispatch
internal import BghostFacts
internal import BghostModel
internal import BghostPolicy
internal import BghostServices
internal import BghostStore

/// Recovery of what the previous daemon stored.
extension Host {
    /// Recovers the state that the previous daemon stored.
    ///
    /// - Returns: what the store has of the manifest before.
    func recover() throws(HostError) -> String? {
        let (dispatcher, log) = (owners.dispatcher, services.log)
        let manifest = services.configuration.manifest
        var pending = 0
        var requirements: RequirementSet = []
        // Requests of the task that delivers notifications; few, because concurrent deliveries are limited.
        var deliveries: [Request] = []
        let deliverer = manifest.notifications?.task
        let kept = try dispatcher.decide { scheduler, now, effects throws(HostError) in
            let state: RecoveredState
            var unpermitted: [Request] = []
            do throws(StoreError) {
                // The store accepts no transactions while it is being read, so defer the effects.
                state = try owners.store.recover(expecting: { scheduler.expect(requests: $0) }) {
                    request in
                    pending += 1
                    requirements.formUnion(request.requirements)
                    if deliverer?.matches(request.task) == true { deliveries.append(request) }
                    let isPermitted = scheduler.restore(ifPermitted: request, now: now, &effects)
                    if !isPermitted { unpermitted.append(request) }
                }
            } catch {
                // Do not continue without the stored requests; that would lose accepted work.
                throw .store(error)
            }
            // Before the effects, since some end requests, with their checkpoints.
            owners.commits.recover(state.checkpoints)
            scheduler.setIncarnation(state.incarnation, now: now)
            for (name, reason) in state.disabledPlugins.sorted(by: { $0.key < $1.key }) {
                scheduler.restore(disabledPlugin: name, reason: reason, now: now)
            }
            for pause in state.pauses { scheduler.restore(pause, now: now) }
            for use in state.runtime { scheduler.restore(use, now: now) }
            for memory in state.tasks { scheduler.restore(memory, now: now) }
            // Recover these after the task memories, which contain the time since when requests are parked.
            for request in unpermitted { scheduler.restore(request, now: now, &effects) }
            for (request, run) in state.interrupted {
                requirements.formUnion(request.requirements)
                scheduler.restore(interrupted: run, of: request, now: now, &effects)
                if deliverer?.matches(request.task) == true { deliveries.append(request) }
            }
            return state
        }
        owners.facts.watch(requirements)
        owners.commits.recover(dead: kept.dead) { task in
            let catalog = dispatcher.scheduler.catalog
            return catalog.task(for: task).map { catalog.plugin(ofTask: $0).name }
        }
        owners.notifications.recover(
            kept.notifications,
            deliveries,
            zone: manifest.host.timeZone
        )
        owners.registry.crashes.recover(kept.quarantines)
        owners.alerts.monitor.recover(kept.alerts, kept.progress)
        for plugin in owners.plugins.all {
            owners.registry.holdToQuarantine(plugin)
            guard services.state.takeUnfinishedLoad(plugin.name) else { continue }
            owners.registry.quarantine(
                plugin,
                "bghost ended while it loaded `\(plugin.name)` into itself"
            )
        }
        for plugin in owners.plugins.all {
            guard let off = dispatcher.scheduler.disabledSentence(plugin: plugin.index) else {
                continue
            }
            log.write(.warning, "plugin.disabled", off, plugin: plugin.name)
        }
        guard !kept.interrupted.isEmpty else { return kept.manifest }
        log.write(
            .warning,
            "host.recovered",
            "when bghost ended, " + CountText.of(kept.interrupted.count, "run")
                + (kept.interrupted.count == 1 ? " was" : " were") + " under way and "
                + CountText.of(pending, "request") + (pending == 1 ? " was" : " were") + " pending"
        )
        return kept.manifest
    }
}
