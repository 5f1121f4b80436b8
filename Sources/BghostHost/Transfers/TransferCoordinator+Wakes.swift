// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostDispatch
internal import BghostModel
internal import BghostPolicy
internal import BghostServices
internal import BghostTransferRules
internal import BghostStore
internal import BghostTransfer
internal import BghostTransferBridge

/// Wakes: runs that notify plugins that the transfers of a session have ended.
///
/// The journal of transfers contains the ends; the stored request only states that there are some.
/// The host reads the ends when the run starts, so there is one source only.
extension TransferCoordinator {
    /// Creates the wakes for transfers that ended without a daemon, and withdraws wakes without ends.
    func startWakes() {
        guard let table else { return }
        table.hasStarted = true
        takeEvents()
        for session in table.sessions.values.sorted(by: { $0.name < $1.name }) {
            let key = SessionKey(plugin: session.plugin, session: session.name)
            if table.ends[key] == nil { withdrawWake(key) }
        }
    }

    func takeEvents() {
        guard let table, table.hasStarted else { return }
        for event in table.bridge.take() {
            switch event {
            case .sessionEnded(let end):
                let transfers = end.transfers.filter {
                    !table.acknowledging.contains($0.request.id)
                }
                guard !transfers.isEmpty else { continue }
                table.add(transfers, to: end.session)
                submitWakeIfComplete(end.session)
            case .endsExpired(let records): expired(records, table)
            case .journalChanged: onJournalChange()
            }
        }
    }

    private func expired(_ records: [TransferRecord], _ table: TransferTable) {
        for record in records {
            log.write(
                .error,
                "transfer.expired",
                record.status.isKept
                    ? "the end of \(record.request.id) was kept for 7 days, and the plugin did not make"
                        + " session \(record.request.session); it is forgotten"
                    : "no run took the end of \(record.request.id) of session"
                        + " \(record.request.session) for 7 days; it is forgotten",
                plugin: record.request.plugin
            )
            let key = record.sessionKey
            if table.remove([record.request.id], from: key) { withdrawWake(key) }
        }
    }

    // MARK: Requests

    /// Creates the request of a session's wake if there are ends to report.
    ///
    /// It creates none while a request of the session is pending or running.
    ///
    /// - Parameter delay: the minimum delay, in nanoseconds.
    func submitWakeIfComplete(_ key: SessionKey, delay: Int64 = 0) {
        guard let table, let end = table.ends[key], let first = end.first,
            let session = table.session(key.session, of: key.plugin), session.sendsLaunchEvents,
            // The run that created one of the transfers may still wait for it; its end calls this again.
            !table.begun.mayBeAwaited(anyOf: end)
        else { return }
        let task = session.taskIdentifier
        // A dead request of the session is left to the operator.
        guard commits.deadLetters.tasks[task] == nil else { return }
        var limiter = table.limiters[key] ?? WakeLimiter(base: wakePause)
        let limit = limiter.earliest(now: clock.uptime).map {
            clock.wall.addingClamped($0.subtractingClamped(clock.uptime))
        }
        table.limiters[key] = limiter.delay == 0 ? nil : limiter
        let least = delay > 0 ? clock.wall.addingClamped(delay) : nil
        let earliest = [limit, least].compactMap(\.self).max()
        let accepted = dispatcher.decide { scheduler, now, _ in
            scheduler.wake(task, id: first, earliest: earliest, now: now)
        }
        guard let accepted else { return }
        log.write(
            limit == nil ? .info : .warning,
            limit == nil ? "session.ended" : "session.limited",
            "session \(key.session) has ended, with "
                + CountText.of(end.count, "transfer")
                + (limit.map { limit in
                    "; it is woken at \(Timestamp.text(unixNanoseconds: limit)), since its handler"
                        + " begins new ones at every wake"
                } ?? ""),
            task: task,
            plugin: key.plugin
        )
        // The transfers have ended, and no later event would submit it again.
        intake.store(accepted, onFailure: .retry)
    }

    /// Withdraws the request of a session's wake.
    func withdrawWake(_ key: SessionKey) {
        guard let session = table?.session(key.session, of: key.plugin), table?.ends[key] == nil
        else { return }
        // An operator's request would be withdrawn with it. The wake then begins, and ends without its handler.
        let requests = dispatcher.scheduler.requests(of: session.taskIdentifier)
        guard !requests.isEmpty, !requests.contains(where: \.isManual) else { return }
        let (withdrawn, effects) = dispatcher.propose { scheduler, now, effects in
            scheduler.withdrawAll(of: [session.taskIdentifier], now: now, &effects)
        }
        commits.commit(withdrawn.changes)
        // Carry out the effects after the commit, as for any withdrawal.
        dispatcher.execute(effects)
    }

    // MARK: Runs

    /// Whether a wake that is about to start has no ends to report.
    ///
    /// Another run can take them while the request of the wake is stored or its worker loads the
    /// plugin; until then there is nothing to withdraw.
    func hasNothingToReport(to run: ActiveRun) -> Bool {
        guard !run.isManual, let table,
            let session = table.sessions.values.first(where: {
                $0.taskIdentifier == run.record.task
            })
        else { return false }
        return table.ends[SessionKey(plugin: session.plugin, session: session.name)] == nil
    }

    /// The parameters of a run of a session's task.
    func wakeParameters(of run: ActiveRun) -> String {
        // A manual run uses the operator's parameters.
        guard !run.isManual, let table = table,
            let session = table.sessions.values.first(where: {
                $0.taskIdentifier == run.record.task
            })
        else { return run.parameters }
        let key = SessionKey(plugin: session.plugin, session: session.name)
        // As many as the page has room for.
        let ended = table.ends[key] ?? EndedTransfers()
        let page = TransferPage(
            of: ended.transfers.lazy.map { TransferDescription($0) },
            bytesMax: Self.wakeBytesMax,
            mayCut: true
        )
        table.runningWakes[run.number] = TransferTable.RunningWake(
            session: key,
            transfers: page.ids
        )
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("session", session.name)
            writer.member("transfers", raw: page.json)
            writer.member("more", page.hasMore)
        }
        return writer.text
    }

    /// The maximum size of the transfers in a start frame, in bytes; the frame has other fields, too.
    private static var wakeBytesMax: Int { 96 << 10 }

    /// Whether a transfer continues without a run that was cancelled and ends now.
    func haveContinued(without run: UInt64) -> Bool {
        table?.begun.continues(without: run) ?? false
    }

    /// Handles the end of a run: settles the ends that it received, and considers wakes for its transfers.
    func ended(_ run: ActiveRun, _ outcome: Outcome) {
        guard let table else { return }
        let number = run.number
        table.renewers.remove(number)
        releaseClaims(by: number, table)
        var keys: Set<SessionKey> = []
        var delay: Int64 = 0
        if let wake = table.runningWakes.removeValue(forKey: number) {
            keys.insert(wake.session)
            if outcome == .succeeded {
                let taken = wake.transfers.filter { !wake.unclaimed.contains($0) }
                acknowledge(taken, of: wake.session, table)
                keepUnclaimed(wake.unclaimed, of: wake.session, table)
            } else {
                // Do not restart a failed or cancelled wake at once.
                delay = wakePause
                // The scheduler has just queued its retry, which may have nothing to tell any more: another
                // run can acknowledge the ends while the wake runs.
                withdrawWake(wake.session)
            }
        }
        if hasPlugin(run.record.plugin) {
            table.begun.ended(number)
            for key in table.ends.keys where key.plugin == run.record.plugin { keys.insert(key) }
        }
        for key in keys.sorted(by: { $0.session < $1.session }) {
            submitWakeIfComplete(key, delay: delay)
        }
    }

    /// Makes the engine remove ended transfers that a run has handled.
    func acknowledge(_ ids: [RunID], of key: SessionKey, _ table: TransferTable) {
        guard !ids.isEmpty else { return }
        for id in ids { table.begun.finished(id) }
        // Events that the engine sent before it processed this may still contain them.
        table.acknowledging.formUnion(ids)
        if table.remove(ids, from: key) { withdrawWake(key) }
        send(to: table) { [reference] engine in
            await engine.acknowledge(ids, in: key)
            reference.perform { $0.acknowledged(ids) }
        }
    }

    /// Sends the engine an acknowledgement of ends; ``end()`` waits until it is processed.
    ///
    /// Tasks reach the engine in any order, so each awaits the one before it, and what a plugin or an
    /// operator asks awaits the last one. Otherwise a run could receive an end that an earlier run
    /// has acknowledged.
    func send(
        to table: TransferTable,
        _ message: @escaping @Sendable (TransferEngine) async -> Void
    ) {
        table.lastMessage += 1
        let (number, engine, previous) = (table.lastMessage, table.engine, table.lastDelivery)
        let delivery = Task { [reference] in
            await previous?.value
            await message(engine)
            reference.perform { $0.delivered(number) }
        }
        table.pendingMessages[number] = delivery
        table.lastDelivery = delivery
    }

    private func delivered(_ message: UInt64) {
        guard let table else { return }
        table.pendingMessages[message] = nil
        if message == table.lastMessage { table.lastDelivery = nil }
    }

    func acknowledged(_ ids: [RunID]) {
        takeEvents()
        table?.acknowledging.subtract(ids)
    }
}
