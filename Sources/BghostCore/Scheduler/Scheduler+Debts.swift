// SPDX-License-Identifier: Apache-2.0

/// Expiry debts: who does not stop in time begins later.
extension Scheduler {
    /// Takes a run's end into the debt of its identifier, and holds the identifier's next runs
    /// accordingly.
    ///
    /// What the operator did, or the daemon's end, or a trial run, adds nothing.
    ///
    /// - Returns: what is to be kept of it, if anything changed.
    mutating func settleDebt(
        of entry: Int,
        _ finish: RunFinish,
        now: Moment,
        _ effects: inout [SchedulerEffect]
    ) -> TaskMemory? {
        guard let event = ExpiryDebt.Event(finish.outcome, finish.record.stopReason) else {
            return nil
        }
        let owed = (memories[entry] ?? parkedMemory(of: entry))?.debt.points ?? 0
        if event == .succeeded, owed == 0 { return nil }
        var memory = memory(of: entry)
        memory.debt.take(event, now: now.unix)
        remember(memory, entry: entry, now: now)
        if let start = memory.debt.nextStart(now: now.unix) {
            effects.append(.note(.throttled(task: memory.identifier, until: start)))
        }
        return memory
    }

    /// What is remembered of an entry.
    func memory(of entry: Int) -> TaskMemory {
        memories[entry] ?? parkedMemory(of: entry)
            ?? TaskMemory(identifier: book.entries[entry].identifier)
    }

    /// What is remembered of an entry whose task was removed while a run of it is under way.
    private func parkedMemory(of entry: Int) -> TaskMemory? {
        isPermitted(entry) ? nil : parking.known(book.entries[entry].identifier)
    }

    /// Whether the manifest permits an identifier that has been used.
    func isPermitted(_ entry: Int) -> Bool {
        catalog.permits(task: book.entries.kind(entry).definition)
    }

    /// Keeps in mind what is remembered of an entry; the caller has it stored.
    mutating func remember(_ memory: TaskMemory, entry: Int, now: Moment) {
        guard isPermitted(entry) else { return parking.remember(memory) }
        memories[entry] = memory
        book.hold(entry: entry, until: memory.debt.nextStart(now: now.unix), now: now.unix)
    }

    /// What is remembered of every identifier, or of one.
    package func memories(of identifier: String? = nil) -> [TaskMemory] {
        guard let identifier else { return Array(memories.values) }
        return book.entry(of: identifier).flatMap { memories[$0] }.map { [$0] } ?? []
    }

    /// Forgives what an identifier owes.
    ///
    /// - Returns: what is to be stored; `nil` if it owes nothing.
    package mutating func forgive(
        _ identifier: String,
        now: Moment,
        _ effects: inout [SchedulerEffect]
    ) -> StoreChange? {
        note(.forgive(identifier), at: now)
        guard let entry = book.entry(of: identifier), var memory = memories[entry] else {
            return nil
        }
        let points = memory.debt.points(now: now.unix)
        guard points > 0 else { return nil }
        memory.debt.clear(now: now.unix)
        remember(memory, entry: entry, now: now)
        effects.append(.note(.forgiven(task: identifier, points: points)))
        beginWhatCan(now: now, &effects)
        return .remembered(memory)
    }
}

extension ExpiryDebt.Event {
    /// What a run's end is to the debt; `nil` if nothing.
    package init?(_ outcome: Outcome, _ reason: StopReason?) {
        switch (outcome, reason) {
        case (.succeeded, _): self = .succeeded
        case (.killed(.graceExceeded), .expired), (.abandoned, .expired): self = .killed
        case (.killed(.graceExceeded), .quota): self = .killed
        case (.killed(.cpu), _), (.killed(.memory), _): self = .killed
        case (.cancelledClean, .expired), (.cancelledClean, .quota): self = .expired
        default: return nil
        }
    }
}
