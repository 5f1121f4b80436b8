// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostCalendar
import BghostFleetRules
import BghostModel
import BghostPolicy
import BghostTestSupport

/// Some hosts and the fleet's store under virtual time, with a network that delays and drops messages.
struct FleetWorld {
    static let second: Int64 = 1_000_000_000
    static let lease = 10 * UInt64(second)
    static let partitions: UInt16 = 12
    /// 2026-11-21T00:00:00Z.
    static let start: Int64 = 1_795_219_200 * second
    static let schedules = (0..<60).map { "tick-\($0)" }

    /// The true time, which is that of the store, Unix nanoseconds.
    var now = FleetWorld.start
    var fleet: MemoryFleet
    var judge = FleetJudge()
    var hosts: [SimulatedHost]
    var agenda = FleetAgenda()
    var random: SeededGenerator
    /// Until when the network of a host is cut, and whether it delivers later what was sent meanwhile.
    var cuts: [Int: (until: Int64, isHeld: Bool)] = [:]
    var storeIsDownUntil: Int64 = 0
    /// Earlier states of the store, if it may go back to one, the oldest first.
    private(set) var standbys: [(at: Int64, fleet: MemoryFleet)]?
    /// Calls that the store has kept, with the beginnings of their connections, if it may go back.
    var recent: [(at: Int64, connectedAt: Int64, label: CallLabel, call: StoreCall)] = []
    /// When the connection of each host began.
    var connectedAt: [Int: Int64] = [:]
    private let faultsEnd: Int64
    /// One message of so many is late by up to two and a half leases.
    let lateOneOf: Int
    /// What the hosts do wrong.
    let flaw: Flaw?
    private var jobs = 0
    /// How often the store went back.
    private(set) var failovers = 0

    /// An error in the hosts' use of the rules, with which a test shows that the judge finds the damage.
    enum Flaw {
        /// A client hears of its request before the store has kept it.
        case acknowledgesEarly
        /// A new owner does not read what its schedules have served.
        case forgetsMemories
        /// A new owner counts the epochs of its runs from 1.
        case ignoresEpochs
        /// Exclusive runs go on when the lease is nearly over.
        case keepsExclusiveRuns
        /// Runs start also when the lease wanes.
        case ignoresLease
    }

    /// - Parameters:
    ///   - faults: how long faults and submissions come, seconds; 0 for none.
    ///   - goesBack: whether the store fails over to a standby that is behind, and loses what was kept since.
    ///   - change: changes the store before its first call.
    init(
        seed: UInt64,
        faults: Int64,
        goesBack: Bool = false,
        flaw: Flaw? = nil,
        _ change: (inout MemoryFleet) -> Void = { _ in }
    ) {
        random = SeededGenerator(seed: seed)
        self.flaw = flaw
        lateOneOf = goesBack ? 30 : 150
        fleet = MemoryFleet(partitions: Self.partitions, clock: Self.start)
        change(&fleet)
        let count = Int.random(in: 2...5, using: &random)
        hosts = []
        for index in 0..<count {
            hosts.append(
                SimulatedHost(index: index, slots: Int.random(in: 1...4, using: &random))
            )
        }
        faultsEnd = Self.start + faults * Self.second
        for index in hosts.indices { agenda.add(.wake(host: index), at: now) }
        agenda.add(.submission, at: now)
        agenda.add(.fault, at: now + 30 * Self.second)
        if goesBack {
            standbys = []
            agenda.add(.standby, at: now)
        }
    }

    /// Runs until two minutes after the last fault, so that all that was accepted can end.
    mutating func run() {
        let end = faultsEnd + 120 * Self.second
        while let next = agenda.next, next <= end, let (at, event) = agenda.pop() {
            now = at
            handle(event)
        }
    }

    var verdict: FleetJudge.Verdict {
        let minutes = stride(
            from: Self.start + 60 * Self.second,
            through: faultsEnd + 60 * Self.second,
            by: Int(60 * Self.second)
        )
        let times = Dictionary(uniqueKeysWithValues: Self.schedules.map { ($0, Array(minutes)) })
        return judge.verdict(fleet.runs, times: times)
    }

    // MARK: Events

    private mutating func handle(_ event: FleetEvent) {
        switch event {
        case .wake(let host):
            if hosts[host].wakeAt == now { hosts[host].wakeAt = nil }
            turn(host)
        case .arrival(let label, let call): arrive(label, call)
        case .answer(let label, let answer): answered(label, answer)
        case .runEnds(let host, let process, let partition, let handle, let run):
            guard hosts[host].process == process else { return }
            if defers(event, of: host) { return }
            touch(host)
            guard let owned = hosts[host][partition], owned.runs[handle]?.record.id == run else {
                return
            }
            end(handle, of: owned, host, .succeeded)
            turn(host)
        case .submission:
            submit()
            if now < faultsEnd { agenda.add(.submission, at: now + some(Self.second / 4)) }
        case .fault:
            guard now < faultsEnd else { return }
            harm()
            agenda.add(.fault, at: now + Self.second + some(9 * Self.second))
        case .standby:
            standbys?.append((now, fleet))
            if standbys?.count ?? 0 > 10 { standbys?.removeFirst() }
            agenda.add(.standby, at: now + Self.second)
        case .restart(let host):
            guard hosts[host].phase == .down else { return }
            hosts[host] = hosts[host].restarted()
            hosts[host].skew = some(3 * Self.second) - 3 * Self.second / 2
            turn(host)
        }
    }

    /// A random number from 0 up to a limit.
    mutating func some(_ limit: Int64) -> Int64 { .random(in: 0...limit, using: &random) }

    mutating func isOneOf(_ count: Int) -> Bool {
        Int.random(in: 0..<count, using: &random) == 0
    }

    /// Puts an event of a host off while its process is stopped.
    mutating func defers(_ event: FleetEvent, of host: Int) -> Bool {
        guard hosts[host].stoppedUntil > now else { return false }
        agenda.add(event, at: hosts[host].stoppedUntil)
        return true
    }

    private mutating func harm() {
        let host = Int.random(in: hosts.indices, using: &random)
        let length = some(5 * Int64(Self.lease) / 2)
        if let standby = standbys?.randomElement(using: &random), isOneOf(3) {
            fleet = standby.fleet
            failovers += 1
            repeatCalls(since: standby.at)
            return
        }
        switch Int.random(in: 0..<8, using: &random) {
        case 0: cuts[host] = (now + length, true)
        case 1: cuts[host] = (now + length, false)
        case 2: storeIsDownUntil = now + length / 2
        case _ where hosts[host].phase != .up: break
        case 3, 4: kill(host, for: length)
        case 5, 6:
            hosts[host].stoppedUntil = now + length
            judge.stop(host, now...hosts[host].stoppedUntil)
        default:
            hosts[host].phase = .leaving
            hosts[host].lease.leave()
            judge.leaves(host)
            block(host, "leaving")
            turn(host)
        }
    }

    private mutating func kill(_ host: Int, for length: Int64) {
        forgetRuns(host)
        judge.died(host)
        hosts[host] = hosts[host].restarted()
        hosts[host].phase = .down
        agenda.add(.restart(host: host), at: now + length)
    }

    /// All runs of a host end without a record.
    private mutating func forgetRuns(_ host: Int) {
        for owned in hosts[host].owned {
            for run in owned.runs.values { judge.ended(run.request, host: host, at: now) }
        }
    }

    private mutating func submit() {
        jobs += 1
        let task = "job.\(jobs)"
        let partition = PartitionID(of: task, partitions: Self.partitions)
        let takers = hosts.indices.filter { host in
            hosts[host].phase == .up && hosts[host].stoppedUntil <= now
                && hosts[host][partition] != nil
                && hosts[host].lease.mayStart(now: monotonic)
        }
        guard let host = takers.randomElement(using: &random) else { return }
        let moment = moment(host)
        let delay = isOneOf(2) ? some(20 * Self.second) : 0
        guard let owned = hosts[host][partition] else { return }
        let accepted = try? owned.scheduler.accept(
            // A refused submission has no acknowledgement, so it is not judged.
            Submission(task: task, earliestBegin: moment.unix + delay),
            now: moment
        )
        if let accepted {
            let transaction = add([accepted.change], of: partition, host)
            owned.storing.append((transaction, accepted))
            if flaw == .acknowledgesEarly { judge.acknowledge(accepted.request.id) }
        }
        turn(host)
    }

    // MARK: Hosts

    var monotonic: MonotonicInstant {
        MonotonicInstant(nanoseconds: UInt64(now - Self.start + 1000 * Self.second))
    }

    func moment(_ host: Int) -> Moment {
        Moment(monotonic: monotonic, unix: now + hosts[host].skew)
    }

    /// Lets the host act on its deadlines.
    mutating func touch(_ host: Int) {
        var effects: [HostLease.Effect] = []
        hosts[host].lease.timePassed(now: monotonic, &effects)
        obey(effects, host)
    }

    mutating func obey(_ effects: [HostLease.Effect], _ host: Int) {
        for effect in effects {
            switch effect {
            case .renew: hosts[host].renews = true
            case .stopExclusive where flaw == .ignoresLease: break
            case .stopExclusive: block(host, "the lease wanes")
            case .killExclusive where flaw == .keepsExclusiveRuns: break
            case .killExclusive:
                for owned in hosts[host].owned {
                    for handle in owned.runs.keys.sorted(by: { $0.index < $1.index }) {
                        end(handle, of: owned, host, .lost)
                    }
                }
            case .sever: break
            case .restore: block(host, nil)
            case .killAll:
                forgetRuns(host)
                hosts[host].standDown()
            }
        }
    }

    mutating func block(_ host: Int, _ reason: String?) {
        guard reason != nil || hosts[host].lease.mayStart(now: monotonic) else { return }
        for owned in hosts[host].owned {
            decide(owned, host) { $0.storeBlocked(reason, now: $1, &$2) }
        }
    }

    /// Does what is due on a host, and sends its next call.
    mutating func turn(_ host: Int) {
        guard hosts[host].phase != .down else { return }
        if defers(.wake(host: host), of: host) { return }
        touch(host)
        for owned in hosts[host].owned where owned.nextDate <= now + hosts[host].skew {
            decide(owned, host) { $0.timerFired(now: $1, &$2) }
        }
        if let call = hosts[host].call, monotonic.since(call.sentAt) >= Self.lease / 5 {
            hosts[host].call = nil
            hosts[host].isBroken = hosts[host].session != nil
        }
        if hosts[host].phase == .leaving, hosts[host].session == nil {
            return kill(host, for: some(Self.second))
        }
        if let call = hosts[host].nextCall(now: monotonic, using: &random) { send(call, host) }
        wakeLater(host)
    }

    private mutating func wakeLater(_ host: Int) {
        var next = hosts[host].lease.nextDeadline
        if let call = hosts[host].call {
            next = min(next, call.sentAt + Self.lease / 5)
        } else if hosts[host].phase == .up {
            let isOutside = hosts[host].session == nil
            next = min(next, isOutside ? hosts[host].nextRegistration : hosts[host].nextClaim)
        }
        var at = now + Int64(clamping: next.since(monotonic))
        for owned in hosts[host].owned {
            at = min(at, owned.nextDate.subtractingClamped(hosts[host].skew))
        }
        at = max(at, now + Self.second / 200)
        guard at < hosts[host].wakeAt ?? .max else { return }
        hosts[host].wakeAt = at
        agenda.add(.wake(host: host), at: at)
    }

    /// Calls the scheduler of a partition, and does what it decides.
    mutating func decide(
        _ owned: SimulatedHost.Owned,
        _ host: Int,
        _ body: (inout Scheduler, Moment, inout [SchedulerEffect]) -> Void
    ) {
        var effects: [SchedulerEffect] = []
        body(&owned.scheduler, moment(host), &effects)
        for effect in effects {
            switch effect {
            case .commit(let changes), .commitEnd(let changes, _):
                // Only submissions wait for their transaction.
                _ = add(changes, of: owned.partition, host)
            case .startRun(let start):
                owned.runs[start.handle] = begin(start, of: owned.partition, host)
            case .stop, .inspect, .requestClosed, .claimStart, .releaseStart, .log: break
            }
        }
    }

    mutating func add(
        _ changes: [StoreChange],
        of partition: PartitionID,
        _ host: Int
    ) -> UInt64 {
        for case .accepted(let request, _) in changes { judge.accepted(request) }
        do throws(BatchFold.Contradiction) {
            return try hosts[host].queue.add(changes, in: partition).transaction
        } catch {
            judge.drifts += 1
            return .max
        }
    }

    private mutating func begin(
        _ start: RunStart,
        of partition: PartitionID,
        _ host: Int
    ) -> SimulatedHost.Run {
        judge.starts(host, at: now)
        // A store that went back may have lost the grant.
        if standbys == nil, fleet.owner(of: partition) != hosts[host].name {
            judge.foreignStarts += 1
        }
        // Only submissions wait for their transaction.
        _ = add([.runStarted(start.record)] + start.changes, of: partition, host)
        judge.began(start.record.request, host: host, at: now)
        // Without the kill, only a run longer than the rest of a lease overlaps another one.
        let isLong = isOneOf(flaw == .keepsExclusiveRuns ? 8 : 40)
        let most = isLong ? 30 * Self.second : isOneOf(4) ? 4 * Self.second : Self.second / 10
        let length = some(most)
        agenda.add(
            .runEnds(
                host: host,
                process: hosts[host].process,
                partition,
                start.handle,
                start.record.id
            ),
            at: now + length
        )
        var record = start.record
        record.state = .running
        record.startedAt = now
        return SimulatedHost.Run(request: record.request, record: record)
    }

    private mutating func end(
        _ handle: RunHandle,
        of owned: SimulatedHost.Owned,
        _ host: Int,
        _ outcome: Outcome
    ) {
        guard let run = owned.runs.removeValue(forKey: handle) else { return }
        judge.ended(run.request, host: host, at: now)
        var record = run.record
        record.state = .ended
        record.outcome = outcome
        record.endedAt = now
        let finish = RunFinish(record: record, outcome: outcome)
        decide(owned, host) { $0.runEnded(handle, finish, now: $1, &$2) }
    }
}
