// SPDX-License-Identifier: Apache-2.0

@testable import BghostBase
import BghostModel
@testable import BghostPolicy
import BghostSimulation
import BghostTestSupport
import Testing

/// A scheduler that is driven by hand, with a store that is a few dictionaries: whatever it decides
/// is carried out at once, and its runs end when the test says so.
struct SchedulerHand {
    /// A Saturday in 2026, at noon.
    static let noon: Int64 = 1_795_262_400_000_000_000
    static let second: Int64 = 1_000_000_000
    static let hour: Int64 = 3600 * second
    static let day: Int64 = 24 * hour

    private(set) var scheduler: Scheduler
    private(set) var now: Moment
    private(set) var pending: [RunID: Request] = [:]
    private(set) var memories: [String: TaskMemory] = [:]
    private(set) var runtime: [RuntimeUse] = []
    private(set) var pauses: [PauseTarget: Pause] = [:]
    /// The claims to starts of schedules, and their ends.
    private(set) var claimed: [FleetClaim] = []
    private(set) var released: [(claim: FleetClaim, release: FleetRelease)] = []
    /// How requests ended that got no run.
    private(set) var ends: [RunID: RequestEnd] = [:]
    /// Starts that did not happen, or happened late.
    private(set) var skipped: [SkippedStart] = []
    /// Runs under way, in the order in which they began.
    private(set) var begun: [RunStart] = []
    private(set) var notes: [SchedulerNote] = []
    /// Runs that were asked to stop.
    private(set) var stopped: [RunHandle] = []
    /// What happened, and what was decided.
    private(set) var journal: [(inputs: [SchedulerInput.Entry], effects: [SchedulerEffect])] = []

    init(
        _ manifest: Manifest,
        slots: Int = 4,
        at unix: Int64 = noon,
        doubting doubt: ClockDoubt? = nil
    ) {
        now = Moment(monotonic: 1_000_000_000_000, unix: unix)
        scheduler = Self.scheduler(manifest, slots: slots)
        scheduler.keepInputs()
        perform { scheduler, now, effects in
            scheduler.clockChecked(doubt, now: now, &effects)
            scheduler.start(now: now, &effects)
        }
    }

    private static func scheduler(
        _ manifest: Manifest,
        slots: Int,
        boot: String = ""
    ) -> Scheduler {
        var settings = settings(manifest, slots: slots)
        settings.bootID = boot
        return Scheduler(settings)
    }

    static func settings(_ manifest: Manifest, slots: Int = 4) -> Scheduler.Settings {
        Scheduler.Settings(
            manifest: manifest,
            manifestPath: "tasks.json",
            slots: slots,
            machineID: "machine",
            seed: 1
        )
    }

    /// A manifest of tasks of one plugin, each with the handler of its name.
    static func manifest(
        _ tasks: String...,
        adjust: (inout TaskDefinition) -> Void = { _ in }
    ) throws -> Manifest {
        Manifest(
            plugins: [
                PluginDefinition(
                    name: "plugin",
                    library: "plugin.so",
                    maxPending: PendingLimits(refresh: 1000, processing: 1000)
                )
            ],
            tasks: try tasks.map { name in
                var task = TaskDefinition(
                    identifier: try #require(IdentifierPattern(name)),
                    handler: .plugin(name: "plugin", handler: name)
                )
                adjust(&task)
                return task
            }
        )
    }

    // MARK: Events

    @discardableResult
    mutating func perform<Answer, Failure>(
        _ event: (inout Scheduler, Moment, inout [SchedulerEffect]) throws(Failure) -> Answer
    ) throws(Failure) -> Answer {
        var effects: [SchedulerEffect] = []
        let answer = try event(&scheduler, now, &effects)
        journal.append((scheduler.takeInputs(), effects))
        for effect in effects { execute(effect) }
        return answer
    }

    /// Puts another manifest in the place of the first, while runs are under way.
    @discardableResult
    mutating func reload(
        _ manifest: Manifest,
        slots: Int = 4,
        replacing replaced: [String] = [],
        keeping kept: [Int] = []
    ) -> ReloadOutcome {
        let outcome = perform { scheduler, now, effects in
            scheduler.reload(
                manifest,
                slots: slots,
                replacing: replaced,
                keeping: kept,
                now: now,
                &effects
            )
        }
        perform { $0.dispatch(now: $1, &$2) }
        return outcome
    }

    /// Puts another scheduler in the place of this one, as a daemon that starts again does.
    mutating func restart(
        _ manifest: Manifest,
        slots: Int = 4,
        boot: String = "",
        doubting doubt: ClockDoubt? = nil
    ) {
        scheduler = Self.scheduler(manifest, slots: slots, boot: boot)
        begun = []
        notes = []
        let (memories, pending) = (memories.values, pending.values.sorted { $0.id < $1.id })
        perform { [runtime, pauses] scheduler, now, effects in
            for pause in pauses.values { scheduler.restore(pause, now: now) }
            for use in runtime { scheduler.restore(use, now: now) }
            for memory in memories { scheduler.restore(memory, now: now) }
            for request in pending { scheduler.restore(request, now: now, &effects) }
            scheduler.clockChecked(doubt, now: now, &effects)
            scheduler.start(now: now, &effects)
        }
    }

    /// Puts another scheduler in the place of this one, ten seconds after a boot of the machine.
    mutating func reboot(_ manifest: Manifest, as boot: String, at unix: Int64) {
        now = Moment(monotonic: 10_000_000_000, unix: unix)
        restart(manifest, boot: boot)
    }

    /// Lets time pass, stopping at each date at which the scheduler wants to be called.
    mutating func pass(_ nanoseconds: Int64) {
        let end = now.unix + nanoseconds
        while let date = scheduler.nextDate, date <= end {
            advance(to: max(date, now.unix))
            perform { $0.timerFired(now: $1, &$2) }
            // A date that does not go away is a busy loop of the daemon.
            guard scheduler.nextDate != date else {
                Issue.record("the date \(date) stays")
                return
            }
        }
        advance(to: end)
    }

    private mutating func advance(to unix: Int64) {
        now.monotonic += UInt64(unix - now.unix)
        now.unix = unix
    }

    /// Moves the clock without a call of the scheduler.
    mutating func skip(_ nanoseconds: Int64) { advance(to: now.unix + nanoseconds) }

    /// The machine sleeps: only the clock of limits stands still.
    mutating func sleep(_ nanoseconds: Int64) {
        now.unix += nanoseconds
        now.slept += UInt64(nanoseconds)
    }

    /// Sets the wall clock without a word.
    mutating func jump(to unix: Int64) { now.unix = unix }

    /// Sets the wall clock, and says so.
    mutating func setClock(_ unix: Int64) {
        jump(to: unix)
        perform { $0.clockWasSet(now: $1, &$2) }
    }

    @discardableResult
    mutating func submit(
        _ submission: Submission,
        by submitter: Submitter = .operator
    ) throws -> Request {
        let accepted = try #require(
            try perform { scheduler, now, _ in
                try scheduler.accept(submission, by: submitter, now: now)
            }
        )
        execute(.commit([accepted.change]))
        perform { $0.finishSubmission(accepted, isStored: true, now: $1, &$2) }
        return accepted.request
    }

    @discardableResult
    mutating func trigger(_ task: String) throws -> Request {
        let submission = Submission(task: task)
        let accepted = try #require(
            try perform { scheduler, now, _ in
                try scheduler.accept(submission, isManual: true, now: now)
            }
        )
        execute(.commit([accepted.change]))
        perform { $0.finishSubmission(accepted, isStored: true, now: $1, &$2) }
        return accepted.request
    }

    /// All transfers of a session have ended; its wake starts after this time.
    mutating func wake(_ task: String, after nanoseconds: Int64) throws {
        let made = perform { scheduler, now, _ in
            scheduler.wake(
                task,
                id: RunID(high: 1, low: 1),
                earliest: now.unix + nanoseconds,
                now: now
            )
        }
        let accepted = try #require(made)
        execute(.commit([accepted.change]))
        perform { $0.finishSubmission(accepted, isStored: true, now: $1, &$2) }
    }

    /// - Returns: whether that was news.
    @discardableResult
    mutating func use(_ task: String) -> Bool {
        keep(perform { scheduler, now, _ in scheduler.resultUsed(task, now: now) })
    }

    /// - Returns: whether there was something to forget.
    mutating func forgetUses(_ task: String) -> Bool {
        keep(perform { scheduler, now, _ in scheduler.forgetUses(of: task, now: now) })
    }

    /// Stores a state as an earlier daemon may have left it.
    mutating func keep(_ memory: TaskMemory) { memories[memory.identifier] = memory }

    mutating func clearThrottle(_ task: String) {
        _ = keep(perform { $0.clearThrottle(task, now: $1, &$2) })
    }

    /// Withdraws all requests of tasks, and lets others start.
    mutating func withdrawAll(_ tasks: [String]) {
        var effects: [SchedulerEffect] = []
        let withdrawn = scheduler.withdrawAll(of: tasks, now: now, &effects)
        journal.append((scheduler.takeInputs(), effects))
        for change in withdrawn.changes { keep(change) }
        for effect in effects { execute(effect) }
        perform { $0.dispatch(now: $1, &$2) }
    }

    /// Stores a change as the daemon does.
    mutating func store(_ change: StoreChange) { keep(change) }

    private mutating func keep(_ change: StoreChange?) -> Bool {
        if let change { keep(change) }
        return change != nil
    }

    /// Ends the oldest run under way after so long.
    mutating func end(
        after nanoseconds: Int64,
        _ outcome: Outcome = .succeeded,
        result: String = ""
    ) throws {
        try #require(!begun.isEmpty)
        let start = begun.removeFirst()
        pass(nanoseconds)
        var record = start.record
        record.state = .ended
        record.outcome = outcome
        record.result = result
        record.endedAt = now.unix
        record.duration = .nanoseconds(nanoseconds)
        if case .killed(.graceExceeded) = outcome { record.stopReason = .expired }
        let finish = RunFinish(
            record: record,
            outcome: outcome,
            stoppedAfter: record.stopReason == nil ? nil : 5 * UInt64(Self.second)
        )
        perform { $0.runEnded(start.handle, finish, now: $1, &$2) }
    }

    // MARK: Looks

    /// The closed gates of what waits for a task.
    func closed(_ task: String) -> [Gate.Kind] {
        gates(task).filter { !$0.isOpen }.map(\.kind)
    }

    func gates(_ task: String) -> [Gate] {
        scheduler.requests(of: task).first.map { scheduler.gates(of: $0, now: now) } ?? []
    }

    func gate(_ kind: Gate.Kind, of task: String) -> Gate? {
        gates(task).first { $0.kind == kind }
    }

    /// The tasks whose runs are under way.
    var running: [String] { begun.map(\.record.task) }

    /// Plays what happened again, and holds what is decided then to what was decided.
    func expectTheSame(of replay: inout SchedulerReplay) throws {
        for line in journal {
            var decided: [String] = []
            for input in line.inputs {
                #expect(replay.has(input.input))
                let effects = replay.apply(input)
                decided += try #require(effects).map(\.fingerprint)
            }
            #expect(decided == line.effects.map(\.fingerprint))
        }
    }

    /// The machine has no means for the run that began last, nor for others of its plugin.
    mutating func lackMeans(_ message: String) throws {
        let last = begun.popLast()
        let start = try #require(last)
        let plugin = scheduler.catalog.pluginOfTask[start.task]
        perform { $0.plugin(plugin, hasProblem: message, now: $1, &$2) }
        perform { $0.startFailed(start, message, isShortage: true, now: $1, &$2) }
    }

    /// It has them again.
    mutating func haveMeans() {
        for plugin in scheduler.catalog.plugins.indices {
            perform { $0.plugin(plugin, hasProblem: nil, now: $1, &$2) }
        }
    }

    // MARK: Effects

    private mutating func execute(_ effect: SchedulerEffect) {
        switch effect {
        case .commit(let changes), .commitEnd(let changes, _): changes.forEach { keep($0) }
        case .startRun(let start):
            begun.append(start)
            pending[start.record.request] = nil
            start.changes.forEach { keep($0) }
        case .log(let note): notes.append(note)
        case .stop(let handle, _, _): stopped.append(handle)
        case .claimStart(let claim): claimed.append(claim)
        case .releaseStart(let claim, let release): released.append((claim, release))
        case .inspect, .requestClosed: break
        }
    }

    private mutating func keep(_ change: StoreChange) {
        switch change {
        case .accepted(let request, let replaced):
            if let replaced { pending[replaced] = nil }
            pending[request.id] = request
        case .closed(let id, let end):
            pending[id] = nil
            ends[id] = end
        case .runStarted(let record): pending[record.request] = nil
        case .runEnded(_, .again(let request)): pending[request.id] = request
        case .redriven(let request), .moved(let request): pending[request.id] = request
        case .remembered(let memory):
            memories[memory.identifier] = memory.isEmpty ? nil : memory
        case .runtimeConsumed(let use):
            runtime.removeAll { ($0.minute, $0.kind) == (use.minute, use.kind) }
            runtime.append(use)
        case .startSkipped(let start): skipped.append(start)
        case .paused(let target, let pause): pauses[target] = pause
        case .runEnded, .discarded, .switched, .quarantined, .notification, .audited, .manifest,
            .alert, .checkpointSaved, .checkpointDeleted:
            break
        }
    }
}
