// SPDX-License-Identifier: Apache-2.0

@testable import BghostBase
@testable import BghostDispatch
import BghostFleetRules
import BghostLinux
import BghostModel
import BghostOwnerSupport
import BghostPolicy
import BghostServices
import BghostStore
import Synchronization

/// A fleet in memory, whose hosts are on one reactor and share a clock that a test moves.
final class PartitionWorld: Sendable {
    static let second: UInt64 = 1_000_000_000
    static let lease = 600 * second
    /// Any time: the clock of the store only moves.
    private static let epoch: Int64 = 1_795_219_200_000_000_000

    let store = SharedPartitions(MemoryFleet(partitions: PartitionID.count, clock: epoch))
    private let passed = Mutex(UInt64(0))

    var slept: UInt64 { passed.withLock(\.self) }

    func pass(seconds: UInt64) {
        passed.withLock { $0 += seconds * Self.second }
        fleet { $0.clock += Int64(seconds * Self.second) }
    }

    @discardableResult
    func fleet<Answer: Sendable>(_ body: (inout MemoryFleet) -> Answer) -> Answer? {
        let answer = store.call { store throws(FleetRefusal) -> Answer? in
            guard var fleet = store as? MemoryFleet else { return nil }
            defer { store = fleet }
            return body(&fleet)
        }
        guard case .success(let found) = answer else { return nil }
        return found
    }

    /// Has the store forget the registration of a host, as after a failover.
    func forget(_ name: String) {
        var random = SystemRandomNumberGenerator()
        let nonce = FenceNonce(using: &random)
        let terms = HostTerms(name: name, lease: Self.lease, slots: 2)
        fleet { fleet in
            // A test sees by its host that the store refused it.
            _ = try? fleet.register(terms, after: fleet.incarnation(of: name), nonce: nonce)
        }
    }

    /// All that the store has of the requests of a task.
    func contents(of task: String) -> PartitionContents {
        let found = fleet { try? $0.contents(of: PartitionID(of: task)) }
        return (found ?? nil) ?? PartitionContents()
    }
}

/// One host of it: what owns partitions, with a scheduler whose runs end when the test says so.
final class PartitionHost {
    /// A link whose every renewal has an answer.
    private final class Link: FleetLink {
        let isDrained = Mutex(false)

        func renew(tasks: String) throws(FleetProblem) -> FleetRenewal {
            let isDrained = isDrained.withLock(\.self)
            return FleetRenewal(sentAt: Monotonic.now, open: [], isDrained: isDrained)
        }
        func claim(_ claims: [FleetClaim]) throws(FleetProblem) -> [FleetAnswer] {
            claims.map { _ in .unknown }
        }
        func release(_ claims: [FleetClaim], _ release: FleetRelease) throws(FleetProblem) {}
        func hosts() throws(FleetProblem) -> [FleetHost] { [] }
        func setDrained(_ isDrained: Bool, host: String) throws(FleetProblem) -> Bool? { nil }
        func leave() {}
    }

    private let world: PartitionWorld
    private let link = Link()
    private let clock: DaemonClock
    let store = ScriptedStore()
    let commits: CommitQueue
    let dispatcher: Dispatcher
    let intake: RequestIntake
    let member: FleetMember
    let owner: PartitionOwner
    let log = HostLog()
    private(set) var running: [RunStart] = []
    private(set) var stopped: [RunHandle] = []

    init(_ name: String, _ world: PartitionWorld, _ reactor: Reactor, slots: Int = 2) {
        self.world = world
        clock = DaemonClock(reactor, machineSlept: { world.slept })
        store.answerAtOnce(.success(()))
        commits = CommitQueue(store, reactor: reactor, log: log, deadLettersMax: 10)
        var manifest = SampleManifest.make { task in
            task.isInFleet = true
            task.identifier = IdentifierPattern("job.*") ?? task.identifier
            task.retry = RetryPolicy(kind: .processing)
        }
        manifest.host.slots = slots
        var settings = SampleManifest.settings(manifest)
        settings.slots = slots
        let clock = clock
        dispatcher = Dispatcher(settings, moment: { clock.moment }, recorder: nil)
        intake = RequestIntake(dispatcher, commits)
        member = FleetMember(
            FleetSettings(
                connection: "",
                name: name,
                lease: .nanoseconds(Int64(PartitionWorld.lease))
            ),
            link,
            dispatcher,
            Deadlines(reactor),
            clock,
            log: log,
            reactor: reactor
        )
        owner = PartitionOwner(member, { world.store }, commits) { _ in }
        member.partitions = owner
        dispatcher.begin { [unowned self] in
            execute($0)
        } onRoundEnd: {
        }
    }

    private func execute(_ effect: SchedulerEffect) {
        switch effect {
        case .commit(let changes), .commitEnd(let changes, _): commits.commit(changes)
        case .startRun(let start):
            running.append(start)
            commits.commit([.runStarted(start.record)] + start.changes)
        case .stop(let handle, _, _): stopped.append(handle)
        case .inspect, .requestClosed, .claimStart, .releaseStart, .log: break
        }
    }

    /// Joins the fleet, and waits until it has its share of the partitions.
    nonisolated(nonsending) func begin() async {
        // Before that, one run of a handler at a time.
        dispatcher.decide { scheduler, now, effects in
            scheduler.pluginLoaded(0, serial: [], now: now, &effects)
        }
        member.begin()
        await ReactorActor.wait { !member.isRenewing }
        await settle()
        await wake()
    }

    /// Drains the host, or ends that, and lets it see it.
    nonisolated(nonsending) func setDrained(_ isDrained: Bool) async {
        link.isDrained.withLock { $0 = isDrained }
        world.pass(seconds: 100)
        member.deadlinePassed()
        await ReactorActor.wait { !member.isRenewing }
        await wake()
    }

    /// Waits until nothing is under way.
    nonisolated(nonsending) func settle() async {
        await ReactorActor.wait { owner.isIdle }
    }

    /// Does what is due by now.
    nonisolated(nonsending) func wake() async {
        owner.deadlinePassed()
        await settle()
    }

    /// Submits a request, and returns its id when the fleet has it.
    nonisolated(nonsending) func submit(_ task: String) async throws -> RunID {
        let accepted = try await intake.submit(Submission(task: task), isManual: false)
        await settle()
        return accepted.request.id
    }

    /// Ends all runs under way, and those that begin then.
    func endAll(_ outcome: Outcome = .succeeded) {
        while !running.isEmpty { endFirst(outcome) }
    }

    func endFirst(_ outcome: Outcome = .succeeded) {
        let start = running.removeFirst()
        var record = start.record
        record.state = .ended
        record.outcome = outcome
        record.endedAt = clock.moment.unix
        let finish = RunFinish(record: record, outcome: outcome)
        dispatcher.decide { scheduler, now, effects in
            scheduler.runEnded(start.handle, finish, now: now, &effects)
        }
    }

    var events: [String] {
        log.entries(matching: LogFilter(), limit: 100).map(\.event)
            .filter { $0.hasPrefix("partitions.") }
    }

    var owned: [PartitionID] { dispatcher.scheduler.ownedPartitions }
}

extension PartitionWorld {
    /// Lets time pass in steps in which hosts renew their leases.
    nonisolated(nonsending) func pass(_ seconds: UInt64, _ hosts: [PartitionHost]) async {
        for _ in 0..<seconds / 60 {
            pass(seconds: 60)
            for host in hosts { await host.wake() }
        }
    }
}
