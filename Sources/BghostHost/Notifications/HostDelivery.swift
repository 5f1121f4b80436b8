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
                    "notification.nobody",
                    "\(count) notifications wait, and \(configuration.manifestPath) has no"
                        + " `notifications` any more"
                )
            }
            return
        }
        var kept = HostOutbox(settings)
        for row in rows {
            let zone = configuration.manifest.host.timeZone
            do {
                kept.outbox.takeOver(
                    row,
                    recurrence: try HostOutbox.recurrence(
                        row.content,
                        postedAt: row.postedAt,
                        zone: zone
                    )
                )
            } catch {
                // The system may lack its time zone now: deliver it once, without repetition.
                log.write(.warning, "notification.failed", "\(error)", plugin: row.plugin)
                kept.outbox.takeOver(row, recurrence: nil)
            }
        }
        for request in requests where scheduler.waits(request.id) {
            // A request that an operator submitted has no key and delivers no notification.
            let parameters = try? JSONReader.parse(request.parameters)
            guard let key = parameters?["key"]?.string else { continue }
            kept.outbox.adopt(request: request.id, task: request.task, key: key)
        }
        notifications = kept
    }

    /// Makes the outbox compare its dates; called with the scheduler's dates.
    func noteNotificationDates() { notifications?.outbox.touch() }

    /// Starts the deliveries that are due, if the outbox has changed.
    func advanceNotifications() {
        guard notifications?.outbox.isStale == true, notifications?.isAdvancing == false,
            !isDraining
        else { return }
        notifications?.isAdvancing = true
        defer { notifications?.isAdvancing = false }
        while notifications?.outbox.isStale == true {
            var effects: [OutboxEffect] = []
            notifications?.advance(now: wall, &effects)
            carryOut(effects)
        }
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
        if scheduler.pending(task)?.id == request {
            decide { scheduler, now, effects in
                // The request is pending, as checked above, so the result is irrelevant.
                _ = scheduler.withdraw(task, now: now, &effects)
            }
        } else if configuration.manifest.notifications?.task.isFamily == true,
            scheduler.waits(request)
        {
            // The request waits for a retry; this member of the family has no other request.
            var effects: [SchedulerEffect] = []
            let withdrawn = scheduler.withdrawAll(task, now: moment, &effects)
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
            notifications?.outbox.submitted(key, request: made.request.id)
            store(made) { [weak self] result in
                guard case .failure(let error) = result else { return }
                self?.assumeIsolated { $0.refused(key, error.message, false) }
            }
        } catch {
            refused(key, error.message, error.code == .tooManyPendingTaskRequests)
        }
    }

    private func refused(_ key: RunID, _ message: String, _ isFull: Bool) {
        var effects: [OutboxEffect] = []
        notifications?.outbox.refused(
            key,
            message,
            isFull: isFull,
            now: wall,
            random: Self.random,
            &effects
        )
        carryOut(effects)
    }

    // MARK: Results

    /// The changes of the delivered notification that are stored with the end of a run.
    func deliveryEnded(_ record: RunRecord, _ changes: [StoreChange]) -> [StoreChange] {
        guard notifications?.outbox.knows(request: record.request) == true else { return [] }
        let retryAfter = notifications?.retryAfter.removeValue(forKey: record.request)
        for case .ended(let ended, .again) in changes where ended.id == record.id {
            // The retry policy of the task repeats the run.
            return []
        }
        let outcome = record.outcome?.text ?? "lost"
        let end = DeliveryEnd(
            succeeded: record.outcome == .succeeded,
            message: record.message.isEmpty ? outcome : "\(outcome): \(record.message)",
            retryAfter: retryAfter
        )
        return ended(record.request, end)
    }

    /// Handles a delivery request that ended without a run.
    func deliveryGone(_ request: RunID) {
        guard notifications?.outbox.knows(request: request) == true else { return }
        let changes = ended(request, DeliveryEnd(succeeded: false, message: "it was withdrawn"))
        if !changes.isEmpty { commit(changes) }
    }

    /// Keeps the retry delay that a handler requested; the run's record does not contain it.
    func noteRetry(of request: RunID, after delay: UInt64?) {
        guard let delay, notifications?.outbox.knows(request: request) == true else { return }
        notifications?.retryAfter[request] = delay
    }

    private func ended(_ request: RunID, _ end: DeliveryEnd) -> [StoreChange] {
        var effects: [OutboxEffect] = []
        notifications?.outbox.ended(
            request: request,
            end,
            now: wall,
            random: Self.random,
            &effects
        )
        return effects.compactMap { effect in
            switch effect {
            case .store(let change): return .notification(change)
            case .note(let note):
                write(note)
                return nil
            // `ended` removes the delivery first, so it withdraws nothing; only `advance` delivers.
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

    private static func random(below limit: UInt64) -> UInt64 {
        limit == 0 ? 0 : UInt64.random(in: 0..<limit)
    }
}
