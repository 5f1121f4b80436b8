// SPDX-License-Identifier: Apache-2.0

package import BghostCore
internal import BghostLinux
internal import BghostStore
internal import Glibc

/// What the control API asks of the host.
extension Host: HostControl {
    package func status() -> HostStatus {
        HostStatus(
            version: configuration.version,
            pid: getpid(),
            startedAt: startedAt,
            manifest: configuration.manifestPath,
            slots: slotsMax,
            isDraining: isDraining,
            tasks: taskStatuses(),
            plugins: plugins.map { plugin in
                PluginStatus(
                    name: plugin.name,
                    library: plugin.path ?? plugin.library,
                    isolation: plugin.isolation,
                    workers: plugin.carriers.values.compactMap(\.pid).sorted(),
                    problem: plugin.problem?.message,
                    switchedOff: plugin.switchedOff
                )
            }
        )
    }

    private func taskStatuses() -> [TaskStatus] {
        var identifiers = configuration.manifest.tasks.map(\.identifier.description)
        for entry in book.entries where exact[entry.identifier] == nil {
            identifiers.append(entry.identifier)
        }
        var running: [String: [RunRecord]] = [:]
        for record in activeRecords() { running[record.task, default: []].append(record) }
        return identifiers.map { identifier in
            let definition = definition(for: identifier) ?? exact[identifier] ?? 0
            let index =
                configuration.manifest.tasks.firstIndex {
                    $0.identifier.description == identifier
                } ?? definition
            let pending = book.entry(of: identifier).flatMap { book.entries[$0].pending }
            return TaskStatus(
                identifier: identifier,
                plugin: pluginOfDefinition[index].name,
                kind: configuration.manifest.tasks[index].kind,
                running: running[identifier] ?? [],
                pending: pending.map { describe($0) },
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
        var reasons: [String] = []
        let now = WallClock.now
        if let earliest = request.earliestBegin, earliest > now, !request.isSimulated {
            reasons.append("its earliest begin date")
        }
        if let index = definition(for: request.task) {
            let plugin = pluginOfDefinition[index]
            if let off = switchedOff(plugin) { reasons.append(off) }
            if let problem = plugin.problem { reasons.append(problem.message) }
            if let entry = book.entry(of: request.task), !request.isSimulated,
                let hold = book.entries[entry].hold, hold > now
            {
                let date = Timestamp.text(unixNanoseconds: hold)
                reasons.append("what its last runs owe for not stopping in time, until \(date)")
            }
            reasons += unmet(request, definition: index).map(\.sentence)
            if let entry = book.entry(of: request.task), book.entries[entry].running > 0,
                book.entries[entry].overlap == .queue
            {
                reasons.append("the run of it that is under way")
            }
        }
        if runs.count >= slotsMax { reasons.append("a free slot; all \(slotsMax) are taken") }
        return PendingRequest(
            id: request.id,
            task: request.task,
            submittedAt: request.submittedAt,
            earliestBegin: request.earliestBegin,
            latestBegin: request.latestBegin,
            priority: request.priority,
            parameters: request.parameters,
            isSimulated: request.isSimulated,
            submitter: request.submitter,
            counters: request.counters,
            waitingFor: reasons
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
        if let index = definition(for: submission.task) {
            let plugin = pluginOfDefinition[index]
            try checkSwitch(of: plugin)
            guard isUsable(plugin) else {
                throw SubmitError(
                    .unavailable,
                    plugin.problem?.message ?? "`\(plugin.name)` cannot be used"
                )
            }
        }
        try checkRequirements(submission)
        return try await take(submission, isSimulated: true)
    }

    private func checkRequirements(_ submission: Submission) throws(SubmitError) {
        guard !submission.ignoresRequirements, let index = definition(for: submission.task) else {
            return
        }
        let required = configuration.manifest.tasks[index].requirements
        let unmet = facts.map { $0.sheet.unmet(required) } ?? []
        guard unmet.isEmpty else {
            throw SubmitError(
                .immediateRunIneligible,
                "\(submission.task) cannot run now: \(unmet.map(\.sentence).joined(separator: "; "))"
            )
        }
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
        runs.slots.contains { $0?.record.request == id } || book.contains(id)
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
        let (request, definition) = try makeRequest(submission, isSimulated: true)
        let entry = entry(for: request.task, definition: definition)
        return await withCheckedContinuation { continuation in
            waiters[request.id] = [0: continuation]
            store(request, entry: entry) { [weak self] result in
                guard case .failure = result, let self else { return }
                assumeIsolated { $0.resumeWaiters(of: request.id, with: nil) }
            }
        }
    }
}
