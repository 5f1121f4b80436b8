// SPDX-License-Identifier: Apache-2.0

package import BghostBase
package import BghostFacts
package import BghostModel
package import BghostPolicy

/// A simulation of the scheduler under a virtual clock: time jumps from event to event.
///
/// A year takes seconds, and the same seed leads to the same events. The scheduler, the run machine and their limits
/// are those of the daemon. The machine is simulated: handlers follow scripts, and the store is a ledger.
package struct Simulation: Sendable {
    /// An event of the simulation.
    package enum Event: Sendable {
        case began(RunRecord)
        case ended(RunRecord)
        case note(SchedulerNote)
        /// A forbidden transition: a bug in bghost.
        case fault(Ledger.Fault)
    }

    private struct VirtualRun: Sendable {
        let handle: RunHandle
        var record: RunRecord
        var machine: RunMachine
        let script: RunScript
        /// The current deadlines; others in the heap are stale.
        var limit: MonotonicInstant = .never
        var completion: MonotonicInstant = .never
        var completes: RunMachine.Event = .workerLost
    }

    /// The results of an identifier's requests.
    package struct TaskCounts: Equatable, Sendable {
        package var runs = 0
        package var outcomes: [Outcome: Int] = [:]
        /// Requests that ended without a run, except replaced ones.
        package var missed = 0
        package var dead = 0
        /// The longest delay of a start after its date, nanoseconds.
        package var latest: Int64 = 0

        init() {}
    }

    /// Creates the script of a run.
    package typealias Author =
        @Sendable (RunStart, Moment, inout SplitMix64) -> RunScript

    private(set) var settings: Scheduler.Settings
    private(set) var now: Moment
    package var scheduler: Scheduler
    package private(set) var ledger = Ledger()
    package private(set) var faults: [Ledger.Fault] = []
    /// All transactions, if they are recorded.
    private(set) var transactions: [(at: Int64, changes: [StoreChange])] = []
    private let keepsTransactions: Bool
    /// The results by identifier.
    package private(set) var counts: [String: TaskCounts] = [:]
    /// The simulated facts of the machine.
    private(set) var facts = FactSheet()
    /// The longest time by which a run exceeded its runtime and grace, nanoseconds.
    package private(set) var longestOverrun: UInt64 = 0
    private let author: Author
    private let observe: (@Sendable (Moment, Event) -> Void)?
    private var random: SplitMix64
    private var runs: [Int: VirtualRun] = [:]
    private var timers = TimerHeap()
    private var decisions: [SchedulerEffect] = []
    private var isCarryingOut = false
    /// Submissions of handlers; the daemon handles them after its pending effects.
    private var submissions: [(Submission, by: RunID)] = []

    /// Creates a simulation with an empty store.
    ///
    /// - Parameters:
    ///   - start: Unix nanoseconds.
    ///   - author: creates the scripts of runs.
    ///   - keepsTransactions: whether to record all transactions in `transactions`.
    ///   - observe: called for each event.
    package init(
        _ settings: Scheduler.Settings,
        start: Int64,
        keepsTransactions: Bool = false,
        author: @escaping Author,
        observe: (@Sendable (Moment, Event) -> Void)? = nil
    ) {
        self.settings = settings
        self.keepsTransactions = keepsTransactions
        self.author = author
        self.observe = observe
        // Handlers have their own random numbers, so those of the scheduler do not change what they do.
        random = SplitMix64(seed: ~settings.seed)
        now = Moment(monotonic: .zero, unix: start)
        scheduler = Scheduler(settings)
        ledger.open()
        scheduler.setIncarnation(ledger.incarnation, now: now)
        scheduler.start(now: now, &decisions)
        execute()
    }

    // MARK: Time

    /// Advances to a time, Unix nanoseconds, and processes all events until then.
    package mutating func run(until end: Int64) {
        while let next = nextUnix, next <= end { step(to: next) }
        if now.unix < end { advance(to: end) }
    }

    /// Advances by a number of nanoseconds.
    mutating func run(for length: Int64) { run(until: now.unix.addingClamped(length)) }

    /// The time of the next event, Unix nanoseconds.
    private var nextUnix: Int64? {
        let date = scheduler.nextDate.map { max($0, now.unix) }
        let timer = timers.next.map { deadline in
            let wait = MonotonicInstant(nanoseconds: deadline).since(now.monotonic)
            return now.unix.addingClamped(Int64(clamping: wait))
        }
        return [date, timer].compactMap(\.self).min()
    }

    private mutating func advance(to unix: Int64) {
        let passed = max(0, unix.subtractingClamped(now.unix))
        now.unix = now.unix.addingClamped(passed)
        now.monotonic = now.monotonic + UInt64(passed)
    }

    private mutating func step(to unix: Int64) {
        advance(to: unix)
        while let token = popDue() { fire(token) }
        guard let date = scheduler.nextDate, date <= now.unix else { return }
        scheduler.timerFired(now: now, &decisions)
        execute()
    }

    private mutating func popDue() -> UInt64? {
        let runs = runs
        return timers.popDue(now: now.monotonic.nanoseconds) { token, deadline in
            let run = runs[Int(token >> 1)]
            return deadline == (token & 1 == 0 ? run?.limit : run?.completion)?.nanoseconds
        }
    }

    private mutating func fire(_ token: UInt64) {
        let index = Int(token >> 1)
        guard let run = runs[index] else { return }
        if token & 1 == 0 {
            handle(.deadline, of: index)
        } else {
            runs[index]?.completion = .never
            handle(run.completes, of: index)
        }
        execute()
    }

    /// Sets the wall clock, forward or back; the monotonic clock is unchanged.
    mutating func setClock(to unix: Int64) {
        now.unix = unix
        scheduler.clockWasSet(now: now, &decisions)
        execute()
    }

    // MARK: Actions of others

    /// Submits a request as an operator.
    ///
    /// - Returns: `nil` if an existing request takes precedence.
    @discardableResult
    mutating func submit(
        _ submission: Submission,
        isManual: Bool = false,
        by submitter: Submitter = .operator
    ) throws(SubmitError) -> RunID? {
        let accepted = try scheduler.accept(
            submission,
            isManual: isManual,
            by: submitter,
            now: now
        )
        guard let accepted else { return nil }
        commit([accepted.change])
        scheduler.finishSubmission(accepted, isStored: true, now: now, &decisions)
        execute()
        return accepted.request.id
    }

    /// Sets the value of requirements.
    package mutating func set(_ requirements: RequirementSet, _ value: FactValue) {
        let changed = facts.simulate(requirements, as: value, now: now)
        scheduler.factsChanged(facts, changed, now: now, &decisions)
        execute()
    }

    /// Calls a method of the scheduler and carries out its effects.
    mutating func ask(
        _ event: (inout Scheduler, Moment, inout [SchedulerEffect]) -> Void
    ) {
        event(&scheduler, now, &decisions)
        execute()
    }

    /// Replaces the manifest while runs are in progress.
    package mutating func reload(_ manifest: Manifest, slots: Int? = nil) {
        settings.manifest = manifest
        settings.slots = slots ?? settings.slots
        scheduler.reload(
            manifest,
            slots: settings.slots,
            replacing: [],
            now: now,
            &decisions
        )
        execute()
        scheduler.dispatch(now: now, &decisions)
        execute()
    }

    /// Ends the daemon with all its workers, and starts a new one on the same store after a downtime.
    ///
    /// - Parameter downtime: nanoseconds.
    mutating func crash(downtime: Int64 = 0) {
        restart(from: ledger, downtime: downtime)
    }

    /// Ends the daemon, and starts a new one on another store, such as an earlier state.
    mutating func restart(from ledger: Ledger, downtime: Int64 = 0) {
        self.ledger = ledger
        runs = [:]
        timers = TimerHeap()
        decisions = []
        submissions = []
        advance(to: now.unix.addingClamped(downtime))
        self.ledger.open()
        var settings = settings
        settings.seed = random.next()
        scheduler = Scheduler(settings)
        scheduler.setIncarnation(self.ledger.incarnation, now: now)
        for (name, reason) in ledger.disabledPlugins.sorted(by: { $0.key < $1.key }) {
            scheduler.restore(disabledPlugin: name, reason: reason, now: now)
        }
        for pause in ledger.pauses.values { scheduler.restore(pause, now: now) }
        for memory in ledger.memories.values.sorted(by: { $0.identifier < $1.identifier }) {
            scheduler.restore(memory, now: now)
        }
        for use in ledger.uses { scheduler.restore(use, now: now) }
        for request in ledger.pending.values.sorted(by: { $0.id < $1.id }) {
            scheduler.restore(request, now: now, &decisions)
        }
        for lease in ledger.leases.values.sorted(by: { $0.run.id < $1.run.id }) {
            scheduler.restore(interrupted: lease.run, of: lease.request, now: now, &decisions)
        }
        execute()
        scheduler.factsChanged(facts, [], now: now, &decisions)
        scheduler.start(now: now, &decisions)
        execute()
    }

    // MARK: Effects

    private mutating func execute() {
        guard !isCarryingOut else { return }
        isCarryingOut = true
        var index = 0
        while index < decisions.count {
            execute(decisions[index])
            index += 1
        }
        decisions.removeAll(keepingCapacity: true)
        isCarryingOut = false
        guard let (submission, run) = submissions.popLast() else { return }
        // The handler must deal with a refused submission.
        _ = try? submit(submission, by: .run(run))
        execute()
    }

    private mutating func execute(_ effect: SchedulerEffect) {
        switch effect {
        case .commit(let changes): commit(changes)
        case .commitEnd(let changes, let record):
            commit(changes)
            if let outcome = record.outcome {
                counts[record.task, default: TaskCounts()].outcomes[outcome, default: 0] += 1
            }
            observe?(now, .ended(record))
        case .startRun(let start): begin(start)
        case .stop(let run, let reason, _): handle(.stop(reason), of: run.index)
        case .log(let note):
            switch note {
            case .closed(let request, .missed), .closed(let request, .skipped):
                counts[request.task, default: TaskCounts()].missed += 1
            case .dead(let request, _): counts[request.task, default: TaskCounts()].dead += 1
            default: break
            }
            observe?(now, .note(note))
        case .claimStart(let claim): scheduler.fleetAnswered(claim, .claimed, now: now, &decisions)
        case .inspect, .requestClosed, .releaseStart: break
        }
    }

    private mutating func commit(_ changes: [StoreChange]) {
        if keepsTransactions { transactions.append((now.unix, changes)) }
        for change in changes {
            do throws(Ledger.Fault) {
                try ledger.apply(change, now: now.unix)
            } catch {
                faults.append(error)
                observe?(now, .fault(error))
            }
        }
    }

    // MARK: Runs

    private mutating func begin(_ start: RunStart) {
        commit([.runStarted(start.record)] + start.changes)
        var record = start.record
        record.state = .running
        record.startedAt = now.unix
        let wanted = ledger.leases[record.request]?.request.earliestBegin ?? now.unix
        counts[record.task, default: TaskCounts()].runs += 1
        let lateness = now.unix.subtractingClamped(wanted)
        if counts[record.task]?.latest ?? 0 < lateness { counts[record.task]?.latest = lateness }
        let script = author(start, now, &random)
        var run = VirtualRun(
            handle: start.handle,
            record: record,
            machine: RunMachine(limits: record.limits, isKillable: true),
            script: script
        )
        run.completes =
            switch script.ending {
            case .succeeds: .completed(status: 0)
            case .fails: .completed(status: -1)
            case .crashes: .exited(.signalled(11))
            case .never: .workerLost
            }
        if script.ending != .never {
            run.completion = now.monotonic + script.length
            let end = run.completion.nanoseconds
            timers.insert(deadline: end, token: UInt64(start.handle.index) << 1 | 1)
        }
        runs[start.handle.index] = run
        observe?(now, .began(record))
        handle(.began, of: start.handle.index)
        if let submission = script.submission { submissions.append((submission, record.id)) }
    }

    private mutating func handle(_ event: RunMachine.Event, of index: Int) {
        var effects: [RunMachine.Effect] = []
        runs[index]?.machine.handle(event, now: now.monotonic, &effects)
        for effect in effects {
            switch effect {
            case .arm(let deadline):
                runs[index]?.limit = deadline
                timers.insert(deadline: deadline.nanoseconds, token: UInt64(index) << 1)
            case .cancel: ask(index)
            // The process ends at once after the kill.
            case .kill: handle(.exited(.signalled(9)), of: index)
            case .end(let outcome): end(index, outcome)
            }
        }
    }

    /// Cancels the handler of a run.
    private mutating func ask(_ index: Int) {
        guard let run = runs[index] else { return }
        guard case .stops(let wait) = run.script.whenAsked else { return }
        let completion = now.monotonic + wait
        guard completion < run.completion else { return }
        runs[index]?.completion = completion
        runs[index]?.completes = .completed(status: -3)
        timers.insert(deadline: completion.nanoseconds, token: UInt64(index) << 1 | 1)
    }

    private mutating func end(_ index: Int, _ outcome: Outcome) {
        guard let run = runs.removeValue(forKey: index) else { return }
        var record = run.record
        record.state = .ended
        record.outcome = outcome
        record.stopReason = run.machine.stopReason
        record.endedAt = now.unix
        let lasted = run.machine.beganAt.map { now.monotonic.since($0) } ?? 0
        record.duration = Duration(nanoseconds: lasted)
        let allowed = run.machine.runtime + run.machine.grace
        if lasted > allowed { longestOverrun = max(longestOverrun, lasted - allowed) }
        scheduler.runEnded(
            run.handle,
            RunFinish(
                record: record,
                outcome: outcome,
                isFinal: run.machine.isFinal,
                stoppedAfter: run.machine.stoppingFor(now: now.monotonic)
            ),
            now: now,
            &decisions
        )
        execute()
    }
}
