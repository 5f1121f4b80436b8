// SPDX-License-Identifier: Apache-2.0

package import BghostAudit
package import BghostBase
package import BghostModel
package import BghostNotify
package import BghostPolicy

/// The state of an opened store, from earlier processes.
package struct RecoveredState: Sendable {
    /// Increases each time that the store is opened; it is the upper half of each epoch.
    package var incarnation: UInt32
    /// Requests without a run, the oldest first.
    package var pending: [Request]
    /// Runs that were in progress when the daemon ended, with their requests.
    package var interrupted: [(request: Request, run: RunRecord)]
    package var tasks: [TaskMemory]
    /// Dead requests, in the order in which they died.
    package var dead: [(request: RunID, task: String, diedAt: Int64)]
    /// Disabled plugins, and why.
    package var disabledPlugins: [String: String]
    /// Quarantined plugins, by name.
    package var quarantines: [Quarantine]
    /// The pauses in force, the oldest first.
    package var pauses: [Pause]
    /// How long plugins with a runtime budget ran within the last day.
    package var runtime: [RuntimeUse]
    /// Notifications that are not delivered yet, or may still be answered.
    package var notifications: [NotificationRow]
    /// The alerts that fire, or whose end no receiver knows, the oldest first.
    package var alerts: [AlertRow]
    /// How the tasks did lately of which something is expected.
    package var progress: [TaskProgress]
    /// The checkpoints of requests, without their bytes.
    package var checkpoints: [CheckpointSummary]
    /// The manifest that the previous daemon took up last, as it was committed; `nil` if there is none.
    package var manifest: String?

    package init(
        incarnation: UInt32,
        pending: [Request] = [],
        interrupted: [(request: Request, run: RunRecord)] = [],
        tasks: [TaskMemory] = [],
        dead: [(request: RunID, task: String, diedAt: Int64)] = [],
        disabledPlugins: [String: String] = [:],
        quarantines: [Quarantine] = [],
        pauses: [Pause] = [],
        runtime: [RuntimeUse] = [],
        notifications: [NotificationRow] = [],
        alerts: [AlertRow] = [],
        progress: [TaskProgress] = [],
        checkpoints: [CheckpointSummary] = [],
        manifest: String? = nil
    ) {
        self.incarnation = incarnation
        self.pending = pending
        self.interrupted = interrupted
        self.tasks = tasks
        self.dead = dead
        self.disabledPlugins = disabledPlugins
        self.quarantines = quarantines
        self.pauses = pauses
        self.runtime = runtime
        self.notifications = notifications
        self.alerts = alerts
        self.progress = progress
        self.checkpoints = checkpoints
        self.manifest = manifest
    }
}

/// The answer to a question for a checkpoint.
package enum StoredCheckpoint: Equatable, Sendable {
    case none
    case found(Checkpoint)
    /// The store could not be read, so there may be one.
    case unreadable
}

/// Why a transaction was not kept, or a store not opened.
package struct StoreError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The kind of the failure, as far as the host acts on it.
    package enum Kind: Equatable, Sendable {
        /// No room: the host accepts nothing new until there is; runs continue.
        case full
        /// The file or its folder cannot be written.
        case readOnly
        /// The file is damaged; nothing in it may be overwritten.
        case corrupt
        /// Another daemon has the file open.
        case taken
        case other
    }

    package let kind: Kind
    /// What happened, where, and what to do.
    package let message: String

    /// Escapes terminal control characters, since the message may quote a damaged file.
    package init(_ message: String, kind: Kind = .other) {
        self.kind = kind
        self.message = PrintableText.escaped(message)
    }

    package var description: String { message }
}

/// The store of requests and runs.
///
/// One host writes. It may start a transaction before the previous one is answered; transactions
/// take effect in the order of the calls, so an implementation may commit several at once.
///
/// Queries are answered from the committed data and from all earlier transactions that were not
/// refused.
///
/// What a caller may rely on depends on the policy:
/// - `.refuse`: the answer is success, and then the transaction is on the disk, or failure, and
///   then none of it has happened or will happen. The answer comes soon, even while the disk is
///   full. The caller must not have acted on the change before. Used for submissions of operators and
///   handlers, requests that deliver notifications, redrives, discards, posted notifications, saved
///   and deleted checkpoints, and the row of a verb that has still to be carried out. The caller is told;
///   a refused delivery counts as failed, and the outbox tries it again.
/// - `.retry`: the change has already happened, and is kept before every transaction that is
///   committed after it. The answer comes once it is kept, however long that takes. Failure means
///   that it will never be kept: the store is closed or damaged, its last sync failed
///   (`Failure.isFinal`), or the transaction itself is at fault. Used for starts and ends of runs,
///   served and skipped times with the requests that follow from them, wakes of sessions, the scheduler's
///   state of tasks, uses, used runtime, switches, quarantines, pauses, results of deliveries,
///   withdrawals, alerts, the manifest, and rows of the audit about what has happened. An operator who
///   waits for one of them learns of a failure at once, although the store goes on trying
///   (`CommitQueue.commitOrReport`).
///
/// After a crash everything that was answered is there. Of what was not answered, any prefix may be there,
/// in whole transactions. Which caller may lose what is in `docs/RELIABILITY.md`.
///
/// The writers limit how much waits: while `health.isPressed`, the host starts nothing that would
/// add to it, and the store refuses what it may refuse.
package protocol Store: AnyObject, Sendable {
    /// Commits a transaction.
    ///
    /// - Parameters:
    ///   - isAwaited: whether the caller waits for the answer. The calling thread may then have to
    ///     wait for the disk, if that is fast and no other transaction is being written.
    ///   - onFailure: what happens to the transaction if it cannot be kept now.
    ///   - completion: called exactly once, when the transaction is as durable as this store makes
    ///     it, or has failed. The calls are in the order of the commits, except that a refusal may
    ///     precede the answer to a transaction that is retried. It may be called before `commit`
    ///     returns, and on any thread.
    func commit(
        _ changes: [StoreChange],
        isAwaited: Bool,
        onFailure: CommitFailurePolicy,
        completion: @escaping @Sendable (Result<Void, StoreError>) -> Void
    )

    /// Whether the store keeps its transactions, and since when it does not.
    var health: StoreHealth { get }

    /// Sets a function to call when the failure or the pressure in `health` changes, on any thread.
    ///
    /// It must be short, and must not commit.
    func onHealthChange(_ body: @escaping @Sendable () -> Void)

    /// Advances the next retry, since there may be room again.
    func retryNow()

    /// Sets how much history is kept.
    ///
    /// It returns at once; the thread that writes deletes the rest in small pieces.
    func keep(history policy: HistoryPolicy)

    /// Calls a function on the thread that writes, after the transaction that it writes now.
    ///
    /// It tells whether that thread still works, also while transactions are retried. A store without such
    /// a thread calls it at once; a closed one may never call it. The function must be short and must not
    /// call the store.
    func answer(_ body: @escaping @Sendable () -> Void)

    /// Waits until every commit is kept, at most until the deadline, and not long after `abortFlush`.
    ///
    /// - Returns: how many transactions are not kept.
    func flush(until deadline: MonotonicInstant) -> Int

    /// Makes `flush` return soon.
    func abortFlush()

    /// Reads the state that a starting daemon restores.
    ///
    /// - Parameters:
    ///   - expect: called first with the number of requests, or a slightly larger number.
    ///   - each: called with every request without a run, the oldest first, while the store is
    ///     read; it must not call the store. The requests are valid only if this method returns.
    /// - Returns: the rest of the state; its `pending` is empty.
    func recover(
        expecting expect: (Int) -> Void,
        _ each: (Request) -> Void
    ) throws(StoreError) -> RecoveredState

    /// The ended runs, the newest first.
    func runs(task: String?, limit: Int) -> [RunRecord]

    /// A page of ended runs.
    ///
    /// A run whose end is not committed yet has no number, and may come again with one.
    func runs(_ query: RunQuery) -> RunPage

    /// A page of starts that did not happen, the latest due date first.
    ///
    /// A start that is not committed yet may come again on a later page.
    func skippedStarts(_ query: SkippedStartQuery) -> SkippedStartPage

    /// A page of the sums of runs by task and day.
    ///
    /// Only what is on the disk: a run that is not committed yet is in no sum.
    func runDays(_ query: RunDayQuery) -> RunDayPage

    /// The runs of a task that ended at a time or later, the oldest first.
    ///
    /// - Parameter date: Unix nanoseconds.
    func runs(task: String, endedFrom date: Int64, limit: Int) -> [RunRecord]

    /// When the oldest run ended that is kept, Unix nanoseconds; `nil` if there is none.
    func oldestEnd() -> Int64?

    /// Ended runs whose ids start with a prefix, the newest first.
    func runs(idPrefix: String, limit: Int) -> [RunRecord]

    /// The newest ended run of a request.
    func run(ofRequest id: RunID) -> RunRecord?

    /// The end of the output of an ended run; "" if it printed nothing, or if its output was
    /// deleted because later runs printed much.
    func output(ofRun id: RunID) -> String

    /// The checkpoint of a request.
    func checkpoint(ofRequest id: RunID) -> StoredCheckpoint

    /// The checkpoints of requests whose ids have this prefix, in the order of the ids; only what is on
    /// the disk.
    func checkpoints(idPrefix: String, limit: Int) -> [CheckpointSummary]

    /// A page of the checkpoints, those of the newest requests first; only what is on the disk.
    func checkpoints(_ query: CheckpointQuery) -> CheckpointPage

    /// The newest ended run of a task.
    func lastRun(task: String) -> RunRecord?

    /// The newest ended run of each of some tasks; one without runs is left out.
    ///
    /// Ask for at most ``lastRunsMax`` at once, so that other questions get their turn.
    func lastRuns(tasks: [String]) -> [String: RunRecord]

    /// Dead letters, the newest first.
    func deadLetters(task: String?, limit: Int) -> [DeadLetter]

    /// A page of dead letters, the newest first.
    func deadLetters(_ query: DeadLetterQuery) -> DeadLetterPage

    /// Rows of the audit.
    ///
    /// Only what is on the disk: rows of transactions that wait are no part of the chain yet.
    func audit(_ query: AuditQuery) -> AuditPage

    /// The newest row of the audit that is on the disk.
    func auditHead() -> AuditHead?

    /// Compares the next piece of the audit's chain.
    ///
    /// - Returns: `nil` if the store cannot be read.
    func advance(_ check: AuditCheck) -> AuditCheck?

    /// Writes a copy of all committed data while the store is in use.
    ///
    /// Blocks until the copy is complete and synced. The file must not exist.
    func backup(to path: String) throws(StoreError)

    /// Waits for all commits and closes the file.
    ///
    /// Transactions that cannot be kept are tried once more, and then fail. Later commits fail.
    func close()
}

extension Store {
    /// Commits a transaction with the policy `.refuse`.
    package func commit(
        _ changes: [StoreChange],
        isAwaited: Bool = true,
        completion: @escaping @Sendable (Result<Void, StoreError>) -> Void
    ) {
        commit(changes, isAwaited: isAwaited, onFailure: .refuse, completion: completion)
    }

    /// Reads the state with all requests in memory at once; meant for few requests.
    package func recover() throws(StoreError) -> RecoveredState {
        var pending: [Request] = []
        var state = try recover(expecting: { pending.reserveCapacity($0) }) { pending.append($0) }
        state.pending = pending
        return state
    }
}

extension Store {
    /// How many tasks one statement for their newest runs has.
    package static var lastRunsMax: Int { 256 }
}
