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
        store.commit(changes, isAwaited: mayWait) { [weak self] result in
            guard let self else { return }
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
        let state = try decide { scheduler, now, effects throws(HostError) in
            let state: RecoveredState
            var unpermitted: [Request] = []
            do throws(StoreError) {
                // While the store is read it takes nothing: the effects wait.
                state = try store.recover { request in
                    pending += 1
                    guard scheduler.catalog.task(for: request.task) != nil else {
                        return unpermitted.append(request)
                    }
                    scheduler.takeOver(request, now: now, &effects)
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
            }
            return state
        }
        for plugin in plugins {
            guard let off = scheduler.switchedOffSentence(plugin: plugin.index) else { continue }
            log.write(.warning, "plugin.disabled", off, plugin: plugin.name)
        }
        guard !state.interrupted.isEmpty else { return }
        log.write(
            .warning,
            "host.recovered",
            "\(state.interrupted.count) runs were under way when bghost ended;"
                + " \(pending) requests were pending"
        )
    }
}
