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
        store.commit(changes, isAwaited: then != nil) { [weak self] result in
            guard let self else { return }
            if case .failure(let error) = result {
                log.write(.error, "store.failed", error.description)
            }
            guard let then else { return }
            if reactor.isCurrent {
                assumeIsolated { then($0, result) }
            } else {
                // Awaited by nobody: whoever asked is answered by what `then` does.
                Task { await self.carryOut(then, result) }
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
        var pending = 0
        var replaced: [RunID] = []
        do {
            state = try store.recover { request in
                pending += 1
                if let older = takeOver(request) { replaced.append(older) }
            }
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
        // While the store is read it takes nothing.
        for id in replaced { commit([.closed(id, .replaced)]) }
        for (request, run) in state.interrupted { endInterrupted(run, of: request) }
        armRequests()
        if !state.interrupted.isEmpty {
            log.write(
                .warning,
                "host.recovered",
                "\(state.interrupted.count) runs were under way when bghost ended;"
                    + " \(pending) requests were pending"
            )
        }
    }

    /// Puts a request into the book.
    ///
    /// - Returns: the one whose place it takes.
    private func takeOver(_ request: Request) -> RunID? {
        guard let index = definition(for: request.task) else {
            log.write(
                .warning,
                "request.parked",
                "\(request.id) is kept, but the manifest does not permit its task any more",
                task: request.task
            )
            return nil
        }
        let entry = entry(for: request.task, definition: index)
        return book.accept(request, entry: entry, now: WallClock.now)?.id
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
        if case .again(let request) = next, let replaced = takeOver(request) {
            commit([.closed(replaced, .replaced)])
        }
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
