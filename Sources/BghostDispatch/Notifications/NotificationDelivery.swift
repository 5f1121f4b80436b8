// SPDX-License-Identifier: Apache-2.0

package import BghostBase
package import BghostCalendar
package import BghostMetrics
package import BghostModel
package import BghostNotify
package import BghostPolicy
package import BghostServices
internal import BghostStore

/// Stores notifications, and delivers them by requests of the task that the manifest names.
///
/// A failed delivery affects no other. The host owns it. Use it on the reactor's thread only; it does not
/// block, but for what ``NotificationOutbox`` says.
package final class NotificationDelivery {
    package typealias Posted = (Result<NotificationRow, NotificationFault>) -> Void

    /// The notifications that are not delivered or may still be answered; `nil` if no task delivers them.
    package private(set) var outbox: NotificationOutbox?
    /// What became of notifications since the start of the daemon.
    package private(set) var statistics = NotificationStatistics()
    private let settings: NotificationSettings?
    private let manifestPath: String
    private let dispatcher: Dispatcher
    private let commits: CommitQueue
    private let intake: RequestIntake
    private let dates: DateWatch
    private let clock: DaemonClock
    private let log: HostLog
    /// Whether the effects of due notifications are being executed.
    private var isAdvancing = false

    /// - Parameters:
    ///   - settings: the manifest's `notifications`.
    ///   - manifestPath: for messages.
    package init(
        _ settings: NotificationSettings?,
        manifestPath: String,
        _ dispatcher: Dispatcher,
        _ commits: CommitQueue,
        _ intake: RequestIntake,
        _ dates: DateWatch,
        _ clock: DaemonClock,
        log: HostLog
    ) {
        self.settings = settings
        self.manifestPath = manifestPath
        self.dispatcher = dispatcher
        self.commits = commits
        self.intake = intake
        self.dates = dates
        self.clock = clock
        self.log = log
    }

    /// Recovers the notifications that the previous daemon stored; nothing is delivered before.
    ///
    /// - Parameters:
    ///   - requests: the requests of the delivering task.
    ///   - zone: the zone of notifications that name none.
    package func recover(_ rows: [NotificationRow], _ requests: [Request], zone: ZoneTable) {
        guard let settings else {
            if !rows.isEmpty {
                let count = rows.count { $0.state == .waiting }
                log.write(
                    .warning,
                    "notification.undelivered",
                    CountText.of(count, "notification") + (count == 1 ? " waits" : " wait")
                        + ", and \(manifestPath) has no `notifications` any more"
                )
            }
            return
        }
        let outbox = NotificationOutbox(settings)
        let lost = outbox.recover(
            rows,
            requests.filter { dispatcher.scheduler.waits($0.id, of: $0.task) },
            zone: zone,
            now: followClock(outbox)
        )
        for lost in lost {
            log.write(.warning, "notification.failed", "\(lost.fault)", plugin: lost.plugin)
        }
        self.outbox = outbox
    }

    // MARK: Posting

    /// Accepts a notification, and calls `then` when it is stored or refused.
    ///
    /// - Parameter zone: its zone, if it names none.
    package func post(
        _ content: NotificationContent,
        of plugin: String,
        zone: ZoneTable,
        then: @escaping Posted
    ) throws(NotificationFault) {
        guard let outbox else {
            throw NotificationFault(.bad, "the manifest has no `notifications`")
        }
        let accepted = try outbox.accept(content, of: plugin, zone: zone, now: followClock(outbox))
        commits.commitOrRefuse([.notification(.kept(accepted.row))]) { [unowned self] result in
            let isStored = if case .success = result { true } else { false }
            let effects = outbox.stored(accepted, isStored: isStored, now: followClock(outbox))
            if isStored { statistics.add(.posted) }
            // Answer first, because the next effects may send the notification to a worker.
            then(
                isStored
                    ? .success(accepted.row)
                    : .failure(NotificationFault(.store, "it could not be stored"))
            )
            execute(effects)
            advance()
            dates.arm()
        }
    }

    /// Withdraws a notification that is not delivered yet.
    ///
    /// - Parameter then: called when the withdrawal is stored or the store fails.
    /// - Returns: `false` if there is no such notification; `then` is not called.
    package func withdraw(
        _ id: String,
        of plugin: String,
        then: @escaping (_ isStored: Bool) -> Void
    ) -> Bool {
        guard let effects = outbox?.withdraw(id, of: plugin) else { return false }
        execute(effects, then: then)
        return true
    }

    // MARK: Deliveries

    /// The next date on which a delivery is due, Unix nanoseconds; `nil` for none.
    package var nextDate: Int64? { outbox?.nextDate }

    /// Makes the next ``advance()`` compare all dates with the clock.
    package func compareDates() { outbox?.compareDates() }

    /// Starts the deliveries that are due, if the outbox has changed.
    package func advance() {
        // The effects of a delivery may lead here again; the loop below sees what they change.
        guard let outbox, !isAdvancing, !dispatcher.scheduler.isDraining else { return }
        isAdvancing = true
        defer { isAdvancing = false }
        while let effects = outbox.isStale ? outbox.advance(now: followClock(outbox)) : nil {
            execute(effects)
        }
    }

    /// Lets the outbox follow the wall clock, and stores what it has moved.
    ///
    /// The next event would move what an event before has counted from a clock that was set already.
    ///
    /// - Returns: the wall clock, Unix nanoseconds.
    private func followClock(_ outbox: NotificationOutbox) -> Int64 {
        clock.read()
        let now = clock.moment
        execute(outbox.followClock(now))
        return now.unix
    }

    /// Carries out the effects of the outbox.
    ///
    /// - Parameter then: called once, when the changes are stored or the store fails.
    private func execute(
        _ effects: [OutboxEffect],
        then: ((_ isStored: Bool) -> Void)? = nil
    ) {
        // Commit one transaction before any delivery, so that a digest and its notifications stay consistent.
        let changes = effects.compactMap { effect -> StoreChange? in
            if case .store(let change) = effect { .notification(change) } else { nil }
        }
        if let then {
            commits.commitOrReport(changes) { result in
                if case .success = result { then(true) } else { then(false) }
            }
        } else if !changes.isEmpty {
            commits.commit(changes, isAwaited: false)
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
            dispatcher.decide { scheduler, now, effects in
                // The request is pending, as checked above, so the result is irrelevant.
                _ = scheduler.withdraw(task, now: now, &effects)
            }
        } else if settings?.task.isFamily == true, dispatcher.scheduler.waits(request, of: task) {
            // The request waits for a retry; this member of the family has no other request.
            let (withdrawn, effects) = dispatcher.propose { scheduler, now, effects in
                scheduler.withdrawAll(of: [task], now: now, &effects)
            }
            commits.commit(withdrawn.changes)
            dispatcher.execute(effects)
        }
    }

    private func deliver(_ key: RunID, _ task: String, _ parameters: String) {
        do throws(SubmitError) {
            let submission = Submission(task: task, parameters: parameters)
            guard let made = try intake.check(submission, by: .manifest) else {
                return refused(key, "another request of \(task) waits", isFull: true)
            }
            outbox?.submitted(key, request: made.request.id)
            intake.store(made) { [unowned self] result in
                guard case .failure(let error) = result else { return }
                refused(key, error.message, isFull: false)
            }
        } catch {
            refused(key, error.message, isFull: error.code == .tooManyPendingTaskRequests)
        }
    }

    private func refused(_ key: RunID, _ message: String, isFull: Bool) {
        guard let outbox else { return }
        execute(outbox.refused(key, message, isFull: isFull, now: followClock(outbox)))
    }

    // MARK: Results

    /// Keeps the delay, nanoseconds, that a handler requested before the next attempt of a delivery.
    package func noteRetry(of request: RunID, after delay: UInt64?) {
        outbox?.noteRetry(of: request, after: delay)
    }

    /// The changes of the delivered notification that are stored with the end of a run.
    ///
    /// - Parameter changes: the changes of the end.
    package func ended(_ record: RunRecord, _ changes: [StoreChange]) -> [StoreChange] {
        guard let outbox, outbox.knows(record.request) else { return [] }
        func isRetried() -> Bool {
            changes.contains { change in
                if case .runEnded(let ended, .again) = change {
                    ended.id == record.id
                } else {
                    false
                }
            }
        }
        return storedEffects(outbox.ended(record, isRetried: isRetried(), now: followClock(outbox)))
    }

    /// Handles a request that ended without a run.
    package func withdrawn(_ request: RunID) {
        guard let outbox, outbox.knows(request) else { return }
        let changes = storedEffects(outbox.withdrawn(request, now: followClock(outbox)))
        if !changes.isEmpty { commits.commit(changes) }
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

    /// Logs a note, and counts it.
    private func write(_ note: OutboxEffect.Note) {
        let (level, event): (LogEntry.Level, NotificationStatistics.Event?) =
            switch note.event {
            case .delivered: (.debug, .delivered)
            // A digest is delivered itself, and counts then.
            case .digest: (.info, nil)
            case .failed: (.warning, .failed)
            case .expired: (.warning, .expired)
            }
        if let event { statistics.add(event) }
        log.write(level, note.event.rawValue, note.message, plugin: note.plugin)
    }
}
