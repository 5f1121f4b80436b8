// SPDX-License-Identifier: Apache-2.0

internal import BghostCore
internal import BghostStore

/// Deliveries are requests of the task that the manifest names; a failure of one is nobody else's.
extension Host {
    /// Takes over what the daemon before this one left.
    ///
    /// - Parameter requests: those of the task that delivers.
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
                // Its zone may be gone from the system: it comes this time, and not again.
                log.write(.warning, "notification.failed", "\(error)", plugin: row.plugin)
                kept.outbox.takeOver(row, recurrence: nil)
            }
        }
        for request in requests where scheduler.waits(request.id) {
            let parameters = try? JSONReader.parse(request.parameters)
            guard let key = parameters?["key"]?.string else { continue }
            kept.outbox.adopt(request: request.id, task: request.task, key: key)
        }
        notifications = kept
    }

    /// Has the outbox look at its dates, once the scheduler's are looked at.
    func noteNotificationDates() { notifications?.outbox.touch() }

    /// Begins the deliveries that are due, if anything has happened to them.
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

    /// Carries out what the outbox wants.
    ///
    /// - Parameter then: told once what is to be stored is, or is not.
    func carryOut(
        _ effects: [OutboxEffect],
        then: (@Sendable (isolated Host, _ isStored: Bool) -> Void)? = nil
    ) {
        // As one transaction, before any delivery: a digest and what it tells of belong together.
        let changes = effects.compactMap { effect -> StoreChange? in
            if case .store(let change) = effect { .notification(change) } else { nil }
        }
        if !changes.isEmpty || then != nil {
            commit(changes, isAwaited: then != nil) { host, result in
                guard let then else { return }
                if case .success = result { then(host, true) } else { then(host, false) }
            }
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

    /// Withdraws the request of a delivery, unless its run has begun.
    private func withdrawDelivery(_ request: RunID, _ task: String) {
        if scheduler.pending(task)?.id == request {
            decide { scheduler, now, effects in
                _ = scheduler.withdraw(task, now: now, &effects)
            }
        } else if configuration.manifest.notifications?.task.isFamily == true,
            scheduler.waits(request)
        {
            // One that is repeated; this member of the family is about nothing else.
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

    // MARK: Ends

    /// What the end of a run means to the notification that it delivered, to be stored with it.
    func deliveryEnded(_ record: RunRecord, _ changes: [StoreChange]) -> [StoreChange] {
        guard notifications?.outbox.knows(request: record.request) == true else { return [] }
        let retryAfter = notifications?.retryAfter.removeValue(forKey: record.request)
        for case .ended(let ended, .again) in changes where ended.id == record.id {
            // The task's own policy tries it again.
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

    /// A request has come to its end without a run.
    func deliveryGone(_ request: RunID) {
        guard notifications?.outbox.knows(request: request) == true else { return }
        let changes = ended(request, DeliveryEnd(succeeded: false, message: "it was withdrawn"))
        if !changes.isEmpty { commit(changes) }
    }

    /// Keeps what a handler said about its next attempt, which no record has.
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
            // Only what is forgotten is withdrawn, and only `advance` delivers.
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
