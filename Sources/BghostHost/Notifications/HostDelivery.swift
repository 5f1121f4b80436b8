// SPDX-License-Identifier: Apache-2.0

internal import BghostCore
internal import BghostStore

/// Deliveries: requests of the task that the manifest names. A failed delivery affects no other.
extension Host {
    /// Recovers the notifications that the previous daemon stored.
    ///
    /// - Parameter requests: the requests of the delivering task.
    func recoverNotifications(_ rows: [NotificationRow], _ requests: [Request]) {
        guard let settings = configuration.manifest.notifications else {
            if !rows.isEmpty {
                let count = rows.count { $0.state == .waiting }
                log.write(
                    .warning,
                    "notification.undelivered",
                    "\(count) notifications wait, and \(configuration.manifestPath) has no"
                        + " `notifications` any more"
                )
            }
            return
        }
        let outbox = NotificationOutbox(settings)
        let lost = outbox.recover(
            rows,
            requests.filter { dispatcher.scheduler.waits($0.id) },
            zone: configuration.manifest.host.timeZone
        )
        for lost in lost {
            log.write(.warning, "notification.failed", "\(lost.fault)", plugin: lost.plugin)
        }
        notifications = outbox
    }

    /// Starts the deliveries that are due, if the outbox has changed.
    func advanceNotifications() {
        // The effects of a delivery may lead here again; the loop below sees what they change.
        guard let notifications, !isAdvancingNotifications, !isDraining else { return }
        isAdvancingNotifications = true
        defer { isAdvancingNotifications = false }
        while let effects = notifications.advance(now: wall) { carryOut(effects) }
    }

    /// Carries out the effects of the outbox.
    ///
    /// - Parameter then: called once, when the changes are stored or the store fails.
    func carryOut(
        _ effects: [OutboxEffect],
        then: (@Sendable (isolated Host, _ isStored: Bool) -> Void)? = nil
    ) {
        // Commit one transaction before any delivery, so that a digest and its notifications stay consistent.
        let changes = effects.compactMap { effect -> StoreChange? in
            if case .store(let change) = effect { .notification(change) } else { nil }
        }
        if let then {
            commitTold(changes) { host, result in
                if case .success = result { then(host, true) } else { then(host, false) }
            }
        } else if !changes.isEmpty {
            commit(changes, isAwaited: false)
        }
        for effect in effects {
            switch effect {
            case .store: break
            case .deliver(let key, let task, let parameters): deliver(key, task, parameters)
            case .withdraw(let request, let task): withdrawDelivery(request, task)
            case .note(let note): write(note)
            }
        }
    }

    /// Withdraws the request of a delivery, unless its run has started.
    private func withdrawDelivery(_ request: RunID, _ task: String) {
        if dispatcher.scheduler.pending(task)?.id == request {
            decide { scheduler, now, effects in
                // The request is pending, as checked above, so the result is irrelevant.
                _ = scheduler.withdraw(task, now: now, &effects)
            }
        } else if configuration.manifest.notifications?.task.isFamily == true,
            dispatcher.scheduler.waits(request)
        {
            // The request waits for a retry; this member of the family has no other request.
            let (withdrawn, effects) = dispatcher.propose(at: moment) { scheduler, now, effects in
                scheduler.withdrawAll(of: [task], now: now, &effects)
            }
            commit(withdrawn.changes)
            carryOut(effects)
        }
    }

    private func deliver(_ key: RunID, _ task: String, _ parameters: String) {
        do throws(SubmitError) {
            let made = try arrival(
                of: Submission(task: task, parameters: parameters),
                by: .manifest
            )
            guard let made else { return refused(key, "another request of \(task) waits", true) }
            notifications?.submitted(key, request: made.request.id)
            store(made) { [weak self] result in
                guard case .failure(let error) = result else { return }
                self?.assumeIsolated { $0.refused(key, error.message, false) }
            }
        } catch {
            refused(key, error.message, error.code == .tooManyPendingTaskRequests)
        }
    }

    private func refused(_ key: RunID, _ message: String, _ isFull: Bool) {
        guard let notifications else { return }
        carryOut(notifications.refused(key, message, isFull: isFull, now: wall))
    }

    // MARK: Results

    /// The changes of the delivered notification that are stored with the end of a run.
    func deliveryEnded(_ record: RunRecord, _ changes: [StoreChange]) -> [StoreChange] {
        guard let notifications else { return [] }
        func isRetried() -> Bool {
            changes.contains { change in
                if case .ended(let ended, .again) = change { ended.id == record.id } else { false }
            }
        }
        return storedEffects(notifications.ended(record, isRetried: isRetried(), now: wall))
    }

    /// Handles a delivery request that ended without a run.
    func deliveryGone(_ request: RunID) {
        guard let notifications else { return }
        let changes = storedEffects(notifications.withdrawn(request, now: wall))
        if !changes.isEmpty { commit(changes) }
    }

    /// Logs the notes of a delivery's end, and returns the changes to store.
    private func storedEffects(_ effects: [OutboxEffect]) -> [StoreChange] {
        effects.compactMap { effect in
            switch effect {
            case .store(let change): return .notification(change)
            case .note(let note):
                write(note)
                return nil
            // The end removes the delivery first, so it withdraws nothing; only `advance` delivers.
            case .deliver, .withdraw: return nil
            }
        }
    }

    private func write(_ note: OutboxEffect.Note) {
        let level: LogEntry.Level =
            switch note.event {
            case .delivered: .debug
            case .digest: .info
            case .failed, .expired: .warning
            }
        log.write(level, note.event.rawValue, note.message, plugin: note.plugin)
    }
}
