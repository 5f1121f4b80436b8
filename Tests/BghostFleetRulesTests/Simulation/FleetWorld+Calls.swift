// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostCalendar
import BghostFleetRules
import BghostModel
import BghostPolicy
import BghostTestSupport

/// Calls of hosts on their way to the store and back, and what an answer leads to.
extension FleetWorld {
    mutating func send(_ call: StoreCall, _ host: Int) {
        hosts[host].calls += 1
        let label = CallLabel(
            host: host,
            process: hosts[host].process,
            number: hosts[host].calls
        )
        hosts[host].call = (label, monotonic, call)
        hosts[host].lease.sent(at: monotonic)
        guard let delay = delay(host) else { return }
        agenda.add(.arrival(label, call), at: now + delay)
    }

    /// How long a message is under way; `nil` if it is lost.
    private mutating func delay(_ host: Int) -> Int64? {
        let usual = Self.second / 10_000 + some(Self.second / 300)
        if let cut = cuts[host], cut.until > now {
            return cut.isHeld ? cut.until - now + usual : nil
        }
        // Some messages are late, by more than a lease: their host has long given up.
        if isOneOf(150) { return some(5 * Int64(Self.lease) / 2) }
        return isOneOf(150) ? nil : usual
    }

    /// The store handles a call; a store that is down does not.
    mutating func arrive(_ label: CallLabel, _ call: StoreCall) {
        guard storeIsDownUntil <= now else { return }
        fleet.clock = now
        let answer: StoreAnswer
        do throws(FleetRefusal) {
            answer = try handle(call)
        } catch {
            if error == .drift { judge.drifts += 1 }
            if error == .fenced { judge.refusals += 1 }
            answer = .refused(error)
        }
        guard let delay = delay(label.host) else { return }
        agenda.add(.answer(label, answer), at: now + delay)
    }

    private mutating func handle(_ call: StoreCall) throws(FleetRefusal) -> StoreAnswer {
        switch call {
        case .look(let name): return .found(incarnation: fleet.incarnation(of: name))
        case .register(let terms, let last):
            return .registered(try fleet.register(terms, after: last))
        case .resume(let session): return .resumed(try fleet.resume(session))
        case .batch(let batch, let session):
            let clock = try fleet.commit(batch.batch, number: batch.number, session)
            return .kept(storeClock: clock)
        case .claim(let held, let mayReap, let session):
            return .claimed(try fleet.claim(holding: held, mayReap: mayReap, session))
        case .release(let partitions, let session):
            try fleet.release(partitions, session)
            return .released
        case .read(let grant): return .contents(grant, try fleet.contents(of: grant.partition))
        case .leave(let session):
            try fleet.leave(session)
            return .left
        }
    }

    /// A host gets the answer to its call, unless it has given the call up.
    mutating func answered(_ label: CallLabel, _ answer: StoreAnswer) {
        let host = label.host
        guard hosts[host].phase != .down, hosts[host].process == label.process else { return }
        if defers(.answer(label, answer), of: host) { return }
        touch(host)
        guard let call = hosts[host].call, call.label == label else { return }
        hosts[host].call = nil
        take(answer, sentAt: call.sentAt, host)
        turn(host)
    }

    private mutating func take(_ answer: StoreAnswer, sentAt: MonotonicInstant, _ host: Int) {
        var effects: [HostLease.Effect] = []
        switch answer {
        case .found(let incarnation): hosts[host].incarnation = incarnation
        case .registered(let session):
            hosts[host].session = session
            hosts[host].isBroken = false
            hosts[host].nextClaim = monotonic
            hosts[host].lease.registered(sentAt: sentAt, now: monotonic, &effects)
        case .resumed(let resumed):
            hosts[host].session = resumed.session
            hosts[host].isBroken = false
            hosts[host].lease.answered(sentAt: sentAt, now: monotonic, &effects)
            switch hosts[host].queue.resumed(last: resumed.lastBatch) {
            case .idle: break
            case .kept: acknowledge(host)
            case .again(let batch): send(.batch(batch, resumed.session), host)
            case .wentBack: hosts[host].lease.refused(&effects)
            }
        case .kept(let clock):
            hosts[host].queue.answered()
            hosts[host].reap.renewed(sentAt: sentAt, storeClock: clock)
            hosts[host].lease.answered(sentAt: sentAt, now: monotonic, &effects)
            acknowledge(host)
        case .claimed(let answer):
            hosts[host].shares = answer.shares
            hosts[host].toRead += answer.grants
        case .contents(let grant, let contents):
            hosts[host].toRead.removeAll { $0 == grant }
            adopt(grant, contents, host)
        case .refused:
            if hosts[host].session == nil { break }
            hosts[host].lease.refused(&effects)
        case .released: break
        case .left: hosts[host].session = nil
        }
        obey(effects, host)
    }

    /// Tells the clients whose requests the store has kept.
    private mutating func acknowledge(_ host: Int) {
        let kept = hosts[host].queue.kept
        for partition in hosts[host].owned.keys.sorted() {
            let done = (hosts[host].owned[partition]?.storing ?? []).prefix {
                $0.transaction <= kept
            }
            guard !done.isEmpty else { continue }
            hosts[host].owned[partition]?.storing.removeFirst(done.count)
            for (_, accepted) in done {
                judge.acknowledge(accepted.request.id)
                decide(partition, host) {
                    $0.finishSubmission(accepted, isStored: true, now: $1, &$2)
                }
            }
        }
    }

    /// Continues what the last owner of a partition left.
    private mutating func adopt(
        _ grant: PartitionGrant,
        _ contents: PartitionContents,
        _ host: Int
    ) {
        let settings = settings(of: grant.partition, slots: hosts[host].slots)
        hosts[host].owned[grant.partition] = SimulatedHost.Owned(scheduler: Scheduler(settings))
        judge.adoptions += 1
        let mayStart = hosts[host].lease.mayStart(now: monotonic)
        decide(grant.partition, host) { scheduler, now, effects in
            scheduler.setIncarnation(grant.epoch, now: now)
            if !mayStart { scheduler.storeBlocked("the lease wanes", now: now, &effects) }
            for memory in contents.memories { scheduler.restore(memory, now: now) }
            for request in contents.pending { scheduler.restore(request, now: now, &effects) }
            for (request, run) in contents.interrupted {
                scheduler.restore(interrupted: run, of: request, now: now, &effects)
            }
            scheduler.start(now: now, &effects)
        }
    }

    /// Jobs, and the schedules of this partition.
    private mutating func settings(of partition: PartitionID, slots: Int) -> Scheduler.Settings {
        let schedules = Self.schedules.filter {
            PartitionID(of: $0, partitions: Self.partitions) == partition
        }
        return Scheduler.Settings(
            manifest: Manifest(
                plugins: [PluginDefinition(name: "p", library: "p.so")],
                tasks: [Self.task("job.*")]
                    + schedules.map { Self.task($0, schedule: Self.everyMinute) }
            ),
            manifestPath: "tasks.json",
            slots: slots,
            machineID: "the fleet",
            seed: random.next()
        )
    }

    private static let everyMinute: TaskSchedule = {
        guard let expression = try? CalendarExpression("* * * * *") else {
            preconditionFailure("it is a calendar")
        }
        return TaskSchedule(
            times: .calendar(expression, zone: .utc, gap: .shift, fold: .first),
            misfire: .all(max: 10)
        )
    }()

    private static func task(_ name: String, schedule: TaskSchedule? = nil) -> TaskDefinition {
        guard let identifier = IdentifierPattern(name) else {
            preconditionFailure("\(name) is an identifier")
        }
        return TaskDefinition(
            identifier: identifier,
            handler: .plugin(name: "p", handler: name),
            kind: .refresh,
            schedule: schedule
        )
    }
}
