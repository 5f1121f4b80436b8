// SPDX-License-Identifier: Apache-2.0

internal import BghostCore
internal import BghostLinux
internal import BghostStore

/// Transactions of the host.
extension Host {
    /// Commits changes that have already taken effect; the store retries until they are stored.
    ///
    /// - Parameters:
    ///   - isAwaited: whether a caller waits for the result; by default, if `then` is given.
    ///   - onFailure: what the store does if it cannot store the changes now. Changes that may be
    ///     refused must not have taken effect yet.
    ///   - then: called on the host's actor when the transaction is as durable as the store makes
    ///     it, or has failed permanently. If the store answers at once, it is called before
    ///     `commit` returns.
    func commit(
        _ changes: [StoreChange],
        isAwaited: Bool? = nil,
        onFailure: CommitFailurePolicy = .retry,
        then: (@Sendable (isolated Host, Result<Void, StoreError>) -> Void)? = nil
    ) {
        // With running runs, this thread must not wait for a disk that may hang, because it
        // enforces the limits of the runs.
        let mayWait = runs.count == 0 && isAwaited ?? (then != nil)
        // Changes that may be refused have not taken effect; `commitOrRefuse` updates the index later.
        let dropped = onFailure == .refuse ? [] : takeDeadLetters(changes)
        let changes = dropped.isEmpty ? changes : changes + dropped
        store.commit(changes, isAwaited: mayWait, onFailure: onFailure) { [self] result in
            if case .failure(let error) = result { noteFailure(error, onFailure) }
            guard let then else { return }
            if reactor.isCurrent {
                assumeIsolated { then($0, result) }
            } else {
                // The task is not awaited; `then` answers the caller.
                Task(executorPreference: reactor) { await self.carryOut(then, result) }
            }
        }
    }

    /// Commits changes that are refused if they cannot be stored now.
    func commitOrRefuse(
        _ changes: [StoreChange],
        then: @escaping @Sendable (isolated Host, Result<Void, StoreError>) -> Void
    ) {
        commit(changes, onFailure: .refuse) { host, result in
            if case .success = result {
                for change in changes { host.deadLetterIndex.follow(removal: change) }
            }
            then(host, result)
        }
    }

    /// Logs a failed transaction; for lost changes this is the only report.
    private nonisolated func noteFailure(_ error: StoreError, _ policy: CommitFailurePolicy) {
        log.write(
            policy == .retry ? .error : .warning,
            "store.failed",
            policy == .retry ? "a change is lost: \(error.description)" : error.description
        )
    }

    private func carryOut(
        _ then: @Sendable (isolated Host, Result<Void, StoreError>) -> Void,
        _ result: Result<Void, StoreError>
    ) {
        then(self, result)
    }

    /// Updates the index of dead letters.
    ///
    /// - Returns: changes that discard excess dead letters; store them in the same transaction.
    private func takeDeadLetters(_ changes: [StoreChange]) -> [StoreChange] {
        var discarded: [StoreChange] = []
        for change in changes {
            guard let (id, plugin) = deadLetterIndex.take(change) else { continue }
            discarded.append(.discarded(id))
            log.write(
                .warning,
                "request.dropped",
                "`\(plugin)` has \(deadLetterIndex.limit) dead letters, the most that are kept:"
                    + " dropped the oldest, \(id);"
                    + " \(deadLetterIndex.dropped[plugin] ?? 0) dropped since the start",
                plugin: plugin
            )
        }
        return discarded
    }

    /// Commits changes that may be refused, and waits for the result.
    func committedOrRefused(_ changes: [StoreChange]) async -> Result<Void, StoreError> {
        await withCheckedContinuation { continuation in
            commitOrRefuse(changes) { _, result in continuation.resume(returning: result) }
        }
    }

    /// Commits changes that have taken effect, and waits until they are stored or the store fails.
    ///
    /// After a failure the store continues to retry without a waiting caller.
    func committed(_ changes: [StoreChange]) async -> Result<Void, StoreError> {
        await withCheckedContinuation { continuation in
            commitTold(changes) { _, result in continuation.resume(returning: result) }
        }
    }

    /// Recovers the state that the previous daemon stored.
    func recover() throws(HostError) {
        var pending = 0
        var requirements: RequirementSet = []
        // Requests of the task that delivers notifications; few, because concurrent deliveries are limited.
        var deliveries: [Request] = []
        let deliverer = configuration.manifest.notifications?.task
        let kept = try decide { scheduler, now, effects throws(HostError) in
            let state: RecoveredState
            var unpermitted: [Request] = []
            do throws(StoreError) {
                // The store accepts no transactions while it is being read, so defer the effects.
                state = try store.recover(expecting: { scheduler.expect(requests: $0) }) {
                    request in
                    pending += 1
                    requirements.formUnion(request.requirements)
                    if deliverer?.matches(request.task) == true { deliveries.append(request) }
                    let isPermitted = scheduler.takeOver(ifPermitted: request, now: now, &effects)
                    if !isPermitted { unpermitted.append(request) }
                }
            } catch {
                // Do not continue without the stored requests; that would lose accepted work.
                throw .store(error)
            }
            scheduler.begin(incarnation: state.incarnation, now: now)
            for (name, reason) in state.switchedOff.sorted(by: { $0.key < $1.key }) {
                scheduler.takeOver(switchedOff: name, reason: reason, now: now)
            }
            for use in state.runtime { scheduler.takeOver(use, now: now) }
            for memory in state.tasks { scheduler.takeOver(memory, now: now) }
            // Recover these after the task memories, which contain the time since when requests are parked.
            for request in unpermitted { scheduler.takeOver(request, now: now, &effects) }
            for (request, run) in state.interrupted {
                requirements.formUnion(request.requirements)
                scheduler.takeOver(interrupted: run, of: request, now: now, &effects)
                if deliverer?.matches(request.task) == true { deliveries.append(request) }
            }
            return state
        }
        watch(requirements)
        recover(dead: kept.dead)
        recoverNotifications(kept.notifications, deliveries)
        crashes.recover(kept.quarantines)
        for plugin in plugins {
            holdToQuarantine(plugin)
            guard state.takeUnfinishedLoad(plugin.name) else { continue }
            quarantine(plugin, "bghost ended while it loaded `\(plugin.name)` into itself")
        }
        for plugin in plugins {
            guard let off = dispatcher.scheduler.switchedOffSentence(plugin: plugin.index) else {
                continue
            }
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

    /// Recovers the dead letters; excess ones of a plugin are discarded, oldest first.
    private func recover(dead letters: [(request: RunID, task: String, diedAt: Int64)]) {
        var discarded: [StoreChange] = []
        for letter in letters {
            let catalog = dispatcher.scheduler.catalog
            let plugin = catalog.task(for: letter.task).map { catalog.plugin(ofTask: $0).name }
            let oldest = deadLetterIndex.add(
                letter.request,
                plugin: plugin ?? "",
                task: letter.task
            )
            if let oldest {
                discarded.append(.discarded(oldest))
            }
        }
        guard !discarded.isEmpty else { return }
        log.write(
            .warning,
            "request.dropped",
            "\(discarded.count) dead letters are dropped, the oldest of plugins with more than"
                + " \(deadLetterIndex.limit)"
        )
        commit(discarded)
    }
}
