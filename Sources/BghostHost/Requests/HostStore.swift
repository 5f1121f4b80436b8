// SPDX-License-Identifier: Apache-2.0

internal import BghostCore
internal import BghostLinux
internal import BghostStore

/// The host and its store.
extension Host {
    /// Commits a transaction.
    ///
    /// - Parameter then: called on the host's executor once the transaction is as durable as the
    ///   store makes it, or has failed, which the log says; before `commit` returns where the store
    ///   answers at once.
    func commit(
        _ changes: [StoreChange],
        then: (@Sendable (isolated Host, Result<Void, StoreError>) -> Void)? = nil
    ) {
        store.commit(changes) { [weak self] result in
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

    // MARK: Recovery

    /// Takes over what the daemon before this one left.
    func recoverRequests() throws(HostError) {
        let state: RecoveredState
        do {
            state = try store.recover()
        } catch {
            // To go on would be to forget what was promised.
            throw .store(error)
        }
        epoch = UInt64(state.incarnation) << 32
        takeOver(switchedOff: state.switchedOff)
        for memory in state.tasks {
            guard let index = definition(for: memory.identifier) else { continue }
            remember(memory, entry: entry(for: memory.identifier, definition: index))
        }
        for request in state.pending { takeOver(request) }
        for (request, run) in state.interrupted { endInterrupted(run, of: request) }
        armRequests()
        if !state.interrupted.isEmpty {
            log.write(
                .warning,
                "host.recovered",
                "\(state.interrupted.count) runs were under way when bghost ended;"
                    + " \(state.pending.count) requests were pending"
            )
        }
    }

    private func takeOver(_ request: Request) {
        guard let index = definition(for: request.task) else {
            log.write(
                .warning,
                "request.parked",
                "\(request.id) is kept, but the manifest does not permit its task any more",
                task: request.task
            )
            return
        }
        let entry = entry(for: request.task, definition: index)
        if let replaced = book.accept(request, entry: entry, now: WallClock.now) {
            commit([.closed(replaced.id, .replaced)])
        }
    }

    /// Ends a run whose daemon is gone, and its workers with it.
    private func endInterrupted(_ run: RunRecord, of request: Request) {
        var record = run
        record.state = .ended
        record.outcome = .lost
        record.endedAt = WallClock.now
        record.message = "bghost ended while it was under way"
        let plugin = definition(for: request.task).map { pluginOfDefinition[$0] }
        let next = next(
            request,
            after: RetryPolicy.End(
                outcome: .lost,
                wasInDaemon: plugin?.isolation == .inProcess
            )
        )
        commit([.ended(record, then: next)])
        report(record)
        if case .again(let request) = next { takeOver(request) }
    }

    // MARK: After a run

    /// What becomes of a request whose run has ended.
    func next(_ request: Request, after end: RetryPolicy.End) -> AfterRun {
        let policy = definition(for: request.task).map { configuration.manifest.tasks[$0].retry }
        return (policy ?? RetryPolicy(backoff: .none)).next(
            request,
            after: end,
            now: WallClock.now
        ) { [random] below in
            var random = random
            return UInt64.random(in: 0..<below, using: &random)
        }
    }
}
