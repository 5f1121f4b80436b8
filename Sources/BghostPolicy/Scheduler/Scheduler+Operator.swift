// SPDX-License-Identifier: Apache-2.0

package import BghostBase
package import BghostModel

/// Changes to waiting requests by operators and handlers.
extension Scheduler {
    // MARK: Withdrawal

    /// Withdraws the pending request of a task, and those appended behind it.
    ///
    /// - Returns: `false` if there is none.
    package mutating func withdraw(
        _ identifier: String,
        now: Moment,
        _ effects: inout [SchedulerEffect]
    ) -> Bool {
        recordInput(.withdraw(identifier), at: now)
        guard let entry = pendingIndex.entry(of: identifier) else { return false }
        let pending = pendingIndex.withdraw(entry: entry)
        let requests = (pending.map { [$0] } ?? []) + pendingIndex.withdrawAppended(entry: entry)
        guard !requests.isEmpty else { return false }
        for request in requests { end(request, entry: entry, .cancelled, now: now, &effects) }
        // It may have preceded a retry of its task, which can start now.
        pendingIndex.recheck(entry: entry, now: now.unix)
        startReadyRequests(now: now, &effects)
        return true
    }

    /// Withdraws all waiting requests of some tasks, including retries, manual runs and parked requests.
    ///
    /// The cost is O(requests of these tasks), of each the logarithm.
    ///
    /// - Returns: the withdrawn requests, and the changes to store. The caller stores the changes before it
    ///   carries out the effects, because the effects contain the schedules' next requests.
    package mutating func withdrawAll(
        of identifiers: [String],
        now: Moment,
        _ effects: inout [SchedulerEffect]
    ) -> (requests: [Request], changes: [StoreChange]) {
        recordInput(.withdrawAll(identifiers), at: now)
        var withdrawn: [(request: Request, entry: Int)] = []
        var changes: [StoreChange] = []
        for entry in identifiers.flatMap({ entries(of: $0) }) {
            for request in pendingIndex.withdrawAll(entry: entry) {
                withdrawn.append((request, entry))
                changes.append(.closed(request.id, .cancelled))
                changes += recordServedTime(request, entry: entry, now: now)
            }
        }
        let (unparked, memories) = parking.remove(ofTasks: Set(identifiers))
        changes += unparked.map { .closed($0.id, .cancelled) }
        changes += memories.map { .remembered($0) }
        for (request, entry) in withdrawn {
            effects.append(.log(.closed(request, .cancelled)))
            effects.append(.requestClosed(request.id))
            submitNextScheduled(after: request, entry: entry, now: now, &effects)
        }
        for request in unparked {
            effects.append(.log(.closed(request, .cancelled)))
            effects.append(.requestClosed(request.id))
        }
        return (withdrawn.map(\.request) + unparked, changes)
    }

    /// The entries of one task, or of all in the order of their identifiers.
    func entries(of identifier: String?) -> [Int] {
        if let identifier { return pendingIndex.entry(of: identifier).map { [$0] } ?? [] }
        return pendingIndex.entries.indices.filter(pendingIndex.entries.isInUse).sorted {
            pendingIndex.entries[$0].identifier < pendingIndex.entries[$1].identifier
        }
    }

    // MARK: Dead letters

    /// Requeues requests that were dead; they are already stored as pending.
    package mutating func redriven(
        _ requests: [Request],
        now: Moment,
        _ effects: inout [SchedulerEffect]
    ) {
        recordInput(.redriven(requests), at: now)
        for request in requests {
            guard let task = catalog.task(for: request.task) else {
                // Its task was removed while the change was being stored.
                park([request], now: now, &effects)
                continue
            }
            // One of the fleet may have another owner by now, which has it from the fleet's store.
            if livesInFleet(request), ownedEntry(request.task) == nil { continue }
            let entry = entry(for: request.task, task: task)
            // A retry replaces no request.
            _ = pendingIndex.accept(request, entry: entry, now: now.unix)
            effects.append(.log(.redriven(request)))
        }
        startReadyRequests(now: now, &effects)
    }

    // MARK: Switches

    /// Disables a plugin, with a reason, or enables it.
    ///
    /// Its runs in progress continue.
    package mutating func set(
        plugin: Int,
        disabledReason reason: String?,
        now: Moment,
        _ effects: inout [SchedulerEffect]
    ) {
        recordInput(.switched(plugin: plugin, off: reason), at: now)
        gates.plugins[plugin].disabledReason = reason
        gates.plugins[plugin].switches.record(
            isOpen: reason == nil,
            reading: reason.map { $0.isEmpty ? "off" : "off (\($0))" } ?? "on",
            at: now.unix
        )
        guard reason == nil else { return }
        recheckRequests(ofPlugin: plugin, now: now)
        startReadyRequests(now: now, &effects)
    }

    /// Why a plugin is disabled, "" without a reason; `nil` if it is enabled.
    package func disabledReason(plugin: Int) -> String? { gates.plugins[plugin].disabledReason }

    /// A sentence that the plugin is disabled, with the command that enables it.
    package func disabledSentence(plugin: Int) -> String? { gates.disabledReason(plugin) }
}
