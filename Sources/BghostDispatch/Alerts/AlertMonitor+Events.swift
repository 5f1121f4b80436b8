// SPDX-License-Identifier: Apache-2.0

internal import BghostAlerts
internal import BghostAPI
internal import BghostBase
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
            case .accepted(let request, _), .redriven(let request), .moved(let request):
                isAffected = requestChanged(request.task) || isAffected
            case .runStarted(let record): isAffected = requestChanged(record.task) || isAffected
            case .runEnded(let record, _):
                isAffected = runEnded(record) || isAffected
            case .remembered, .runtimeConsumed, .notification, .switched, .paused, .startSkipped,
                .audited, .manifest, .alert, .quarantined, .closed, .discarded,
                .checkpointSaved, .checkpointDeleted:
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
        guard let task = task(of: record.task), watch.watches(task) else { return false }
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
                // A clock that was ahead when it was submitted does not put it off.
                $0.earliestBegin ?? min($0.submittedAt, now)
            }
        }
        apply(findings)
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
    /// A message as a notification; one about the same alert replaces an earlier one.
    init(_ delivery: AlertDelivery) {
        let message = delivery.message
        let text = delivery.text
        let single = message.items.count == 1 && message.omitted == 0 ? message.items[0].key : nil
        let id = single.map { "alert:\($0.rule.rawValue):\($0.subject)" } ?? "alerts"
        self.init(
            id: String(decoding: (message.isTest ? "test" : id).utf8.prefix(128), as: UTF8.self),
            level: message.isAlarming ? .timeSensitive : .active,
            title: String(decoding: text.title.utf8.prefix(500), as: UTF8.self),
            body: String(decoding: text.body.utf8.prefix(3000), as: UTF8.self)
        )
    }
}
