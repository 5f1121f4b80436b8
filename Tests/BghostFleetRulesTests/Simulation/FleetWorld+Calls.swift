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
        judge.sent(label, at: now)
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
        if isOneOf(lateOneOf) { return some(5 * Int64(Self.lease) / 2) }
        return isOneOf(150) ? nil : usual
    }

    /// The store handles a call; a store that is down does not.
    mutating func arrive(_ label: CallLabel, _ call: StoreCall) {
        guard storeIsDownUntil <= now else { return }
        fleet.clock = now
        let answer: StoreAnswer
        do throws(FleetRefusal) {
            answer = try handle(call)
            if standbys != nil { note(label, call, answer) }
        } catch {
            if error == .drift { judge.drifts += 1 }
            if error == .fenced { judge.refusals += 1 }
            answer = .refused(error)
        }
        guard let delay = delay(label.host) else { return }
        agenda.add(.answer(label, answer), at: now + delay)
    }

    private mutating func note(_ label: CallLabel, _ call: StoreCall, _ answer: StoreAnswer) {
        switch call {
        case .batch, .claim, .release, .leave:
            recent.append((now, connectedAt[label.host] ?? 0, label, call))
        case .look, .register, .resume, .read: break
        }
        switch answer {
        case .registered, .resumed: connectedAt[label.host] = now
        case .claimed(let answer) where !answer.grants.isEmpty: connectedAt[label.host] = now
        default: break
        }
    }

    /// Calls of connections that the store has lost come again, while its counters repeat.
    mutating func repeatCalls(since time: Int64) {
        for call in recent where call.connectedAt > time && now - call.at < 10 * Self.second {
            agenda.add(.arrival(call.label, call.call), at: now + some(5 * Self.second))
        }
        recent = []
    }

    private mutating func handle(_ call: StoreCall) throws(FleetRefusal) -> StoreAnswer {
        switch call {
        case .look(let name): return .found(fleet.incarnation(of: name))
        case .register(let terms, let last, let nonce):
            return .registered(try fleet.register(terms, after: last, nonce: nonce))
        case .resume(let session, let nonce):
            return .resumed(try fleet.resume(session, nonce: nonce))
        case .batch(let batch, let session):
            let clock = try fleet.commit(batch.batch, number: batch.number, session)
            return .kept(storeClock: clock)
        case .claim(let held, let mayReap, let nonce, let session):
            return .claimed(
                try fleet.claim(holding: held, mayReap: mayReap, nonce: nonce, session)
            )
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
        judge.delivered(label, answer)
        guard let call = hosts[host].call, call.label == label else { return }
        hosts[host].call = nil
        take(answer, sentAt: call.sentAt, host)
        turn(host)
    }

    private mutating func take(_ answer: StoreAnswer, sentAt: MonotonicInstant, _ index: Int) {
        let host = hosts[index]
        var effects: [HostLease.Effect] = []
        let registration = host.session?.incarnation
        switch answer {
        case .found(let incarnation): host.incarnation = incarnation
        case .registered(let session):
            host.session = session
            host.isBroken = false
            host.nextClaim = monotonic
            host.lease.registered(session.incarnation, sentAt: sentAt, now: monotonic, &effects)
        case .resumed(let resumed):
            let session = resumed.session
            host.session = session
            host.isBroken = false
            host.lease.answered(session.incarnation, sentAt: sentAt, now: monotonic, &effects)
            switch host.queue.resumed(last: resumed.lastBatch) {
            case .idle: break
            case .kept: acknowledge(index)
            case .again(let batch): send(.batch(batch, session), index)
            case .wentBack: host.lease.refused(session.incarnation, &effects)
            }
        case .kept(let clock):
            host.queue.answered()
            host.reap.renewed(sentAt: sentAt, storeClock: clock)
            if let registration {
                host.lease.answered(registration, sentAt: sentAt, now: monotonic, &effects)
            }
            acknowledge(index)
        case .claimed(let answer):
            host.session = answer.session
            host.shares = answer.shares
            host.toRead += answer.grants
        case .contents(let grant, let contents):
            host.toRead.removeAll { $0 == grant }
            adopt(grant, contents, index)
        case .refused:
            if let registration { host.lease.refused(registration, &effects) }
        case .released: break
        case .left: host.session = nil
        }
        obey(effects, index)
    }

    /// Tells the clients whose requests the store has kept.
    private mutating func acknowledge(_ host: Int) {
        let kept = hosts[host].queue.kept
        for owned in hosts[host].owned where !owned.storing.isEmpty {
            let done = owned.storing.prefix { $0.transaction <= kept }
            guard !done.isEmpty else { continue }
            owned.storing.removeFirst(done.count)
            for (_, accepted) in done {
                judge.acknowledge(accepted.request.id)
                decide(owned, host) {
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
        let owned = SimulatedHost.Owned(grant.partition, Scheduler(settings))
        hosts[host][grant.partition] = owned
        judge.adoptions += 1
        let mayStart = hosts[host].lease.mayStart(now: monotonic)
        let flaw = flaw
        decide(owned, host) { scheduler, now, effects in
            if flaw != .ignoresEpochs { scheduler.setIncarnation(grant.epoch, now: now) }
            if !mayStart { scheduler.storeBlocked("the lease wanes", now: now, &effects) }
            if flaw != .forgetsMemories {
                for memory in contents.memories { scheduler.restore(memory, now: now) }
            }
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
