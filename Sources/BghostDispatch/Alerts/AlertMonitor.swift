// SPDX-License-Identifier: Apache-2.0

internal import BghostAPI
internal import BghostAlerts
package import BghostBase
package import BghostCalendar
package import BghostModel
internal import BghostNotify
internal import BghostPolicy
package import BghostServices

/// Watches what an operator wants to know of, and tells the receivers of alerts.
///
/// Other owners pass it what happens as values; it asks the scheduler only about requests of watched tasks.
/// Without `alerts` and `heartbeat` in the manifest it does nothing. The host owns it. Use it on the
/// reactor's thread only; it does not block. An event costs O(log n) in the watched tasks, requests and runs.
package final class AlertMonitor {
    /// The longest time between two looks at the wall clock, nanoseconds: it may be set.
    private static let lookMax: Int64 = 60_000_000_000

    let dispatcher: Dispatcher
    let commits: CommitQueue
    let clock: DaemonClock
    private let deadlines: Deadlines
    let log: HostLog
    package let sender: AlertSender
    private let zone: () -> ZoneTable
    var table = AlertTable(AlertSettings())
    var watch = ExpectationWatch()
    /// The dead letters by task of the manifest.
    var dead: [String: Int] = [:]
    /// The requests that are watched until they start or end, and the identifiers and tasks that they are of.
    var watchedRequests: [RunID: (identifier: String, task: String)] = [:]
    /// What is wrong with the host in its fleet, for a manifest that asks for alerts later.
    var fleetProblems: [AlertRule: String] = [:]
    /// Why the journal of transfers cannot write; `nil` if it can.
    var journalProblem: String?
    /// Whether the manifest asks for alerts or a heartbeat.
    package private(set) var isActive = false
    private var hasBegun = false
    /// Whether it is known which alerts of the previous daemon still fire; nothing is told before.
    private var isSettled = false
    private var recovered: [AlertRow] = []
    private var recoveredProgress: [TaskProgress] = []
    private var clockSteps = ClockSteps()
    private var deadline: MonotonicInstant = .never
    /// Whether a window was open at the last look in which no message is sent.
    private var wasMuted = false
    /// Called when an alert begins to fire or ceases to, and when a window opens or ends.
    var onChange: () -> Void = {}

    /// - Parameter zone: the zone of the windows in which no message is sent.
    package init(
        _ dispatcher: Dispatcher,
        _ commits: CommitQueue,
        _ clock: DaemonClock,
        _ deadlines: Deadlines,
        _ sender: AlertSender,
        log: HostLog,
        zone: @escaping () -> ZoneTable
    ) {
        self.dispatcher = dispatcher
        self.commits = commits
        self.clock = clock
        self.deadlines = deadlines
        self.sender = sender
        self.log = log
        self.zone = zone
        sender.onEnd = { [unowned self] in ended(message: $0, isDelivered: $1) }
        sender.onReceiver = { [unowned self] in receiverChanged($0, problem: $1) }
        sender.isMuted = { [unowned self] in mutedUntil != nil }
        sender.onHold = { [unowned self] in arm() }
    }

    /// Lets alerts be posted as notifications.
    package func connect(_ notifications: NotificationDelivery) {
        sender.post = { [unowned self, unowned notifications] delivery, then in
            do throws(NotificationFault) {
                try notifications.post(
                    NotificationContent(delivery),
                    of: NotificationCommands.ownName,
                    zone: zone()
                ) { result in
                    then(
                        result.map { _ in "it is stored and will be delivered" }
                            .mapError { AlertFailure("it was refused: \($0)") }
                    )
                }
            } catch {
                then(.failure(AlertFailure("it was refused: \(error)")))
            }
        }
    }

    // MARK: The manifest

    /// Takes over what the previous daemon stored; ``begin(_:)`` compares it with the present state.
    package func recover(_ alerts: [AlertRow], _ progress: [TaskProgress]) {
        recovered = alerts
        recoveredProgress = progress
    }

    /// Begins to watch.
    ///
    /// Call it when the scheduler has its state, then tell it of the plugins, and then call ``settle()``.
    package func begin(_ manifest: Manifest) {
        hasBegun = true
        let now = followClock().unix
        let rows = recovered
        let firing = rows.filter { $0.endedAt == nil }.map(\.key)
        for row in rows { table.recover(row, now: now) }
        watch.recover(
            recoveredProgress,
            overdue: Set(firing.filter { $0.rule == .noSuccess }.map(\.subject)),
            now: now
        )
        (recovered, recoveredProgress) = ([], [])
        apply(manifest)
        for key in firing where key.rule == .lateStart { watchLateRequests(of: key.subject) }
        compare()
    }

    /// Ends the alerts of the previous daemon that were not found again.
    package func settle() {
        isSettled = true
        for key in table.settle(now: followClock().unix) { noteEnd(of: key) }
        flush()
    }

    /// Another manifest is in force.
    package func apply(_ manifest: Manifest) {
        guard hasBegun else { return }
        let now = followClock().unix
        let host = manifest.host
        isActive = host.alerts != nil || host.heartbeat != nil
        let settings = host.alerts ?? AlertSettings()
        table.apply(settings)
        sender.apply(settings.receivers)
        let tasks = (isActive ? manifest.tasks : []).map {
            (name: $0.identifier.description, expectation: $0.expect)
        }
        apply(watch.define(tasks, now: now))
        apply(watch.forgetWaiting { [unowned self] in task(of: $0) != $1 })
        follow(deadLettersOf: manifest)
        let names = Set(manifest.tasks.map(\.identifier.description))
        let plugins = Set(manifest.plugins.map(\.name) + manifest.functions.map(\.name))
        let receivers = sender.labels
        let gone = table.clear(now: now) { [isActive] key in
            guard isActive else { return true }
            return switch key.rule {
            case .plugin: !plugins.contains(key.subject)
            case .receiver: !receivers.contains(key.subject)
            case .store: false
            case .fleet, .partitions, .ownerless: host.fleet == nil
            default: !names.contains(key.subject)
            }
        }
        for key in gone { noteEnd(of: key) }
        watchedRequests = watchedRequests.filter { watch.watches($0.value.task) }
        for task in watch.tasksWithStart { requestChanged(task, of: task) }
        storeChanged()
        if isActive {
            for (rule, problem) in fleetProblems { raise(AlertKey(rule), problem) }
        }
        flush()
    }

    private func follow(deadLettersOf manifest: Manifest) {
        guard isActive else {
            commits.onChanges = nil
            dead = [:]
            return
        }
        commits.onChanges = { [unowned self] in follow($0) }
        commits.noteDeadLetterChanges()
        // Older changes are in the counts that are read below.
        _ = commits.takeDeadLetterChanges()
        // An identifier may belong to another task now.
        let before = Set(dead.keys)
        dead = [:]
        for (identifier, count) in commits.deadLetters.tasks {
            guard let task = task(of: identifier) else { continue }
            dead[task, default: 0] += count
        }
        for task in before.union(dead.keys).sorted() { compareDeadLetters(of: task) }
    }

    /// The task of the manifest that an identifier belongs to, as it stands there.
    func task(of identifier: String) -> String? {
        let catalog = dispatcher.scheduler.catalog
        return catalog.task(for: identifier).map { catalog.tasks[$0].identifier.description }
    }

    /// Follows nothing more, since the daemon ends.
    func stop() {
        isActive = false
        commits.onChanges = nil
    }

    // MARK: Findings

    func apply(_ findings: [ExpectationWatch.Finding]) {
        for finding in findings {
            switch finding {
            case .raise(let key, let detail): raise(key, detail)
            case .clear(let key): clear(key)
            }
        }
    }

    func raise(_ key: AlertKey, _ detail: String) {
        guard table.raise(key, detail, now: followClock().unix) else { return }
        log.write(
            .warning,
            "alert.firing",
            "\(AlertText.subject(key)): \(detail)",
            task: key.rule.isAboutTask ? key.subject : nil,
            plugin: key.rule == .plugin ? key.subject : nil
        )
        onChange()
    }

    func clear(_ key: AlertKey) {
        guard table.clear(key, now: followClock().unix) else { return }
        noteEnd(of: key)
    }

    private func noteEnd(of key: AlertKey) {
        log.write(
            .info,
            "alert.resolved",
            "no longer: \(AlertText.subject(key))",
            task: key.rule.isAboutTask ? key.subject : nil,
            plugin: key.rule == .plugin ? key.subject : nil
        )
        onChange()
    }

    private func ended(message: UInt64, isDelivered: Bool) {
        table.ended(message: message, isDelivered: isDelivered, now: followClock().unix)
        flush()
    }

    private func receiverChanged(_ label: String, problem: String?) {
        let key = AlertKey(.receiver, label)
        if let problem { raise(key, problem) } else { clear(key) }
        flush()
    }

    // MARK: Time

    /// When the window ends in which no message is sent, Unix nanoseconds; `nil` if none is open.
    var mutedUntil: Int64? { table.settings.mute.end(at: clock.wall, in: zone()) }

    /// Sends what is due, stores what has changed, and arms the next deadline.
    func flush() {
        guard isSettled else { return }
        let isMuted = mutedUntil != nil
        if isMuted != wasMuted {
            wasMuted = isMuted
            onChange()
        }
        if !isMuted { sender.resume() }
        if isActive {
            let now = followClock().unix
            while let message = table.advance(now: now, mutedUntil: mutedUntil) {
                if sender.hasReceivers {
                    sender.send(message)
                } else {
                    table.ended(message: message.number, isDelivered: true, now: now)
                }
            }
        }
        let changes = table.takeChanges() + watch.takeChanges()
        if !changes.isEmpty { commits.commit(changes.map { .alert($0) }, isAwaited: false) }
        arm()
    }

    private func arm() {
        guard isActive else { return }
        let dates = [watch.nextDate, table.nextDate(mutedUntil: mutedUntil), windowDate]
        guard let next = dates.compactMap(\.self).min() else { return }
        // A millisecond more, so that the date has come by the wall clock too.
        let delay = min(max(0, next.subtractingClamped(clock.wall)), Self.lookMax) + 1_000_000
        let date = clock.monotonic + UInt64(delay)
        guard date < deadline else { return }
        deadline = date
        deadlines.arm(.alerts, at: date)
    }

    /// When the window ends that is open, or when to look for the next one; `nil` if none changes anything.
    private var windowDate: Int64? {
        guard table.firingCount > 0 || sender.isHolding, !table.settings.mute.windows.isEmpty else {
            return nil
        }
        return mutedUntil ?? .max
    }

    /// Whether a deadline is the one that is armed.
    package func isLive(_ date: MonotonicInstant) -> Bool { date == deadline }

    package func deadlinePassed() {
        deadline = .never
        compare()
        flush()
    }

    /// The wall clock was set.
    package func clockWasSet() {
        guard isActive else { return }
        compare()
        flush()
    }

    /// Moves what counts from an event if the wall clock was set.
    ///
    /// Each event needs it first: the next one would move what an event before has counted from a clock that
    /// was set already.
    ///
    /// - Returns: the clocks.
    func followClock() -> Moment {
        clock.read()
        let now = clock.moment
        if let step = clockSteps.step(at: now) {
            table.followClock(by: step)
            watch.followClock(by: step, now: now)
        }
        return now
    }
}
