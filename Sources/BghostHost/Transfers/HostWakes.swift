// SPDX-License-Identifier: Apache-2.0

internal import BghostCore
internal import BghostStore
internal import BghostTransfer

/// Runs that tell plugins that the transfers of a session have ended.
///
/// The journal of transfers keeps what is to be told; the request, which the store keeps, only says
/// that it is. So what a run is told is looked up when it begins, and is never told from two places.
extension Host {
    /// Makes the wakes for what ended while no daemon was there, and takes back those for which there
    /// is nothing left to tell.
    func startWakes() {
        guard let table = transferTable else { return }
        table.hasStarted = true
        takeTransferEvents()
        for session in table.sessions.values.sorted(by: { $0.name < $1.name }) {
            let key = SessionKey(plugin: session.plugin, session: session.name)
            if table.ends[key] == nil { withdrawWake(key) }
        }
    }

    func takeTransferEvents() {
        guard let table = transferTable, table.hasStarted else { return }
        for event in table.desk.take() {
            switch event {
            case .sessionEnded(var end):
                end.transfers.removeAll { table.acknowledging.contains($0.request.id) }
                guard !end.transfers.isEmpty else { continue }
                table.ends[end.session] = end
                considerWake(end.session)
            case .endsExpired(let records): expired(records, table)
            }
        }
    }

    private func expired(_ records: [TransferRecord], _ table: TransferTable) {
        for record in records {
            log.write(
                .error,
                "transfer.expired",
                "nobody dealt with the end of \(record.request.id) of session"
                    + " \(record.request.session) for 7 days; it is forgotten",
                plugin: record.request.plugin
            )
            let key = record.sessionKey
            if table.remove([record.request.id], from: key) { withdrawWake(key) }
        }
    }

    // MARK: Requests

    /// Makes the request of a session's wake, if there is something to tell and none waits or runs.
    ///
    /// - Parameter delay: how long it waits at the least, nanoseconds.
    func considerWake(_ key: SessionKey, delay: Int64 = 0) {
        guard let table = transferTable, let end = table.ends[key], let first = end.transfers.first,
            let session = table.session(key.session, of: key.plugin), session.sendsLaunchEvents,
            // Whoever began one may be about to wait for it; the run's end brings this up again.
            !end.transfers.contains(where: { table.beganBy[$0.request.id] != nil })
        else { return }
        let task = session.taskIdentifier
        // Its operator has it.
        guard !store.deadLetters(task: task, limit: 1).contains(where: { $0.request.task == task })
        else { return }
        var limiter = table.limiters[key] ?? WakeLimiter()
        let limit = limiter.earliest(now: wall)
        table.limiters[key] = limiter.delay == 0 ? nil : limiter
        let least = delay > 0 ? wall.addingClamped(delay) : nil
        let earliest = [limit, least].compactMap(\.self).max()
        let arrival = decide { scheduler, now, _ in
            scheduler.wake(task, id: first.request.id, earliest: earliest, now: now)
        }
        guard let arrival else { return }
        log.write(
            limit == nil ? .info : .warning,
            limit == nil ? "session.ended" : "session.limited",
            "all \(end.transfers.count) transfers of session \(key.session) have ended"
                + (limit.map { limit in
                    "; it is told at \(Timestamp.text(unixNanoseconds: limit)), since its handler"
                        + " begins new ones whenever it is told"
                } ?? ""),
            task: task,
            plugin: key.plugin
        )
        // If it cannot be stored, which the log says, the next daemon makes it.
        store(arrival) { _ in }
    }

    /// Takes the request of a session's wake back.
    func withdrawWake(_ key: SessionKey) {
        guard let session = transferTable?.session(key.session, of: key.plugin),
            transferTable?.ends[key] == nil,
            scheduler.requests(of: session.taskIdentifier).contains(where: { !$0.isSimulated })
        else { return }
        var effects: [SchedulerEffect] = []
        let withdrawn = scheduler.withdrawAll(
            session.taskIdentifier,
            now: moment,
            &effects
        )
        commit(withdrawn.changes)
        // Behind that, as for any withdrawal.
        carryOut(effects)
    }

    // MARK: Runs

    /// What a run of a session's task is told.
    func wakeParameters(of run: ActiveRun) -> String {
        // Whoever tries it out says himself what has ended.
        guard !run.isTrial, let table = transferTable,
            let session = table.sessions.values.first(where: {
                $0.taskIdentifier == run.record.task
            })
        else { return run.parameters }
        let key = SessionKey(plugin: session.plugin, session: session.name)
        let page = TransferPage(
            of: (table.ends[key]?.transfers ?? []).map { TransferDescription($0) },
            bytesMax: Self.wakeBytesMax,
            mayCut: true
        )
        table.told[run.number] = TransferTable.Told(session: key, transfers: page.ids)
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("session", session.name)
            writer.member("transfers", raw: page.json)
            writer.member("more", page.hasMore)
        }
        return writer.text
    }

    /// Beside what else is in the frame of a start.
    private static var wakeBytesMax: Int { 96 << 10 }

    /// A run has ended: what it was told of has been dealt with, or not, and what it began is told now.
    func wakesAfter(_ run: ActiveRun, _ outcome: Outcome) {
        guard let table = transferTable else { return }
        let number = run.number
        table.renewers.remove(number)
        var keys: Set<SessionKey> = []
        var delay: Int64 = 0
        if let told = table.told.removeValue(forKey: number) {
            keys.insert(told.session)
            if outcome == .succeeded {
                acknowledge(told.transfers, of: told.session, table)
            } else {
                // One that was stopped is not begun again at once.
                delay = WakeLimiter.base
            }
        }
        if let plugin = pluginsByName[run.record.plugin] {
            table.beganBy = table.beganBy.filter { $0.value != number }
            for key in table.ends.keys where key.plugin == plugin.name { keys.insert(key) }
        }
        for key in keys.sorted(by: { $0.session < $1.session }) {
            considerWake(key, delay: delay)
        }
    }

    /// Has the engine forget transfers that have been dealt with.
    func acknowledge(_ ids: [RunID], of key: SessionKey, _ table: TransferTable) {
        guard !ids.isEmpty else { return }
        // Until the engine knows, what it tells may still have them.
        table.acknowledging.formUnion(ids)
        if table.remove(ids, from: key) { withdrawWake(key) }
        tell(table) { [weak self] engine in
            await engine.acknowledge(ids, in: key)
            await self?.acknowledged(ids)
        }
    }

    /// Tells the engine what has become of ends; `endTransfers` waits until it has heard it.
    func tell(
        _ table: TransferTable,
        _ errand: @escaping @Sendable (TransferEngine) async -> Void
    ) {
        table.lastErrand += 1
        let (number, engine) = (table.lastErrand, table.engine)
        table.errands[number] = Task { [weak self] in
            await errand(engine)
            await self?.told(number)
        }
    }

    private func told(_ errand: UInt64) { transferTable?.errands[errand] = nil }

    private func acknowledged(_ ids: [RunID]) {
        takeTransferEvents()
        transferTable?.acknowledging.subtract(ids)
    }
}
