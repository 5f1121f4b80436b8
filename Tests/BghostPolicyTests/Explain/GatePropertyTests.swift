// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostCalendar
import BghostFacts
import BghostModel
@testable import BghostPolicy
import BghostTestSupport
import Testing

/// What `why` says is what decides: whatever has happened, a request whose gates are all open begins,
/// and one that begins had no gate closed that the event did not open.
@Suite(.ownThreads) struct GatePropertyTests {
    @Test(.timeLimit(.minutes(5)), arguments: SeededGenerator.seeds(8))
    func `Gates are open exactly if the request begins`(seed: UInt64) throws {
        var fate = GateFate(seed: seed)
        // A history goes on until it has closed each gate, so that none passes for want of events.
        let others: Set<Gate.Kind> = [.manifestRemoved, .drain, .notAfter]
        var neverClosed = Set(Gate.Kind.allCases).subtracting(others)
        while fate.faults.isEmpty, fate.steps < 1_500 || !neverClosed.isEmpty, fate.steps < 30_000 {
            try fate.next()
            neverClosed.subtract(fate.seenClosed)
        }
        #expect(fate.faults.isEmpty, "\(fate.faults.prefix(3)) after \(fate.steps) steps")
        #expect(fate.begun > 25)
        #expect(neverClosed.isEmpty, "\(neverClosed) were never closed")
    }

    @Test(.timeLimit(.minutes(5)), arguments: SeededGenerator.seeds(4))
    func `No run starts in a drain and each request says so`(seed: UInt64) throws {
        var fate = GateFate(seed: seed)
        for _ in 0..<300 { try fate.next() }
        fate.drain()
        let begun = fate.begun
        for _ in 0..<200 { try fate.next() }
        #expect(fate.faults.isEmpty, "\(fate.faults.prefix(3))")
        #expect(fate.begun == begun)
        #expect(fate.waiting.allSatisfy { $0.value.closed.contains(.drain) })
    }
}

/// A scheduler to which everything happens that may, with its gates looked at before and after.
private struct GateFate {
    private var random: SeededGenerator
    private var scheduler: Scheduler
    private var now = Moment(monotonic: 1, unix: World.start)
    private var facts = FactSheet()
    private var unstored: [AcceptedSubmission] = []
    private var running: [RunStart] = []
    private var claims: [FleetClaim] = []
    private(set) var begun = 0
    private(set) var steps = 0
    private(set) var faults: [String] = []
    private(set) var seenClosed: Set<Gate.Kind> = []
    /// What the last look saw; `nil` if the time or the scheduler changed since.
    private var lastLook: [RunID: Standing]?

    struct Standing {
        var request: Request
        var closed: Set<Gate.Kind>
        var isInOrder: Bool
    }

    private static let names = World.identifiers + ["first", "second", "spread"]

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        // Two tasks of one handler beside the rest.
        let shared = ["first", "second"].map { name in
            var task = World.task(name, plugin: "q")
            task.handler = .plugin(name: "q", handler: "shared")
            return task
        }
        var once = World.task("once", plugin: "q")
        once.isOnceInFleet = true
        once.schedule = (try? CalendarExpression("* * * * *")).map {
            TaskSchedule(times: .calendar($0, zone: .utc, gap: .shift, fold: .first))
        }
        scheduler = Scheduler(
            World.settings(
                seed: seed,
                tasks: World.everyRule.map(Self.learning) + shared + [once],
                runtimePerDay: RuntimePerDay(refresh: .seconds(240), processing: .seconds(240))
            )
        )
        for name in Self.learners {
            var memory = TaskMemory(identifier: name)
            for day: Int64 in -4..<0 {
                for hour: Int64 in stride(from: 2, to: 24, by: 4) {
                    memory.uses.add(now: World.start + day * World.day + hour * World.hour)
                }
            }
            scheduler.restore(memory, now: now)
        }
        happen(opening: Set(Gate.Kind.allCases)) { $0.start(now: $1, &$2) }
        // One waits for the usual use at two o'clock, one for others: few do by random.
        for task in ["queued", "skipping"] {
            let submission = Submission(task: task, tolerance: 4 * World.hour)
            guard let accepted = try? scheduler.accept(submission, now: now) else { continue }
            happen(opening: []) { $0.finishSubmission(accepted, isStored: true, now: $1, &$2) }
        }
    }

    /// These begin before they are usually used.
    private static let learners = ["queued", "overlapping"]

    private static func learning(_ task: TaskDefinition) -> TaskDefinition {
        var task = task
        task.learnsUse = learners.contains(task.identifier.description)
        return task
    }

    mutating func drain() {
        lastLook = nil
        scheduler.drain(now: now)
    }

    mutating func next() throws {
        steps += 1
        switch below(21) {
        case 0..<4: submit(isManual: false)
        case 4: submit(isManual: true)
        case 5, 6: arrive()
        case 7, 8: end()
        case 9: changeFact()
        case 10: switchPlugin()
        case 11: changePlugin()
        case 12: withdraw()
        case 13: setClock()
        case 14: clearThrottle()
        case 15: updateNow()
        case 16: use()
        case 17: holdForStore()
        case 18: pauseOrResume()
        case 19: hearOfFleet()
        default: pass()
        }
    }

    private mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &random) }

    private mutating func someTask() -> String { Self.names[below(Self.names.count)] }

    private mutating func someTime() -> Int64 {
        let scale = [World.second, World.minute, World.hour][below(3)]
        return Int64.random(in: 0...scale, using: &random)
    }

    // MARK: What is seen

    var waiting: [RunID: Standing] {
        var all: [RunID: Standing] = [:]
        for request in scheduler.requests(of: nil) {
            let gates = scheduler.gates(of: request, now: now)
            all[request.id] = Standing(
                request: request,
                closed: Set(gates.filter { !$0.isOpen }.map(\.kind)),
                isInOrder: Self.areInOrder(gates)
            )
        }
        return all
    }

    private static func areInOrder(_ gates: [Gate]) -> Bool {
        var last = -1
        for gate in gates {
            let place = places[gate.kind] ?? -1
            guard last <= place else { return false }
            last = place
        }
        return true
    }

    private static let places = Dictionary(uniqueKeysWithValues: zip(Gate.Kind.allCases, 0...))

    /// Has something happen, and looks at who begins by it.
    ///
    /// - Parameter opening: the gates that it may open. What goes before another request of its task
    ///   may always come to an end.
    private mutating func happen(
        opening: Set<Gate.Kind>,
        isOnlyTime: Bool = false,
        _ event: (inout Scheduler, Moment, inout [SchedulerEffect]) -> Void
    ) {
        let before = lastLook ?? waiting
        var effects: [SchedulerEffect] = []
        event(&scheduler, now, &effects)
        for case .claimStart(let claim) in effects { claims.append(claim) }
        for case .commit(let changes) in effects {
            let waiting = before.mapValues(\.request)
            faults += changes.compactMap { StartWatch.loss(by: $0, of: waiting) }
        }
        var first: RunID?
        for case .startRun(let start) in effects {
            running.append(start)
            begun += 1
            let id = start.record.request
            first = first ?? id
            guard let standing = before[id] else { continue }
            let closed = standing.closed.subtracting(opening).subtracting([.predecessor])
            if !closed.isEmpty {
                faults.append("\(id) of \(start.record.task) begins past \(closed)")
            }
        }
        if isOnlyTime {
            // Nothing but time has passed since the gates were looked at.
            // A start that one host of the fleet serves is claimed first.
            let open = before.filter {
                $0.value.closed.isEmpty && $0.value.request.task != "once"
            }
            let isFirstOpen = first.map { before[$0]?.closed.isSubset(of: [.predecessor]) ?? true }
            if !open.isEmpty, first == nil { faults.append("\(open.keys) begin not") }
            if isFirstOpen == false { faults.append("another one begins first") }
        }
        look()
    }

    /// After each event, what still waits has a gate closed.
    private mutating func look() {
        let waiting = waiting
        lastLook = waiting
        for (id, standing) in waiting {
            seenClosed.formUnion(standing.closed)
            if !standing.isInOrder { faults.append("the gates of \(id) are not in their order") }
            if standing.closed.isEmpty {
                faults.append("\(id) of \(standing.request.task) waits behind open gates")
            }
        }
    }

    // MARK: What happens

    private mutating func pass() {
        let length = someTime()
        now.monotonic += UInt64(length)
        now.unix += length
        lastLook = nil
        happen(opening: [], isOnlyTime: true) { $0.timerFired(now: $1, &$2) }
    }

    private mutating func setClock() {
        now.unix += Int64.random(in: -World.hour...World.hour, using: &random)
        lastLook = nil
        // The scheduler computes throttle points again, so their delay may be over.
        happen(opening: [.throttle, .notBefore, .coalescing, .usualUse, .budget, .paused]) {
            $0.clockWasSet(now: $1, &$2)
        }
    }

    private mutating func use() {
        let task = someTask()
        happen(opening: []) { scheduler, now, _ in _ = scheduler.resultUsed(task, now: now) }
    }

    private mutating func submit(isManual: Bool) {
        var submission = Submission(task: someTask())
        if below(3) == 0 { submission.earliestBegin = now.unix + someTime() - World.second }
        if below(6) == 0 {
            submission.latestBegin = (submission.earliestBegin ?? now.unix) + someTime()
        }
        // What reaches to the next usual use, and what does not.
        if below(2) == 0 { submission.tolerance = [someTime(), 4 * World.hour][below(2)] }
        submission.priority = [100, 500, 900][below(3)]
        submission.onConflict = Submission.Conflict.allCases[below(4)]
        if below(5) == 0 { submission.requirements = [.idle] }
        submission.ignoresRequirements = isManual
        guard
            let accepted = try? scheduler.accept(submission, isManual: isManual, now: now)
        else { return look() }
        unstored.append(accepted)
        look()
    }

    /// The store answers in the order of its transactions.
    private mutating func arrive() {
        guard !unstored.isEmpty else { return }
        let accepted = unstored.removeFirst()
        let isStored = below(5) > 0
        happen(opening: [.replacement]) {
            $0.finishSubmission(accepted, isStored: isStored, now: $1, &$2)
        }
    }

    private mutating func end() {
        guard !running.isEmpty else { return }
        let start = running.remove(at: below(running.count))
        let outcome: Outcome =
            [.succeeded, .succeeded, .failed, .killed(.graceExceeded), .lost][below(5)]
        var record = start.record
        record.state = .ended
        record.outcome = outcome
        record.duration = .seconds(below(60))
        if case .killed = outcome { record.stopReason = .expired }
        let finish = RunFinish(
            record: record,
            outcome: outcome,
            stoppedAfter: record.stopReason == nil ? nil : 5_000_000_000
        )
        happen(opening: [.overlap, .handler, .slot, .throttle]) {
            $0.runEnded(start.handle, finish, now: $1, &$2)
        }
    }

    private mutating func changeFact() {
        let requirement = [RequirementSet.network, .externalPower, .idle][below(3)]
        let value = FactValue.allCases[below(3)]
        let changed = facts.simulate(requirement, as: value, now: now)
        let facts = facts
        happen(opening: [.requirement]) { $0.factsChanged(facts, changed, now: $1, &$2) }
    }

    private mutating func switchPlugin() {
        let plugin = below(scheduler.catalog.plugins.count)
        let reason = below(3) == 0 ? "a test" : nil
        happen(opening: [.pluginDisabled]) {
            $0.set(plugin: plugin, disabledReason: reason, now: $1, &$2)
        }
    }

    private mutating func pauseOrResume() {
        let targets: [PauseTarget] = [.all, .plugin("q"), .tasks(someTask()), .tasks("no.such.*")]
        let target = targets[below(targets.count)]
        // Most are short and are for one task: otherwise nothing else would happen.
        guard below(3) == 0 else {
            return happen(opening: [.paused]) { _ = $0.resume(target, now: $1, &$2) }
        }
        let pause = Pause(
            target: target,
            since: now.unix,
            until: now.unix + someTime(),
            isRelative: below(2) == 0,
            user: "a test"
        )
        happen(opening: []) { $0.pause(pause, now: $1, &$2) }
    }

    private mutating func hearOfFleet() {
        switch below(8) {
        case 0: happen(opening: []) { $0.fleetLost("a test", now: $1, &$2) }
        case 1, 2: happen(opening: []) { $0.fleetRenewed(until: .never, now: $1, &$2) }
        default:
            guard !claims.isEmpty else { return }
            let claim = claims.removeFirst()
            let answers: [FleetAnswer] = [
                .claimed, .claimed, .claimed, .taken(by: "b"), .served(by: "b"), .unknown,
            ]
            let answer = answers[below(answers.count)]
            happen(opening: [.fleet]) { $0.fleetAnswered(claim, answer, now: $1, &$2) }
        }
    }

    private mutating func changePlugin() {
        let plugin = below(scheduler.catalog.plugins.count)
        let isLoaded = below(2) == 0
        let problem = below(3) == 0 ? "it is broken" : nil
        let serial =
            below(3) == 0
            ? scheduler.catalog.handlers.filter { $0.plugin == plugin }.map(\.name) : []
        happen(opening: [.pluginMissing, .handler]) { scheduler, now, effects in
            if isLoaded {
                scheduler.pluginLoaded(plugin, serial: serial, now: now, &effects)
            } else {
                scheduler.plugin(plugin, hasProblem: problem, now: now, &effects)
            }
        }
    }

    private mutating func withdraw() {
        let task = someTask()
        happen(opening: []) { _ = $0.withdraw(task, now: $1, &$2) }
    }

    /// Calendars wait while it is doubted; when it is believed again, all dates are looked at.
    private mutating func updateNow() {
        let doubt: ClockDoubt? = below(2) == 0 ? .unsynchronised : nil
        happen(
            opening: [
                .clockUnsynced, .throttle, .notBefore, .coalescing, .usualUse, .budget, .paused,
            ]
        ) {
            $0.clockChecked(doubt, now: $1, &$2)
        }
    }

    /// The store fills up, and is kept up with again; most of the time it is.
    private mutating func holdForStore() {
        let reason: String? = below(3) == 0 ? "the store has been failing" : nil
        happen(opening: [.store]) { $0.storeBlocked(reason, now: $1, &$2) }
    }

    private mutating func clearThrottle() {
        let task = someTask()
        happen(opening: [.throttle]) { _ = $0.clearThrottle(task, now: $1, &$2) }
    }
}
