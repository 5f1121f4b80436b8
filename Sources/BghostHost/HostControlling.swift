// SPDX-License-Identifier: Apache-2.0

package import BghostCore
internal import BghostLinux
internal import BghostStore
internal import Glibc

/// What the control API asks of the host.
extension Host: HostControl {
    package func status() async -> HostStatus {
        let transfers = await transferCounts()
        return HostStatus(
            version: configuration.version,
            pid: getpid(),
            startedAt: startedAt,
            manifest: configuration.manifestPath,
            slots: slotsMax,
            isDraining: isDraining,
            tasks: taskStatuses(),
            plugins: plugins.filter { !$0.isRetired }.map { plugin in
                PluginStatus(
                    name: plugin.name,
                    library: plugin.path ?? plugin.library,
                    isolation: plugin.isolation,
                    workers: workers(named: plugin.name),
                    problem: plugin.problem?.message,
                    sandbox: plugin.standings,
                    switchedOff: scheduler.switchedOff(plugin: plugin.index),
                    quarantine: isQuarantined(plugin) ? charges[plugin.name]?.quarantine : nil
                )
            },
            simulation: simulation,
            transfers: transfers,
            isLax: configuration.isLax
        )
    }

    /// Those of its form before the last reload that finish what they have are among them.
    private func workers(named name: String) -> [Int32] {
        plugins.lazy.filter { $0.name == name }.flatMap { $0.carriers.values.compactMap(\.pid) }
            .sorted()
    }

    private func taskStatuses() -> [TaskStatus] {
        let catalog = scheduler.catalog
        var running: [String: [RunRecord]] = [:]
        for record in activeRecords() { running[record.task, default: []].append(record) }
        // Families that the manifest implies are shown by those of their members that wait.
        let own = catalog.currentTasks.filter { catalog.tasks[$0].kind != .notificationAction }
            .map { (catalog.tasks[$0].identifier.description, $0) }
        // A member of a family that the manifest does not have any more is not in the catalog.
        let members = scheduler.familyMembers.compactMap { identifier in
            catalog.task(for: identifier).map { (identifier, $0) }
        }
        return (own + members).map { identifier, task in
            TaskStatus(
                identifier: identifier,
                plugin: catalog.plugin(ofTask: task).name,
                kind: catalog.tasks[task].kind,
                running: running[identifier] ?? [],
                pending: scheduler.pending(identifier).map { describe($0) },
                last: store.lastRun(task: identifier)
            )
        }
    }

    func activeRecords() -> [RunRecord] {
        runs.slots.compactMap { run in
            guard let run else { return nil }
            var record = run.record
            record.usage.outputBytes = run.outputBytes
            record.duration = run.machine.beganAt.map { Duration(nanoseconds: now &- $0) }
            return record
        }
    }

    /// A pending request, with what stands in its way.
    func describe(_ request: Request) -> PendingRequest {
        describe(request, gates(of: request, now: moment))
    }

    func describe(_ request: Request, _ gates: [Gate]) -> PendingRequest {
        PendingRequest(
            id: request.id,
            task: request.task,
            submittedAt: request.submittedAt,
            earliestBegin: request.earliestBegin,
            latestBegin: request.latestBegin,
            tolerance: request.tolerance,
            priority: request.priority,
            parameters: request.parameters,
            isSimulated: request.isSimulated,
            submitter: request.submitter,
            counters: request.counters,
            waitingFor: gates.filter { !$0.isOpen }.map(\.sentence)
        )
    }

    package func submit(_ submission: Submission) async throws(SubmitError) -> PendingRequest {
        guard !submission.ignoresRequirements else {
            throw SubmitError(
                .badParameters,
                "only a triggered run can ignore what its task requires; use `bghost trigger"
                    + " --ignore-requirements`"
            )
        }
        return try await take(submission, isSimulated: false)
    }

    package func trigger(_ submission: Submission) async throws(SubmitError) -> PendingRequest {
        if let task = scheduler.catalog.task(for: submission.task) {
            let plugin = plugins[scheduler.catalog.pluginOfTask[task]]
            lookAgain(at: plugin)
            // One that is switched off is refused as such.
            if scheduler.switchedOff(plugin: plugin.index) == nil, let problem = plugin.problem,
                !problem.isPause
            {
                throw SubmitError(.unavailable, problem.message)
            }
        }
        return try await take(submission, isSimulated: true)
    }

    package func waitForRun(ofRequest id: RunID) async -> RunRecord? {
        lastWaiter += 1
        let waiter = lastWaiter
        return await withTaskCancellationHandler {
            // The look and the wait are one step: an `await` between them gives the thread away, and
            // the run may end meanwhile.
            await withCheckedContinuation { continuation in
                if let ended = store.run(ofRequest: id) {
                    continuation.resume(returning: ended)
                } else if Task.isCancelled || !isKnown(id) {
                    continuation.resume(returning: nil)
                } else {
                    waiters[id, default: [:]][waiter] = continuation
                }
            }
        } onCancel: {
            Task { await self.stopWaiting(waiter, ofRequest: id) }
        }
    }

    private func stopWaiting(_ waiter: UInt64, ofRequest id: RunID) {
        guard let continuation = waiters[id]?.removeValue(forKey: waiter) else { return }
        if waiters[id]?.isEmpty == true { waiters[id] = nil }
        continuation.resume(returning: nil)
    }

    private func isKnown(_ id: RunID) -> Bool {
        runs.slots.contains { $0?.record.request == id } || scheduler.waits(id)
    }

    package func expire(run id: RunID) -> Bool {
        guard let run = runs.slots.lazy.compactMap({ $0 }).first(where: { $0.record.id == id })
        else { return false }
        run.isExpirySimulated = true
        handle(.stop(.expired), of: run.number)
        return true
    }

    package func runs(task: String?, limit: Int) -> [RunRecord] {
        let active = activeRecords().filter { task == nil || $0.task == task }
            .sorted { $0.id > $1.id }
        return Array((active + store.runs(task: task, limit: limit)).prefix(max(0, limit)))
    }

    package func runs(idPrefix: String, limit: Int) -> [RunRecord] {
        let prefix = idPrefix.uppercased()
        let active = activeRecords().filter { $0.id.description.hasPrefix(prefix) }
            .sorted { $0.id > $1.id }
        return Array((active + store.runs(idPrefix: prefix, limit: limit)).prefix(max(0, limit)))
    }

    package func logs(matching filter: LogFilter, limit: Int) -> [LogEntry] {
        log.entries(matching: filter, limit: limit)
    }

    package func followLogs(matching filter: LogFilter, limit: Int) -> AsyncStream<LogEntry> {
        log.follow(matching: filter, limit: limit)
    }

    /// Triggers a task and waits for the end of its run: both in one step, for those who are on the
    /// host's executor already.
    package func run(_ submission: Submission) async throws(SubmitError) -> RunRecord? {
        guard let arrival = try arrival(of: submission, isSimulated: true) else { return nil }
        let id = arrival.request.id
        return await withCheckedContinuation { continuation in
            waiters[id] = [0: continuation]
            store(arrival) { [self] result in
                guard case .failure = result else { return }
                assumeIsolated { $0.resumeWaiters(of: id, with: nil) }
            }
        }
    }
}
