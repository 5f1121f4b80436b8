// SPDX-License-Identifier: Apache-2.0

package import BghostCore
internal import BghostLinux
internal import BghostStore
internal import Glibc

/// The implementation of the control API.
extension Host: HostControl {
    package func status() async -> HostStatus {
        let catalog = dispatcher.scheduler.catalog
        // Families that the manifest implies are omitted; their known members are listed instead.
        let own = catalog.currentTasks.filter { catalog.tasks[$0].kind != .notificationAction }
            .map { catalog.tasks[$0].identifier.description }
        let members = dispatcher.scheduler.familyMembers(limit: HostStatus.familyMembersMax)
        // A running member is listed, however long ago its first use was.
        let running = Set(activeRecords().map(\.task)).subtracting(own)
            .subtracting(members.identifiers)
        return await status(
            listing: own + members.identifiers + running.sorted(),
            omitted: members.total - members.identifiers.count - running.count
        )
    }

    package func status(of tasks: [String]) async throws(OperatorRefusal) -> HostStatus {
        for task in tasks { try requireTask(task) }
        return await status(listing: tasks, omitted: 0)
    }

    private func status(listing identifiers: [String], omitted: Int) async -> HostStatus {
        let transfers = await transferCounts()
        var status = status(listing: identifiers, omitted: omitted, transfers)
        let names = status.tasks.map(\.identifier)
        let last = await history.ask { store in
            names.reduce(into: [:]) { last, task in last[task] = store.lastRun(task: task) }
        }
        for index in status.tasks.indices {
            guard let run = last[status.tasks[index].identifier] else { continue }
            status.tasks[index].last = run
            // It ended while the store was asked.
            status.tasks[index].running.removeAll { $0.id == run.id }
        }
        return status
    }

    /// The status without the last runs.
    private func status(
        listing identifiers: [String],
        omitted: Int,
        _ transfers: TransferCounts
    ) -> HostStatus {
        let workers = workersByPlugin
        return HostStatus(
            version: configuration.version,
            pid: getpid(),
            startedAt: startedAt,
            manifest: configuration.manifestPath,
            slots: slotsMax,
            isDraining: isDraining,
            tasks: taskStatuses(of: identifiers),
            tasksOmitted: max(0, omitted),
            plugins: plugins.filter { !$0.isRetired }.map { plugin in
                PluginStatus(
                    name: plugin.name,
                    library: plugin.path ?? plugin.library,
                    isolation: plugin.isolation,
                    workers: workers[plugin.name]?.sorted() ?? [],
                    problem: plugin.problem?.message,
                    change: plugin.change,
                    sandbox: plugin.standings,
                    switchedOff: dispatcher.scheduler.switchedOff(plugin: plugin.index),
                    quarantine: crashes.quarantine(of: plugin.name),
                    idleEnds: crashes.idleEnds(of: plugin.name, now: now),
                    deadLetters: deadLetterIndex.count(of: plugin.name),
                    deadLettersDropped: deadLetterIndex.dropped[plugin.name] ?? 0
                )
            },
            simulation: simulation,
            transfers: transfers,
            store: storeStatus,
            isLax: configuration.isLax,
            slotsInUse: dispatcher.scheduler.slotsInUse,
            deadLetters: deadLetterIndex.count
        )
    }

    /// The process IDs of all workers by plugin, including those of previous versions that still drain.
    private var workersByPlugin: [String: [Int32]] {
        var workers: [String: [Int32]] = [:]
        for executor in executors.values {
            if let pid = executor.pid { workers[executor.plugin.name, default: []].append(pid) }
        }
        return workers
    }

    /// The status of tasks; identifiers that are no longer in the manifest are left out.
    private func taskStatuses(of identifiers: [String]) -> [TaskStatus] {
        let catalog = dispatcher.scheduler.catalog
        var running: [String: [RunRecord]] = [:]
        for record in activeRecords() { running[record.task, default: []].append(record) }
        var families: [String: Int] = [:]
        for task in catalog.currentTasks where catalog.tasks[task].identifier.isFamily {
            families[catalog.tasks[task].identifier.description] = task
        }
        return identifiers.compactMap { identifier in
            guard let task = catalog.task(for: identifier) ?? families[identifier] else {
                return nil
            }
            return TaskStatus(
                identifier: identifier,
                plugin: catalog.plugin(ofTask: task).name,
                kind: catalog.tasks[task].kind,
                running: running[identifier] ?? [],
                pending: dispatcher.scheduler.pending(identifier).map { describe($0) },
                deadLetters: deadLetterIndex.tasks[identifier] ?? 0
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

    /// A pending request with its unmet conditions.
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
            waitingFor: gates.filter { !$0.isOpen }.map(\.sentence),
            outlook: StartOutlook(gates: gates, latest: request.latestBegin, at: wall)
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
        if let task = dispatcher.scheduler.catalog.task(for: submission.task) {
            await revalidate(plugins[dispatcher.scheduler.catalog.pluginOfTask[task]])
        }
        // A reload may have replaced the plugin in the meantime.
        if let task = dispatcher.scheduler.catalog.task(for: submission.task) {
            let plugin = plugins[dispatcher.scheduler.catalog.pluginOfTask[task]]
            // `take` refuses a request for a plugin that is switched off.
            if dispatcher.scheduler.switchedOff(plugin: plugin.index) == nil,
                let problem = plugin.problem,
                !problem.isPause
            {
                throw SubmitError(.unavailable, problem.message)
            }
        }
        return try await take(submission, isSimulated: true)
    }

    package func waitForRun(ofRequest id: RunID) async -> RunRecord? {
        let waiter = waiters.makeNumber()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                guard !Task.isCancelled else { return continuation.resume(returning: nil) }
                // Wait before the question is asked; otherwise the run could end unnoticed.
                waiters.add(continuation, number: waiter, for: id)
                // The task is not awaited; it ends the wait.
                Task(executorPreference: reactor) { await self.lookForEnd(ofRequest: id, waiter) }
            }
        } onCancel: {
            Task { await self.stopWaiting(waiter, ofRequest: id) }
        }
    }

    /// Answers a waiter if a run of the request has ended, or if the request is unknown.
    private func lookForEnd(ofRequest id: RunID, _ waiter: UInt64) async {
        var answer = await history.ask { $0.run(ofRequest: id) }
        if answer == nil {
            // If it runs or waits, its end answers the waiter. Otherwise it may have ended since the
            // store was asked.
            guard !isKnown(id) else { return }
            answer = await history.ask { $0.run(ofRequest: id) }
        }
        guard let ended = answer else {
            waiters.remove(waiter, for: id)?.resume(returning: nil)
            return
        }
        // The store's answers include transactions that are not on the disk yet. The answer to the empty
        // transaction follows all earlier commits.
        let isKept = await withCheckedContinuation { continuation in
            commit([]) { _, result in
                let isKept = if case .success = result { true } else { false }
                continuation.resume(returning: isKept)
            }
        }
        // A closed or damaged store still returns the runs that it has stored.
        let stored: RunRecord? = isKept ? ended : await history.ask { $0.run(ofRequest: id) }
        waiters.remove(waiter, for: id)?.resume(returning: stored)
    }

    private func stopWaiting(_ waiter: UInt64, ofRequest id: RunID) {
        waiters.remove(waiter, for: id)?.resume(returning: nil)
    }

    private func isKnown(_ id: RunID) -> Bool {
        runs.slots.contains { $0?.record.request == id } || dispatcher.scheduler.waits(id)
    }

    package func expire(run id: RunID) -> Bool {
        guard let run = runs.slots.lazy.compactMap({ $0 }).first(where: { $0.record.id == id })
        else { return false }
        run.isExpirySimulated = true
        handle(.stop(.expired), of: run.number)
        return true
    }

    package func runs(task: String?, limit: Int) async -> [RunRecord] {
        let active = activeRecords().filter { task == nil || $0.task == task }
        let ended = await history.ask { $0.runs(task: task, limit: limit) }
        return Self.merged(active, ended, limit)
    }

    package func runs(idPrefix: String, limit: Int) async -> [RunRecord] {
        let prefix = idPrefix.uppercased()
        let active = activeRecords().filter { $0.id.description.hasPrefix(prefix) }
        let ended = await history.ask { $0.runs(idPrefix: prefix, limit: limit) }
        return Self.merged(active, ended, limit)
    }

    /// Running and ended runs, the newest first; a run may have ended while the store was asked.
    private static func merged(
        _ active: [RunRecord],
        _ ended: [RunRecord],
        _ limit: Int
    ) -> [RunRecord] {
        let ids = Set(ended.map(\.id))
        let running = active.filter { !ids.contains($0.id) }.sorted { $0.id > $1.id }
        return Array((running + ended).prefix(max(0, limit)))
    }

    package func output(ofRun id: RunID) async -> String {
        let run = runs.slots.lazy.compactMap { $0 }.first { $0.record.id == id }
        if let run { return run.output.text }
        return await history.ask { $0.output(ofRun: id) }
    }

    package func logs(matching filter: LogFilter, limit: Int) -> [LogEntry] {
        log.entries(matching: filter, limit: limit)
    }

    package func followLogs(matching filter: LogFilter, limit: Int) -> AsyncStream<LogEntry> {
        log.follow(matching: filter, limit: limit)
    }

    /// Triggers a task and waits for the end of its run, in one step on the host's actor.
    package func run(_ submission: Submission) async throws(SubmitError) -> RunRecord? {
        guard let arrival = try arrival(of: submission, isSimulated: true) else { return nil }
        let id = arrival.request.id
        return await withCheckedContinuation { continuation in
            waiters.add(continuation, number: waiters.makeNumber(), for: id)
            store(arrival) { [self] result in
                guard case .failure = result else { return }
                assumeIsolated { $0.waiters.finish(id, with: nil) }
            }
        }
    }
}
