// SPDX-License-Identifier: Apache-2.0

/// What operators and handlers do to requests that wait.
extension Scheduler {
    // MARK: Withdrawal

    /// Withdraws the pending request of an identifier.
    ///
    /// - Returns: `false` if there is none.
    package mutating func withdraw(
        _ identifier: String,
        now: Moment,
        _ effects: inout [SchedulerEffect]
    ) -> Bool {
        note(.withdraw(identifier), at: now)
        guard let entry = book.entry(of: identifier), let request = book.withdraw(entry: entry)
        else { return false }
        end(request, entry: entry, .cancelled, now: now, &effects)
        // It may have stood before a retry of its task.
        book.retry(entry: entry, now: now.unix)
        beginWhatCan(now: now, &effects)
        return true
    }

    /// Withdraws all that waits, of one identifier or of all: retries, what is simulated and what is
    /// parked included.
    ///
    /// - Returns: what was withdrawn, and what is to be stored of it before the effects are carried
    ///   out: so a schedule goes on in the store as it does here.
    package mutating func withdrawAll(
        _ identifier: String?,
        now: Moment,
        _ effects: inout [SchedulerEffect]
    ) -> (requests: [Request], changes: [StoreChange]) {
        note(.withdrawAll(identifier), at: now)
        var withdrawn: [(request: Request, entry: Int)] = []
        var changes: [StoreChange] = []
        for entry in entries(of: identifier) {
            for request in book.withdrawAll(entry: entry) {
                withdrawn.append((request, entry))
                changes.append(.closed(request.id, .cancelled))
                changes += leave(request, entry: entry, now: now)
            }
        }
        let (unparked, memories) = parking.remove { identifier == nil || $0.task == identifier }
        changes += unparked.map { .closed($0.id, .cancelled) }
        changes += memories.map { .remembered($0) }
        for (request, entry) in withdrawn {
            effects.append(.note(.ended(request, .cancelled)))
            effects.append(.ended(request.id))
            goOn(after: request, entry: entry, now: now, &effects)
        }
        for request in unparked {
            effects.append(.note(.ended(request, .cancelled)))
            effects.append(.ended(request.id))
        }
        return (withdrawn.map(\.request) + unparked, changes)
    }

    /// The entries of one identifier, or of all in the order of their names.
    package func entries(of identifier: String?) -> [Int] {
        if let identifier { return book.entry(of: identifier).map { [$0] } ?? [] }
        return book.entries.indices.sorted {
            book.entries[$0].identifier < book.entries[$1].identifier
        }
    }

    // MARK: Dead letters

    /// Requests that were dead wait again; they are stored as such.
    package mutating func redriven(
        _ requests: [Request],
        now: Moment,
        _ effects: inout [SchedulerEffect]
    ) {
        note(.redriven(requests), at: now)
        for request in requests {
            guard let task = catalog.task(for: request.task) else {
                // Its task was removed while this was on its way to the store.
                park([request], now: now, &effects)
                continue
            }
            let entry = entry(for: request.task, task: task)
            _ = book.accept(request, entry: entry, now: now.unix)
            effects.append(.note(.redriven(request)))
        }
        beginWhatCan(now: now, &effects)
    }

    // MARK: Switches

    /// Switches a plugin off, with a reason, or on.
    ///
    /// Its runs under way go on.
    package mutating func set(
        plugin: Int,
        switchedOff reason: String?,
        now: Moment,
        _ effects: inout [SchedulerEffect]
    ) {
        note(.switched(plugin: plugin, off: reason), at: now)
        gates.plugins[plugin].switchedOff = reason
        gates.plugins[plugin].switches.take(
            isOpen: reason == nil,
            reading: reason.map { $0.isEmpty ? "off" : "off (\($0))" } ?? "on",
            at: now.unix
        )
        guard reason == nil else { return }
        retryRequests(ofPlugin: plugin, now: now)
        beginWhatCan(now: now, &effects)
    }

    /// Why a plugin is switched off, "" for no reason; `nil` if it is on.
    package func switchedOff(plugin: Int) -> String? { gates.plugins[plugin].switchedOff }

    /// The same in a sentence that says how it is switched on.
    package func switchedOffSentence(plugin: Int) -> String? { gates.switchedOff(plugin) }
}
