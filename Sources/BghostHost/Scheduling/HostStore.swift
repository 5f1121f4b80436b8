// SPDX-License-Identifier: Apache-2.0

internal import BghostCore
internal import BghostLinux
internal import BghostStore

/// The host and its store.
extension Host {
    /// Commits a transaction.
    ///
    /// - Parameters:
    ///   - isAwaited: whether somebody waits for the answer; by default whoever is told is one.
    ///   - then: called on the host's executor once the transaction is as durable as the
    ///     store makes it, or has failed, which the log says; before `commit` returns where the store
    ///     answers at once.
    func commit(
        _ changes: [StoreChange],
        isAwaited: Bool? = nil,
        then: (@Sendable (isolated Host, Result<Void, StoreError>) -> Void)? = nil
    ) {
        // While a run is under way this thread must not wait for a disk that may hang: it stops what
        // does not stop by itself.
        let mayWait = runs.count == 0 && isAwaited ?? (then != nil)
        store.commit(changes, isAwaited: mayWait) { [self] result in
            if case .failure(let error) = result {
                log.write(.error, "store.failed", error.description)
            }
            guard let then else { return }
            if reactor.isCurrent {
                assumeIsolated { then($0, result) }
            } else {
                // Awaited by nobody: whoever asked is answered by what `then` does.
                Task(executorPreference: reactor) { await self.carryOut(then, result) }
            }
        }
    }

    private func carryOut(
        _ then: @Sendable (isolated Host, Result<Void, StoreError>) -> Void,
        _ result: Result<Void, StoreError>
    ) {
        then(self, result)
    }

    /// Commits a transaction and waits until it is as durable as the store makes it.
    func committed(_ changes: [StoreChange]) async -> Result<Void, StoreError> {
        await withCheckedContinuation { continuation in
            commit(changes) { _, result in continuation.resume(returning: result) }
        }
    }

    /// Takes over what the daemon before this one left.
    func recover() throws(HostError) {
        var pending = 0
        // Of the task that delivers notifications: as many as may be under way.
        var deliveries: [Request] = []
        let deliverer = configuration.manifest.notifications?.task
        let kept = try decide { scheduler, now, effects throws(HostError) in
            let state: RecoveredState
            var unpermitted: [Request] = []
            do throws(StoreError) {
                // While the store is read it takes nothing: the effects wait.
                state = try store.recover(expecting: { scheduler.expect(requests: $0) }) {
                    request in
                    pending += 1
                    if deliverer?.matches(request.task) == true { deliveries.append(request) }
                    let isPermitted = scheduler.takeOver(ifPermitted: request, now: now, &effects)
                    if !isPermitted { unpermitted.append(request) }
                }
            } catch {
                // To go on would be to forget what was promised.
                throw .store(error)
            }
            scheduler.begin(incarnation: state.incarnation, now: now)
            for (name, reason) in state.switchedOff.sorted(by: { $0.key < $1.key }) {
                scheduler.takeOver(switchedOff: name, reason: reason, now: now)
            }
            for use in state.runtime { scheduler.takeOver(use, now: now) }
            for memory in state.tasks { scheduler.takeOver(memory, now: now) }
            // What is remembered says since when they are parked.
            for request in unpermitted { scheduler.takeOver(request, now: now, &effects) }
            for (request, run) in state.interrupted {
                scheduler.takeOver(interrupted: run, of: request, now: now, &effects)
                if deliverer?.matches(request.task) == true { deliveries.append(request) }
            }
            return state
        }
        recoverNotifications(kept.notifications, deliveries)
        for quarantine in kept.quarantines {
            charges[quarantine.plugin] = PluginCharge(quarantine: quarantine)
        }
        for plugin in plugins {
            holdToQuarantine(plugin)
            guard state.takeUnfinishedLoad(plugin.name) else { continue }
            quarantine(plugin, "bghost ended while it loaded `\(plugin.name)` into itself")
        }
        for plugin in plugins {
            guard let off = scheduler.switchedOffSentence(plugin: plugin.index) else { continue }
            log.write(.warning, "plugin.disabled", off, plugin: plugin.name)
        }
        guard !kept.interrupted.isEmpty else { return }
        log.write(
            .warning,
            "host.recovered",
            "\(kept.interrupted.count) runs were under way when bghost ended;"
                + " \(pending) requests were pending"
        )
    }
}
