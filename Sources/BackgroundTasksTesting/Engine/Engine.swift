// SPDX-License-Identifier: Apache-2.0

internal import BghostCore

/// The daemon's scheduler and run machines on a virtual clock, with real handlers.
///
/// A value, under one lock: plugins call from any thread. What calls a plugin in turn is not done
/// here but listed in `actions`, for the driver to do outside of the lock.
struct Engine: Sendable {
    /// What the driver is to do, in this order.
    enum Action: Sendable {
        /// Begin a run.
        case start(UInt64)
        /// Ask a run to stop.
        case cancel(UInt64, StopReason)
        case endSleep(SleepCall, isOver: Bool)
        case endFetch(FetchCall, FetchEnd)
        /// With the transfer in JSON; with `nil` if it goes on without the run.
        case endWait(TransferWaitCall, String?)
    }

    struct OpenSleep: Sendable {
        let call: SleepCall
        /// Monotonic nanoseconds.
        let deadline: UInt64
    }

    struct OpenFetch: Sendable {
        let call: FetchCall
        let timeout: Duration
        /// Monotonic nanoseconds.
        let deadline: UInt64
        /// Whether the test has been asked for an answer.
        var isAsked = false
    }

    let subject: Subject
    var scheduler: Scheduler
    var now: Moment
    var facts = FactSheet()
    var decisions: [SchedulerEffect] = []
    var isCarryingOut = false
    var actions: [Action] = []
    /// Those under way, by number.
    var runs: [UInt64: LiveRun] = [:]
    var lastRun: UInt64 = 0
    /// All runs, in the order in which they began.
    var history: [PastRun] = []
    /// Runs that were killed and whose handlers go on all the same: places in `history`, by number.
    var abandoned: [UInt64: Int] = [:]
    var dead: [Request] = []
    var sleeps: [UInt64: OpenSleep] = [:]
    var fetches: [UInt64: OpenFetch] = [:]
    var logs: [TestHost.LogLine] = []
    /// By id.
    var transfers: [String: OpenTransfer] = [:]
    var lastTransfer: UInt64 = 0
    /// When sessions are told, monotonic nanoseconds.
    var wakes: [String: UInt64] = [:]
    /// The session whose run is being submitted, and what it is told of.
    var pendingWake: (session: String, transfers: [String])?
    /// What plugins have posted, in the order in which it was.
    var notifications: [PostedNotification] = []

    init(_ subject: Subject, now: Moment, seed: UInt64) {
        self.subject = subject
        self.now = now
        scheduler = Scheduler(
            Scheduler.Settings(
                manifest: subject.manifest,
                manifestPath: "tasks.json",
                slots: subject.manifest.host.slots ?? 8,
                machineID: "test",
                seed: seed
            )
        )
        scheduler.begin(incarnation: 1, now: now)
        let all = RequirementSet.named.reduce(into: RequirementSet()) {
            $0.formUnion($1.requirement)
        }
        let changed = facts.simulate(all, as: .holds, now: now)
        scheduler.factsChanged(facts, changed, now: now, &decisions)
        tellOfPlugins()
        scheduler.start(now: now, &decisions)
        carryOut()
    }

    /// Only the plugin that is tested can run anything; requests for others wait, to be looked at.
    private mutating func tellOfPlugins() {
        for (index, plugin) in scheduler.catalog.plugins.enumerated() {
            guard index != subject.plugin else { continue }
            let problem = "`\(plugin.name)` is not part of this test"
            scheduler.plugin(index, hasProblem: problem, now: now, &decisions)
        }
        scheduler.pluginLoaded(
            subject.plugin,
            serial: Array(subject.serialHandlers),
            now: now,
            &decisions
        )
    }

    /// Tells the scheduler what has happened, and lists what follows.
    mutating func decide<Answer, Failure>(
        _ event: (inout Scheduler, Moment, inout [SchedulerEffect]) throws(Failure) -> Answer
    ) throws(Failure) -> Answer {
        let answer = try event(&scheduler, now, &decisions)
        carryOut()
        return answer
    }

    private mutating func carryOut() {
        guard !isCarryingOut else { return }
        isCarryingOut = true
        var index = 0
        while index < decisions.count {
            carryOut(decisions[index])
            index += 1
        }
        decisions.removeAll(keepingCapacity: true)
        isCarryingOut = false
    }

    private mutating func carryOut(_ effect: SchedulerEffect) {
        switch effect {
        case .begin(let start): begin(start)
        case .stop(let ticket, let reason, _):
            guard let run = runs.values.first(where: { $0.ticket == ticket }) else { return }
            handle(.stop(reason), of: run.number)
        case .commit(let changes): note(changes)
        case .commitEnd(let changes, let record):
            note(changes)
            // What begins and ends in one transaction could not begin.
            guard changes.contains(where: { if case .began = $0 { true } else { false } }) else {
                break
            }
            let task = scheduler.catalog.task(for: record.task)
            let handler = task.map { scheduler.catalog.tasks[$0].handler.handler } ?? ""
            history.append(PastRun(record: record, handler: handler, parameters: "{}"))
        case .inspect, .ended, .note: break
        }
    }

    private mutating func note(_ changes: [StoreChange]) {
        for case .ended(_, then: .dead(let request, _)) in changes { dead.append(request) }
    }

    // MARK: What others do

    /// Takes a submission, as an operator's.
    ///
    /// - Returns: the request; `nil` if it gives way to another.
    @discardableResult
    mutating func submit(
        _ submission: Submission,
        isSimulated: Bool = false
    ) throws(SubmitError) -> RunID? {
        let arrival = try scheduler.accept(submission, isSimulated: isSimulated, now: now)
        guard let arrival else { return nil }
        decide { $0.arrived(arrival, isStored: true, now: $1, &$2) }
        return arrival.request.id
    }

    mutating func set(_ requirement: RequirementSet, _ value: FactValue) {
        let changed = facts.simulate(requirement, as: value, now: now)
        let sheet = facts
        decide { $0.factsChanged(sheet, changed, now: $1, &$2) }
    }

    mutating func withdraw(_ identifier: String) -> Bool {
        decide { $0.withdraw(identifier, now: $1, &$2) }
    }

    mutating func setClock(to unix: Int64) {
        now.unix = unix
        decide { $0.clockWasSet(now: $1, &$2) }
    }
}
