// SPDX-License-Identifier: Apache-2.0

internal import BghostAlerts
internal import BghostAPI
internal import BghostBase
internal import BghostCrypto
internal import BghostMetrics
package import BghostModel
internal import BghostNotify
internal import BghostPolicy
internal import BghostServices

/// What other owners tell the monitor.
extension AlertMonitor {
    /// Changes of the store have taken effect.
    func follow(_ changes: [StoreChange]) {
        var isAffected = false
        for change in changes {
            switch change {
            case .accepted(let request, let replaced):
                if let replaced { watchedRequests[replaced] = nil }
                isAffected = requestChanged(request.task) || isAffected
            case .redriven(let request), .moved(let request):
                isAffected = requestChanged(request.task) || isAffected
            case .runStarted(let record):
                watchedRequests[record.request] = nil
                isAffected = requestChanged(record.task) || isAffected
            case .closed(let id, _), .discarded(let id):
                guard let request = watchedRequests.removeValue(forKey: id) else { break }
                isAffected = requestChanged(request.identifier) || isAffected
            case .runEnded(let record, _):
                isAffected = runEnded(record) || isAffected
            case .remembered, .runtimeConsumed, .notification, .switched, .paused, .startSkipped,
                .audited, .manifest, .alert, .quarantined, .checkpointSaved, .checkpointDeleted:
                break
            }
        }
        isAffected = followDeadLetters() || isAffected
        if isAffected { flush() }
    }

    /// A handler has started.
    package func runStarted(_ record: RunRecord) {
        guard isActive, let task = task(of: record.task), watch.watches(task) else { return }
        watch.started(record.id, of: task, now: followClock())
        flush()
    }

    /// - Returns: whether the task is watched.
    private func runEnded(_ record: RunRecord) -> Bool {
        // A reload may have given its identifier to another task, or none, since it started.
        let findings = watch.ended(record.id)
        apply(findings)
        guard let task = task(of: record.task), watch.watches(task) else {
            return !findings.isEmpty
        }
        requestChanged(record.task, of: task)
        guard let outcome = record.outcome else { return true }
        let kind = OutcomeClass(outcome)
        let now = followClock().unix
        let reason = record.message.isEmpty ? outcome.text : record.message
        apply(
            watch.ended(
                record.id,
                of: task,
                succeeded: kind == .succeeded ? true : (kind.isFailure ? false : nil),
                reason,
                now: now
            )
        )
        return true
    }

    /// - Returns: whether the task is watched.
    private func requestChanged(_ identifier: String) -> Bool {
        guard let task = task(of: identifier), watch.watches(task) else { return false }
        requestChanged(identifier, of: task)
        return true
    }

    func requestChanged(_ identifier: String, of task: String) {
        let now = followClock().unix
        let findings = watch.changed(identifier, of: task) {
            dispatcher.scheduler.pending(identifier).map {
                watchedRequests[$0.id] = (identifier, task)
                return Self.due($0, now: now)
            }
        }
        apply(findings)
    }

    /// When a request could start, Unix nanoseconds.
    private static func due(_ request: Request, now: Int64) -> Int64 {
        // A clock that was ahead when it was submitted does not put it off.
        request.earliestBegin ?? min(request.submittedAt, now)
    }

    /// Watches the requests of a family that are late, so that a restart does not end an alert about them.
    ///
    /// Others from before a restart are watched once they change. The cost is O(n) in the identifiers.
    func watchLateRequests(of family: String) {
        let scheduler = dispatcher.scheduler
        guard scheduler.isFamily(family), let start = watch.start(of: family) else {
            return
        }
        let now = followClock().unix
        var from: Int? = 0
        while let next = from, next >= 0 {
            let page = scheduler.waiting(.family(family), from: next, keeping: .max)
            for request in page.requests
            where Self.due(request, now: now).addingClamped(start) <= now {
                requestChanged(request.task, of: family)
            }
            from = page.next
        }
    }

    /// Compares what is due with what is expected.
    func compare() {
        guard isActive else { return }
        let now = followClock()
        apply(watch.advance(now: now) { waiting($0) })
    }

    /// Why a request has not started, as far as an alert depends on it.
    ///
    /// The manifest asks for requirements and dates, and an operator for pauses: waiting for them is no
    /// fault, nor is a start that another host of the fleet serves. Waiting for a slot, a plugin or the store
    /// is one.
    private func waiting(_ identifier: String) -> ExpectationWatch.Waiting {
        let scheduler = dispatcher.scheduler
        guard let request = scheduler.pending(identifier) else { return .nothing }
        let gates = scheduler.gates(of: request, now: clock.moment)
        let isAsked =
            gates.contains { !$0.isOpen && $0.kind.isAsked }
            || scheduler.serverOfStart(request.id) != nil
        return isAsked ? .asAsked : .since(request.earliestBegin ?? request.submittedAt)
    }

    // MARK: Dead letters

    /// - Returns: whether there were any changes.
    private func followDeadLetters() -> Bool {
        let changes = commits.takeDeadLetterChanges()
        guard !changes.isEmpty else { return false }
        for (identifier, change) in changes {
            guard let task = task(of: identifier) else { continue }
            let count = max(0, dead[task, default: 0] + change)
            dead[task] = count > 0 ? count : nil
            compareDeadLetters(of: task)
        }
        return true
    }

    func compareDeadLetters(of task: String) {
        let key = AlertKey(.deadLetters, task)
        guard let count = dead[task] else { return clear(key) }
        raise(
            key,
            CountText.of(count, "dead letter") + "; `bghost dead` lists "
                + (count == 1 ? "it" : "them")
        )
    }

    // MARK: The host

    /// A plugin can be used, or cannot.
    ///
    /// - Parameter problem: why not; `nil` if it can, or soon can without help.
    package func pluginChanged(_ plugin: String, problem: String?) {
        guard isActive else { return }
        let key = AlertKey(.plugin, plugin)
        if let problem { raise(key, problem) } else { clear(key) }
        flush()
    }

    /// The host has lost its lease in the fleet, or has one again, or the same of what its other rules watch.
    ///
    /// - Parameter problem: what is wrong; `nil` if nothing any more.
    package func fleetChanged(_ rule: AlertRule, problem: String?) {
        fleetProblems[rule] = problem
        guard isActive else { return }
        if let problem { raise(AlertKey(rule), problem) } else { clear(AlertKey(rule)) }
        flush()
    }

    /// The journal of transfers has begun or ceased to fail.
    ///
    /// - Parameter problem: why it cannot write.
    package func journalChanged(problem: String?) {
        journalProblem = problem
        storeChanged()
    }

    /// The store or the journal of transfers has begun or ceased to fail.
    package func storeChanged() {
        guard isActive else { return }
        if let problem = commits.status.problem ?? journalProblem {
            raise(AlertKey(.store), problem)
        } else {
            clear(AlertKey(.store))
        }
        flush()
    }
}

extension Gate.Kind {
    /// Whether the manifest or an operator asks for it.
    fileprivate var isAsked: Bool {
        switch self {
        case .paused, .pluginDisabled, .notBefore, .coalescing, .usualUse, .notAfter, .throttle,
            .budget, .requirement, .replacement, .drain:
            true
        case .pluginMissing, .manifestRemoved, .clockUnsynced, .predecessor, .overlap, .handler,
            .slot, .fleet, .store:
            false
        }
    }
}

extension NotificationContent {
    /// A message as a notification; one about the same alert alone replaces an earlier one that waits.
    init(_ delivery: AlertDelivery) {
        let message = delivery.message
        let text = delivery.text
        self.init(
            id: message.isTest ? "test" : Self.id(of: message),
            level: message.isAlarming ? .timeSensitive : .active,
            title: String(decoding: text.title.utf8.prefix(500), as: UTF8.self),
            body: String(decoding: text.body.utf8.prefix(3000), as: UTF8.self)
        )
    }

    private static func id(of message: AlertMessage) -> String {
        guard message.items.count == 1, message.omitted == 0 else {
            // No other message has it: each may be the only one that tells of some alert.
            return "alerts:\(message.at):\(message.number)"
        }
        let key = message.items[0].key
        let id = "alert:\(key.rule.rawValue):\(key.subject)"
        guard id.utf8.count > idBytesMax else { return id }
        let digest = SHA256.hash(data: Array(id.utf8)).hexText
        return id.shortened(toBytes: idBytesMax - digest.utf8.count - 1) + ":" + digest
    }

    /// The most bytes of an id.
    private static let idBytesMax = 128
}
