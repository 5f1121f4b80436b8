// SPDX-License-Identifier: Apache-2.0

package import BghostAPI
internal import BghostAudit
package import BghostBase
package import BghostCalendar
package import BghostModel
internal import BghostPolicy
package import BghostServices
internal import BghostStore

/// Notes what others do to the daemon, and answers questions about that.
///
/// The host owns it. Use it on the reactor's thread only; another thread reads the store. A row costs what
/// its commit costs.
package final class AuditCommands {
    /// How often the head goes to the log while rows are added, nanoseconds.
    package static let headPeriod: UInt64 = 3_600_000_000_000
    /// How long a caller waits for a row that the store does not answer, nanoseconds.
    package static let rowWait: UInt64 = 10_000_000_000

    private let commits: CommitQueue
    private let history: HistoryReader
    private let clock: DaemonClock
    private let deadlines: Deadlines
    private let log: HostLog
    private let zone: () -> ZoneTable
    /// One flood must not hide the others' rows.
    private var refusals = AuditLimiter()
    private var logins = AuditLimiter()
    /// When the head goes to the log; `nil` without a row since the last time.
    private var headDeadline: MonotonicInstant?
    private var isChecking = false
    private let waits: RowWaits
    /// Whether the row of the start is stored, or has failed, or there is none.
    private var isStartNoted = true
    /// The questions that wait for the row of the start.
    private var startWaits: [UInt64] = []

    /// - Parameters:
    ///   - rowWait: how long a caller waits for a row, nanoseconds.
    ///   - zone: the zone of the manifest.
    package init(
        _ commits: CommitQueue,
        _ history: HistoryReader,
        _ clock: DaemonClock,
        _ deadlines: Deadlines,
        log: HostLog,
        rowWait: UInt64 = AuditCommands.rowWait,
        zone: @escaping () -> ZoneTable
    ) {
        waits = RowWaits(clock, deadlines, bound: rowWait)
        self.commits = commits
        self.history = history
        self.clock = clock
        self.deadlines = deadlines
        self.log = log
        self.zone = zone
        commits.onAudit = { [unowned self] in rowAdded() }
    }

    // MARK: Rows

    /// Throws if a verb must be refused, because the store fails and the audit is required.
    package func require() throws(OperatorRefusal) {
        guard commits.auditSettings.isRequired, let problem = commits.status.problem else { return }
        throw Self.refusal(problem)
    }

    /// Stores a row, and returns when it is stored, however long that takes: a verb must not begin before.
    package nonisolated(nonsending) func note(_ entry: AuditEntry) async throws(OperatorRefusal) {
        guard case .failure(let error) = await commits.committedOrRefused([.audited(entry)]) else {
            return rowAdded()
        }
        log.write(.error, "audit.failed", "`\(entry.verb)` is not audited: \(error.message)")
        if commits.auditSettings.isRequired { throw Self.refusal(error.message) }
    }

    private static func refusal(_ problem: String) -> OperatorRefusal {
        OperatorRefusal(
            .auditFailed,
            "nothing was done, since it could not be audited: \(problem)",
            fix: "check the disk; `\"audit\": { \"required\": false }` in `host` goes on without"
        )
    }

    /// Stores a row about what has happened already.
    package func noteLater(_ entry: AuditEntry) {
        commits.commit([.audited(entry)])
        rowAdded()
    }

    /// Stores a row about what has happened already, and returns when it is stored, or the store fails or does
    /// not answer.
    package nonisolated(nonsending) func noteEnd(_ entry: AuditEntry) async {
        rowAdded()
        // The store's health is reported elsewhere, and the row is kept until there is room.
        _ = await waits.wait { [waits] number in
            commits.commitOrReport([.audited(entry)]) { _ in waits.resume(number) }
        }
    }

    /// Stores a row about a refused attempt or a login, unless there were too many.
    package func noteBounded(_ entry: AuditEntry) {
        let (user, now) = (entry.actor.uid, clock.monotonic)
        let admitted =
            entry.status == .refused
            ? refusals.admit(user: user, now: now) : logins.admit(user: user, now: now)
        // Without room, these rows must not take what is left in memory from changes.
        guard let dropped = admitted, commits.status.problem == nil else { return }
        guard dropped > 0 else { return noteLater(entry) }
        noteLater(entry.with(entry.status, code: entry.code, refs: "dropped:\(dropped)"))
    }

    // MARK: The row of the start

    /// Begins to note what the start took up; questions wait for the row.
    package func startNoteBegan() { isStartNoted = false }

    /// Answers the questions that wait for the row of the start.
    package func startNoteEnded() {
        isStartNoted = true
        for number in startWaits { waits.resume(number) }
        startWaits = []
    }

    private nonisolated(nonsending) func waitForStart() async throws(OperatorRefusal) {
        guard !isStartNoted else { return }
        if await waits.wait({ startWaits.append($0) }) { return }
        startWaits.removeAll { !waits.isWaiting($0) }
        throw OperatorRefusal(
            .unavailable,
            "the store does not answer: the row about the start of this daemon is not stored after "
                + DurationText.of(nanoseconds: waits.bound),
            fix: "look for errors of the disk in the kernel's log, and ask again"
        )
    }

    // MARK: Questions

    /// A page of rows; after the start, once it has the row about it.
    ///
    /// - Throws: if a time of the question cannot be read, or if the store does not answer.
    package nonisolated(nonsending) func rows(
        _ question: AuditQuestion
    ) async throws(OperatorRefusal) -> AuditPage {
        var query = question.query
        if let since = question.since {
            query.since = try clock.past(since, of: "since", in: zone())
        }
        if let until = question.until {
            query.until = try clock.past(until, of: "until", in: zone())
        }
        try await waitForStart()
        let wanted = query
        return try await history.read { $0.audit(wanted) }
    }

    /// Compares the whole chain, in pieces between which others are answered.
    ///
    /// - Parameter head: what the log had; `nil` if nothing is known.
    package nonisolated(nonsending) func check(
        expecting head: AuditHead?
    ) async throws(OperatorRefusal) -> AuditVerdict {
        guard !isChecking else {
            throw OperatorRefusal(
                .unavailable,
                "another check of the audit is under way",
                fix: "try again once it has ended"
            )
        }
        isChecking = true
        defer { isChecking = false }
        var check = AuditCheck(expecting: head)
        while !check.isFinished {
            let last = check
            guard let next = await history.ask({ $0.advance(last) }) else {
                throw OperatorRefusal(
                    .unavailable,
                    "the store cannot be read",
                    fix: "the log says why"
                )
            }
            check = next
        }
        return check.verdict
    }

    // MARK: The head in the log

    /// Arms the deadline at which the head goes to the log.
    private func rowAdded() {
        guard headDeadline == nil else { return }
        let deadline = clock.monotonic + Self.headPeriod
        headDeadline = deadline
        deadlines.arm(.auditHead, at: deadline)
    }

    package func isLive(_ token: TimerToken, _ deadline: MonotonicInstant) -> Bool {
        token == .auditRow ? waits.isLive(deadline) : deadline == headDeadline
    }

    package func deadlinePassed(_ token: TimerToken) {
        guard token == .auditHead else { return waits.deadlinePassed() }
        headDeadline = nil
        // The answer comes from another thread; there is nothing to wait for.
        reference.performAsync { await $0.logHead() }
    }

    private lazy var reference = ReactorReference(self, on: commits.reactor)

    /// Writes the head of the chain to the log, so that rows that are cut off later are missed.
    package nonisolated(nonsending) func logHead() async {
        // Rows that were committed before are part of it, unless there is no room for them.
        await commits.waitUntilCommitted()
        guard let head = await history.ask({ $0.auditHead() }) else { return }
        log.write(.info, "audit.head", "the audit ends with row \(head.text)")
    }
}

extension CommitQueue {
    /// Adds the row of the verb that is under way to the transaction of its change.
    func audited(_ changes: [StoreChange]) -> [StoreChange] {
        guard let scope = AuditScope.current, !changes.isEmpty,
            !scope.isSubmission || auditSettings.notesSubmissions
        else { return changes }
        onAudit()
        return changes + [.audited(scope.stored(changes.compactMap(\.request)))]
    }
}

extension StoreChange {
    /// The request that an operator's change is about.
    fileprivate var request: RunID? {
        switch self {
        case .accepted(let request, _), .redriven(let request): request.id
        case .closed(let id, _), .discarded(let id), .checkpointDeleted(let id): id
        default: nil
        }
    }
}

extension DaemonClock {
    /// Reads a time of a question.
    ///
    /// - Parameter key: what the time is for.
    /// - Returns: Unix nanoseconds.
    func past(
        _ text: String,
        of key: String,
        in zone: ZoneTable
    ) throws(OperatorRefusal) -> Int64 {
        if let time = PastTime.parse(text, now: wall, in: zone) { return time }
        let shown = PrintableText.escaped(String(text.prefix(40)))
        throw OperatorRefusal(
            .badTime,
            "`\(shown)` is no time for `\(key)`",
            fix: "give \(PastTime.forms)"
        )
    }
}
