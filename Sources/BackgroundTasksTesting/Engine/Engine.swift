// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostFacts
internal import BghostModel
internal import BghostPlugin
internal import BghostPolicy
internal import BghostSchemas
internal import BghostWire

/// The daemon's scheduler and run machines on a virtual clock, with real handlers.
///
/// A value, protected by one lock: plugins call from any thread. It makes no calls into a plugin;
/// it lists them in `actions`, and the driver makes them outside the lock.
struct Engine: Sendable {
    /// An action for the driver, which executes actions in order.
    enum Action: Sendable {
        /// Start a run.
        case start(UInt64)
        /// Cancel a run.
        case cancel(UInt64, StopReason)
        /// Answer a call of a run, which calls the plugin back.
        case answer(OpenCall, HostAnswer)
    }

    struct OpenSleep: Sendable {
        let call: OpenCall
        let deadline: MonotonicInstant
    }

    struct OpenFetch: Sendable {
        let call: OpenCall
        let request: FetchCall
        let timeout: Duration
        let deadline: MonotonicInstant
        /// Whether the test was asked for an answer.
        var isAsked = false
    }

    let subject: Subject
    var scheduler: Scheduler
    var now: Moment
    var facts = FactSheet()
    var decisions: [SchedulerEffect] = []
    var isCarryingOut = false
    var actions: [Action] = []
    /// The runs in progress, by number.
    var runs: [UInt64: LiveRun] = [:]
    var runSlots: RunSlots
    var lastRun: UInt64 = 0
    /// All runs, in the order in which they started.
    var history: [PastRun] = []
    /// Killed runs whose handlers are still running: indices in `history`, by number.
    var abandoned: [UInt64: Int] = [:]
    /// Ended runs that the plugin did not release in time, for whose release the driver does not
    /// wait again.
    var unreleasable: Set<UInt64> = []
    var dead: [Request] = []
    /// The checkpoints of requests.
    var checkpoints: [RunID: [UInt8]] = [:]
    var sleeps: [UInt64: OpenSleep] = [:]
    var fetches: [UInt64: OpenFetch] = [:]
    var logs: [TestHost.LogLine] = []
    /// The transfers by id.
    var transfers: [String: OpenTransfer] = [:]
    var lastTransfer: UInt64 = 0
    /// When each session gets its wake.
    var wakes: [String: MonotonicInstant] = [:]
    /// The session whose wake is being submitted, with its transfers.
    var pendingWake: (session: String, transfers: [String])?
    /// Posted notifications, in the order of posting.
    var notifications: [PostedNotification] = []

    init(_ subject: Subject, now: Moment, seed: UInt64) {
        self.subject = subject
        self.now = now
        let slots = subject.manifest.host.slots ?? 8
        runSlots = RunSlots(slots: slots)
        scheduler = Scheduler(
            Scheduler.Settings(
                manifest: subject.manifest,
                manifestPath: "tasks.json",
                slots: slots,
                machineID: "test",
                seed: seed
            )
        )
        scheduler.setIncarnation(1, now: now)
        let all = RequirementSet.named.reduce(into: RequirementSet()) {
            $0.formUnion($1.requirement)
        }
        let changed = facts.simulate(all, as: .holds, now: now)
        scheduler.factsChanged(facts, changed, now: now, &decisions)
        markOtherPlugins()
        scheduler.start(now: now, &decisions)
        execute()
    }

    /// Only the plugin under test can run; requests for other plugins stay pending, for inspection.
    private mutating func markOtherPlugins() {
        for (index, plugin) in scheduler.catalog.plugins.enumerated() {
            guard index != subject.plugin else { continue }
            let problem = "`\(plugin.name)` is not part of this test"
            scheduler.plugin(index, hasProblem: problem, now: now, &decisions)
        }
        scheduler.pluginLoaded(
            subject.plugin,
            serial: subject.handlers.filter(\.isSerial).map(\.name),
            now: now,
            &decisions
        )
    }

    /// Passes an event to the scheduler, and carries out its effects.
    mutating func decide<Answer, Failure>(
        _ event: (inout Scheduler, Moment, inout [SchedulerEffect]) throws(Failure) -> Answer
    ) throws(Failure) -> Answer {
        let answer = try event(&scheduler, now, &decisions)
        execute()
        return answer
    }

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
    }

    private mutating func execute(_ effect: SchedulerEffect) {
        switch effect {
        case .startRun(let start): begin(start)
        case .stop(let stopped, let reason, _):
            guard let run = runs.values.first(where: { $0.handle == stopped }) else { return }
            handle(.stop(reason), of: run.number)
        case .commit(let changes): note(changes)
        case .commitEnd(let changes, let record):
            note(changes)
            // A run that starts and ends in one transaction could not be started.
            guard changes.contains(where: { if case .runStarted = $0 { true } else { false } })
            else {
                break
            }
            let task = scheduler.catalog.task(for: record.task)
            let handler = task.map { scheduler.catalog.tasks[$0].handler.handler } ?? ""
            history.append(PastRun(record: record, handler: handler, parameters: "{}"))
        // The host under test is alone in its fleet.
        case .claimStart(let claim):
            scheduler.fleetAnswered(claim, .claimed, now: now, &decisions)
        case .inspect, .requestClosed, .releaseStart, .log: break
        }
    }

    private mutating func note(_ changes: [StoreChange]) {
        for case .runEnded(_, then: .dead(let request, _)) in changes { dead.append(request) }
        for request in changes.compactMap(\.endsCheckpoint) { checkpoints[request] = nil }
    }

    // MARK: The operator

    /// Accepts a submission as from an operator.
    ///
    /// - Returns: the request; `nil` if an existing request takes precedence.
    @discardableResult
    mutating func submit(
        _ submission: Submission,
        isManual: Bool = false
    ) throws(SubmitError) -> RunID? {
        try checkParameters(submission)
        let accepted = try scheduler.accept(submission, isManual: isManual, now: now)
        guard let accepted else { return nil }
        decide { $0.finishSubmission(accepted, isStored: true, now: $1, &$2) }
        return accepted.request.id
    }

    /// Refuses parameters that do not fit the schemas of the manifest and of the handler.
    private func checkParameters(_ submission: Submission) throws(SubmitError) {
        guard let index = scheduler.catalog.task(for: submission.task) else { return }
        let task = scheduler.catalog.tasks[index]
        let isOwn = scheduler.catalog.pluginOfTask[index] == subject.plugin
        let declared = subject.handlers.first { isOwn && $0.name == task.handler.handler }?.schema
        // The manifest's reader has refused a schema that does not compile.
        let given = task.parametersSchema.flatMap { try? ParameterSchema($0) }
        let faults = ParameterRules([given, declared])
            .faults(base: task.parameters, over: submission.parameters)
        guard !faults.isEmpty else { return }
        throw SubmitError(
            .unfitParameters,
            "the parameters do not fit their schema",
            details: faults.map(\.description)
        )
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
