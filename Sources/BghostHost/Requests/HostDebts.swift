// SPDX-License-Identifier: Apache-2.0

internal import BghostCore
internal import BghostLinux

/// Expiry debts: who does not stop in time begins later.
extension Host {
    /// Takes a run's end into the debt of its identifier, and holds the identifier's next runs
    /// accordingly.
    ///
    /// What the operator did, or the daemon's end, or a trial run, adds nothing.
    ///
    /// - Returns: what is to be kept of it, if anything changed.
    func settleDebt(_ run: ActiveRun, _ outcome: Outcome) -> TaskMemory? {
        guard !run.request.isSimulated, !run.isExpirySimulated,
            let event = ExpiryDebt.Event(outcome, run.machine.stopReason)
        else { return nil }
        let owed = memories[run.entry]?.debt.points ?? 0
        if event == .succeeded, owed == 0 { return nil }
        let now = WallClock.now
        var memory = memory(of: run.entry)
        memory.debt.take(event, now: now)
        remember(memory, entry: run.entry)
        if let start = memory.debt.nextStart(now: now) {
            log.write(
                .warning,
                "task.throttled",
                "it did not stop in time; its next run begins no earlier than"
                    + " \(Timestamp.text(unixNanoseconds: start))",
                task: memory.identifier
            )
        }
        return memory
    }

    /// What is remembered of an entry.
    func memory(of entry: Int) -> TaskMemory {
        memories[entry] ?? TaskMemory(identifier: book.entries[entry].identifier)
    }

    /// Keeps in mind what is remembered of an entry; the caller has it stored.
    func remember(_ memory: TaskMemory, entry: Int) {
        memories[entry] = memory
        let now = WallClock.now
        book.hold(entry: entry, until: memory.debt.nextStart(now: now), now: now)
        armRequests()
    }
}

extension ExpiryDebt.Event {
    /// What a run's end is to the debt; `nil` if nothing.
    init?(_ outcome: Outcome, _ reason: StopReason?) {
        switch (outcome, reason) {
        case (.succeeded, _): self = .succeeded
        case (.killed(.graceExceeded), .expired), (.abandoned, .expired): self = .killed
        case (.killed(.cpu), _), (.killed(.memory), _): self = .killed
        case (.cancelledClean, .expired): self = .expired
        default: return nil
        }
    }
}
