// SPDX-License-Identifier: Apache-2.0

package import BghostAPI
package import BghostBase
package import BghostLinux
package import BghostMetrics
package import BghostModel
package import BghostPolicy
package import BghostServices
package import BghostStore

/// Commits the daemon's transactions, reports their results, and watches the health of the store.
///
/// The store keeps the order of the calls. Results arrive on the reactor's thread. The queue also counts
/// dead letters, because their limit is enforced in the transaction that adds one.
///
/// The host owns it. Use it on the reactor's thread only. A call costs what its changes cost; it waits for
/// the disk only if nothing runs, as ``commit(_:isAwaited:onFailure:then:)`` says.
package final class CommitQueue {
    package typealias Completion = (Result<Void, StoreError>) -> Void

    /// How long a drain waits for the store and for the transfer journal, nanoseconds.
    private static let drainMax: UInt64 = 30_000_000_000

    private let store: any Store
    let reactor: Reactor
    private let log: HostLog
    /// The dead letters of each plugin.
    package private(set) var deadLetters: DeadLetterIndex
    /// The sizes of the stored checkpoints.
    package private(set) var checkpoints = CheckpointLedger()
    /// How long transactions took for which something waits.
    package private(set) var times = DurationHistogram()
    private var completions = CompletionTable()
    /// The callers that learn of a failing store before their transaction has its result.
    private var impatient = CompletionTable()
    /// The health at the last check.
    private var health = StoreHealth()
    /// Whether no run would be late if this thread waited for the disk.
    private var mayBlock: () -> Bool = { true }
    /// Called with the reason why no new run may start, or with `nil` when they may.
    private var onPressure: (String?) -> Void = { _ in }
    private var onHealth: () -> Void = {}
    /// How verbs are audited.
    package private(set) var auditSettings: AuditSettings
    /// Called with changes that have taken effect; `nil` while nothing follows them.
    var onChanges: (([StoreChange]) -> Void)?
    /// Called for each row that a transaction gets.
    var onAudit: () -> Void = {}
    /// Keeps the changes of requests that live in a fleet; `nil` without such.
    weak var fleet: PartitionOwner?
    private lazy var reference = ReactorReference(self, on: reactor)

    /// - Parameter deadLettersMax: the most dead letters of one plugin.
    package init(
        _ store: any Store,
        reactor: Reactor,
        log: HostLog,
        deadLettersMax: Int,
        audit: AuditSettings = AuditSettings()
    ) {
        auditSettings = audit
        self.store = store
        self.reactor = reactor
        self.log = log
        deadLetters = DeadLetterIndex(limit: deadLettersMax)
    }

    /// Sets how much history the store keeps.
    package func keep(history policy: HistoryPolicy) {
        auditSettings = policy.audit
        store.keep(history: policy)
    }

    /// Begins to watch the store.
    ///
    /// - Parameters:
    ///   - mayBlock: whether this thread may wait for the disk, because nothing runs whose deadline it
    ///     would miss.
    ///   - onPressure: called when so many transactions wait that no new run may start, with the reason,
    ///     and with `nil` when runs may start again.
    ///   - onHealth: called when the store has begun or ceased to fail.
    package func begin(
        mayBlock: @escaping () -> Bool,
        onPressure: @escaping (String?) -> Void,
        onHealth: @escaping () -> Void = {}
    ) {
        self.onHealth = onHealth
        self.mayBlock = mayBlock
        self.onPressure = onPressure
        store.onHealthChange { [reference] in reference.perform { $0.healthChanged() } }
        // The store may already have failed during the recovery.
        if store.health.failure != nil { healthChanged() }
    }

    // MARK: Commits

    /// Commits changes to this host's own store, as ``commit(_:isAwaited:onFailure:then:)`` does with those that are
    /// not the fleet's.
    func commitLocally(
        _ changes: [StoreChange],
        isAwaited: Bool? = nil,
        onFailure: CommitFailurePolicy = .retry,
        then: Completion? = nil
    ) {
        // This thread enforces the limits of runs, so it must not wait for a disk that may hang.
        let mayWait = (isAwaited ?? (then != nil)) && mayBlock()
        // Changes that may be refused have not taken effect; `commitOrRefuse` updates the index later.
        let dropped = onFailure == .refuse ? [] : takeDeadLetters(changes)
        let changes = dropped.isEmpty ? changes : changes + dropped
        let number = then.map { completions.add($0) }
        let began = number == nil ? .zero : Monotonic.now
        store.commit(changes, isAwaited: mayWait, onFailure: onFailure) { [log, reference] result in
            if case .failure(let error) = result { Self.logFailure(error, onFailure, log) }
            guard let number else { return }
            reference.performInline { queue in
                queue.times.record(Monotonic.now.since(began))
                queue.completions.take(number)?(result)
            }
        }
        if onFailure == .retry {
            checkpoints.follow(changes)
            onChanges?(changes)
        }
    }

    /// Commits changes with the row that says who made them.
    package func commit(_ changes: [StoreChange], auditedBy entry: AuditEntry) {
        commit(changes + [.audited(entry)])
        onAudit()
    }

    /// Commits changes with the row that says who made them; returns when they are stored or the store fails.
    ///
    /// After a failure the store continues to retry.
    package nonisolated(nonsending) func committed(
        _ changes: [StoreChange],
        auditedBy entry: AuditEntry
    ) async {
        onAudit()
        // The store's health is reported elsewhere.
        _ = await committed(changes + [.audited(entry)])
    }

    /// Commits changes that are refused if they cannot be stored now.
    package func commitOrRefuse(_ changes: [StoreChange], then: @escaping Completion) {
        checkpoints.begin(changes)
        commit(changes, onFailure: .refuse) { [unowned self] result in
            let areStored = if case .success = result { true } else { false }
            if areStored {
                for change in changes { deadLetters.follow(removal: change) }
            }
            checkpoints.finish(changes, areStored: areStored)
            then(result)
            if areStored { onChanges?(changes) }
        }
    }

    /// Commits changes that have taken effect; calls `then` when they are stored or the store fails.
    ///
    /// After a failure the store continues to retry without a waiting caller.
    package func commitOrReport(_ changes: [StoreChange], then: @escaping Completion) {
        let number = impatient.add(then)
        commit(changes) { [unowned self] result in impatient.take(number)?(result) }
        // `healthChanged` reports later failures.
        guard let failure = store.health.failure else { return }
        impatient.take(number)?(.failure(failure.error))
    }

    /// Commits changes that may be refused, and waits for the result.
    nonisolated(nonsending) func committedOrRefused(
        _ changes: [StoreChange]
    ) async -> Result<Void, StoreError> {
        await withCheckedContinuation { continuation in
            commitOrRefuse(changes) { continuation.resume(returning: $0) }
        }
    }

    /// Commits changes that have taken effect, and waits until they are stored or the store fails.
    nonisolated(nonsending) func committed(
        _ changes: [StoreChange]
    ) async -> Result<Void, StoreError> {
        await withCheckedContinuation { continuation in
            commitOrReport(changes) { continuation.resume(returning: $0) }
        }
    }

    /// Returns when all earlier transactions have their result.
    ///
    /// - Returns: whether all that was committed before is stored; `false` if the store is closed or
    ///   damaged.
    package nonisolated(nonsending) func allCommitted() async -> Bool {
        await withCheckedContinuation { continuation in
            commit([]) { result in
                let isKept = if case .success = result { true } else { false }
                continuation.resume(returning: isKept)
            }
        }
    }

    /// Returns when all earlier transactions have their result, or the store refuses new ones.
    nonisolated(nonsending) func waitUntilCommitted() async {
        // The transaction is empty, so its result is irrelevant.
        _ = await committedOrRefused([])
    }

    /// Logs a failed transaction; for lost changes this is the only report.
    private static func logFailure(
        _ error: StoreError,
        _ policy: CommitFailurePolicy,
        _ log: HostLog
    ) {
        log.write(
            policy == .retry ? .error : .warning,
            "store.failed",
            policy == .retry ? "a change is lost: \(error.description)" : error.description
        )
    }

    /// Advances the store's next retry, since there may be room again.
    package func retryNow() { store.retryNow() }

    // MARK: Dead letters

    /// Updates the index of dead letters.
    ///
    /// - Returns: changes that discard excess dead letters; store them in the same transaction.
    private func takeDeadLetters(_ changes: [StoreChange]) -> [StoreChange] {
        var discarded: [StoreChange] = []
        for change in changes {
            guard let (id, plugin) = deadLetters.apply(change) else { continue }
            discarded.append(.discarded(id))
            log.write(
                .warning,
                "request.dropped",
                "`\(plugin)` has \(deadLetters.limit) dead letters, the most that are kept:"
                    + " dropped the oldest, \(id);"
                    + " \(deadLetters.dropped[plugin] ?? 0) dropped since the start",
                plugin: plugin
            )
        }
        return discarded
    }

    /// Recovers the dead letters; excess ones of a plugin are discarded, oldest first.
    ///
    /// - Parameter plugin: the plugin that handles a task; `nil` if the manifest has no such task.
    package func recover(
        dead letters: [(request: RunID, task: String, diedAt: Int64)],
        plugin: (_ task: String) -> String?
    ) {
        var discarded: [StoreChange] = []
        for letter in letters {
            let oldest = deadLetters.add(
                letter.request,
                plugin: plugin(letter.task) ?? "",
                task: letter.task
            )
            if let oldest { discarded.append(.discarded(oldest)) }
        }
        guard !discarded.isEmpty else { return }
        log.write(
            .warning,
            "request.dropped",
            "dropped " + CountText.of(discarded.count, "dead letter")
                + ", the oldest of plugins with more than \(deadLetters.limit)"
        )
        commit(discarded)
    }

    /// Notes from now on which tasks get or lose dead letters, for ``takeDeadLetterChanges()``.
    func noteDeadLetterChanges() { deadLetters.notesChanges = true }

    /// The dead letters that were added and removed since the last call, by task.
    func takeDeadLetterChanges() -> [(task: String, change: Int)] { deadLetters.takeChanges() }

    /// Recovers the sizes of checkpoints.
    package func recover(_ stored: [CheckpointSummary]) { checkpoints = CheckpointLedger(stored) }

    // MARK: Health

    /// Checks the health of the store and notifies the log, the host and waiting callers.
    private func healthChanged() {
        let before = health
        health = store.health
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
            for completion in impatient.takeAll() { completion(.failure(failure.error)) }
        }
        if before.isPressed != health.isPressed { onPressure(pressure(health)) }
        if before.failure != health.failure { onHealth() }
    }

    /// Why no new run may start; logged each time.
    private func pressure(_ health: StoreHealth) -> String? {
        guard health.isPressed else { return nil }
        let reason =
            health.failure.map {
                "the store has been failing since \(Timestamp.text(unixNanoseconds: $0.since))"
            } ?? "transactions that wait for the disk: \(health.waiting)"
        log.write(
            .warning,
            "store.pressed",
            "\(reason); no new run begins until they are stored"
        )
        return reason
    }

    /// The number of transactions that are not stored yet.
    var waiting: Int { store.health.waiting }

    /// The state of the store for `status`.
    package var status: StoreStatus {
        let health = store.health
        return StoreStatus(
            failingSince: health.failure?.since,
            problem: health.failure?.error.message,
            isFinal: health.failure?.isFinal ?? false,
            waiting: health.waiting,
            holdsRuns: health.isPressed
        )
    }

    // MARK: End

    /// Makes the end of the store short.
    package func abortFlush() { store.abortFlush() }

    /// Waits until the store has stored all results, and closes it.
    ///
    /// - Parameter spawner: its thread waits.
    package nonisolated(nonsending) func close(on spawner: Spawner) async {
        if let failure = store.health.failure, !failure.isFinal {
            log.write(
                .warning,
                "store.awaited",
                "not stored yet: " + CountText.of(store.health.waiting, "transaction")
                    + "; bghost waits for that for"
                    + " \(DurationText.of(nanoseconds: Self.drainMax)) at the most, or until"
                    + " it is told to stop again"
            )
        }
        let lost = await Self.flush(on: spawner) { [store] deadline in
            defer { store.close() }
            return store.flush(until: deadline)
        }
        guard lost > 0 else { return }
        log.write(
            .error,
            "store.gave_up",
            "could not store " + CountText.of(lost, "transaction")
                + " before the end: runs that ended in them are"
                + " recorded as lost at the next start, and may run again"
        )
    }

    /// Writes and closes a journal on the spawner's thread at the end of a drain.
    ///
    /// - Parameter flush: gets the deadline; returns the number of
    ///   transactions that were not stored by then.
    package nonisolated(nonsending) static func flush(
        on spawner: Spawner,
        _ flush: @escaping @Sendable (MonotonicInstant) -> Int
    ) async -> Int {
        await withCheckedContinuation { continuation in
            spawner.perform {
                continuation.resume(returning: flush(Monotonic.now + drainMax))
            }
        }
    }
}
