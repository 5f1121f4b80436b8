// SPDX-License-Identifier: Apache-2.0

internal import BghostCore
internal import BghostLinux
internal import BghostStore

/// The last known health of the store, and the callers that wait for a result.
struct StoreWatch {
    typealias Answer = @Sendable (isolated Host, Result<Void, StoreError>) -> Void

    /// The health at the last check.
    var known = StoreHealth()
    /// Callbacks for the result of a transaction or an earlier failure of the store.
    private var answers: [UInt64: Answer] = [:]
    private var last: UInt64 = 0

    mutating func add(_ answer: @escaping Answer) -> UInt64 {
        last += 1
        answers[last] = answer
        return last
    }

    mutating func take(_ number: UInt64) -> Answer? { answers.removeValue(forKey: number) }

    mutating func takeAll() -> [Answer] {
        defer { answers = [:] }
        return answers.sorted { $0.key < $1.key }.map(\.value)
    }
}

/// Handling of a store that fails or is slow.
extension Host {
    /// How long a drain waits for the store and for the transfer journal, in nanoseconds.
    private static var storeDrainMax: UInt64 { 30_000_000_000 }

    func watchStore() {
        store.onHealthChange { [weak self, reactor] in
            // The task is not awaited; it only makes the host check the store.
            Task(executorPreference: reactor) { await self?.storeHealthChanged() }
        }
        // The store may already have failed during the recovery.
        if store.health.failure != nil { storeHealthChanged() }
    }

    /// Checks the health of the store and notifies the log, the scheduler and waiting callers.
    func storeHealthChanged() {
        let before = storeWatch.known
        let health = store.health
        storeWatch.known = health
        switch (before.failure, health.failure) {
        case (let old, let new?) where old?.error != new.error || old?.isFinal != new.isFinal:
            let advice = new.isFinal ? "; no new run begins until bghost is started again" : ""
            log.write(.error, "store.failed", new.error.description + advice)
        case (let old?, nil):
            let lasted = UInt64(clamping: WallClock.now.subtractingClamped(old.since))
            log.write(
                .info,
                "store.recovered",
                "the store keeps what it is given again, after \(DurationText.of(nanoseconds: lasted))"
            )
        default: break
        }
        if let failure = health.failure {
            for answer in storeWatch.takeAll() { answer(self, .failure(failure.error)) }
        }
        if before.isPressed != health.isPressed { holdForStore(health) }
    }

    private func holdForStore(_ health: StoreHealth) {
        var reason: String?
        if health.isPressed {
            reason =
                health.failure.map { failure in
                    "the store has been failing since"
                        + " \(Timestamp.text(unixNanoseconds: failure.since))"
                } ?? "\(health.waiting) transactions wait for the disk"
            log.write(
                .warning,
                "store.pressed",
                "\(reason ?? ""); no new run begins until they are stored"
            )
        }
        decide { [reason] scheduler, now, effects in
            scheduler.storeHolds(reason, now: now, &effects)
        }
    }

    /// Commits changes that have taken effect; calls `then` when they are stored or the store fails.
    func commitTold(_ changes: [StoreChange], then: @escaping StoreWatch.Answer) {
        let number = storeWatch.add(then)
        commit(changes) { host, result in host.storeWatch.take(number)?(host, result) }
        // `storeHealthChanged` reports later failures.
        guard let failure = store.health.failure else { return }
        storeWatch.take(number)?(self, .failure(failure.error))
    }

    /// The state of the store for `status`.
    var storeStatus: StoreStatus {
        let health = store.health
        return StoreStatus(
            failingSince: health.failure?.since,
            problem: health.failure?.error.message,
            isFinal: health.failure?.isFinal ?? false,
            waiting: health.waiting,
            holdsRuns: health.isPressed
        )
    }

    /// Settles and closes a journal on the spawner's thread at the end of a drain.
    ///
    /// - Parameter settle: gets the deadline in monotonic nanoseconds; returns the number of
    ///   transactions that were not stored by then.
    func settled(_ settle: @escaping @Sendable (UInt64) -> Int) async -> Int {
        await withCheckedContinuation { continuation in
            spawner.perform {
                continuation.resume(returning: settle(Monotonic.now &+ Self.storeDrainMax))
            }
        }
    }

    /// Waits until the store has stored all results, and closes it.
    func closeStore() async {
        if let failure = store.health.failure, !failure.isFinal {
            log.write(
                .warning,
                "store.awaited",
                "\(store.health.waiting) transactions are not stored yet: bghost waits for that for"
                    + " \(DurationText.of(nanoseconds: Self.storeDrainMax)) at the most, or until"
                    + " it is told to stop again"
            )
        }
        let lost = await settled { [store] deadline in
            defer { store.close() }
            return store.settle(until: deadline)
        }
        guard lost > 0 else { return }
        log.write(
            .error,
            "store.gave_up",
            "\(lost) transactions could not be stored before the end: runs that ended in them are"
                + " recorded as lost at the next start, and may run again"
        )
    }
}
