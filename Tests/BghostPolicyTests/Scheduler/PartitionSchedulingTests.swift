// SPDX-License-Identifier: Apache-2.0

@testable import BghostBase
import BghostModel
@testable import BghostPolicy
import BghostSimulation
import BghostTestSupport
import Testing

/// Requests that live in the fleet, with the partitions and the lease of a host given by hand.
@Suite struct PartitionSchedulingTests {
    private typealias Hand = SchedulerHand

    /// A scheduler whose task lives in the fleet, and another one that does not.
    private func hand(_ task: String = "job", slots: Int = 4) throws -> Hand {
        var manifest = try Hand.manifest(task, "local")
        manifest.tasks[0].isInFleet = true
        manifest.tasks[0].retry = RetryPolicy(kind: .processing)
        var hand = Hand(manifest, slots: slots)
        hand.tell(.unleased("it has not joined yet"))
        return hand
    }

    private func request(_ number: UInt64, _ task: String = "job") -> Request {
        Request(
            id: RunID(high: 9, low: number),
            task: task,
            parameters: "{}",
            submittedAt: Hand.noon,
            priority: 500
        )
    }

    private func run(of request: Request, epoch: UInt64 = 1) -> RunRecord {
        RunRecord(
            id: RunID(high: 8, low: request.id.low),
            request: request.id,
            task: request.task,
            plugin: "plugin",
            attempt: request.attempt,
            epoch: epoch,
            limits: RunLimits(kind: .refresh),
            submittedAt: request.submittedAt
        )
    }

    /// Plays what happened again: what is decided is the same.
    private func expectTheSame(_ hand: Hand) throws {
        let settings = hand.scheduler.settings
        var replay = SchedulerReplay(Hand.settings(settings.manifest, slots: settings.slots))
        try hand.expectTheSame(of: &replay)
    }

    @Test func `An adopted request starts while the lease is valid and not otherwise`() throws {
        var hand = try hand()
        hand.grant("job", epoch: 7)
        hand.tell(.adopted([request(1)]))
        #expect(hand.running.isEmpty)
        let closed = try #require(hand.gate(.fleet, of: "job"))
        #expect(!closed.isOpen && closed.now.contains("it has not joined yet"), "\(closed)")
        hand.lease(10)
        #expect(hand.running == ["job"])
        #expect(hand.begun.first?.record.epoch == 7 << 32 + 1)
        try hand.end(after: Hand.second)
        #expect(hand.pending.isEmpty)

        // Without any event, the end of the lease is noticed where a run would start.
        hand.skip(20 * Hand.second)
        hand.tell(.delivered(request(2), .replace))
        #expect(hand.running.isEmpty && hand.pending.count == 1)
        #expect(hand.gate(.fleet, of: "job")?.now.contains("has not answered in time") == true)
        hand.lease(10)
        #expect(hand.running == ["job"])
        #expect(hand.begun.first?.record.epoch == 7 << 32 + 2)
        try expectTheSame(hand)
    }

    @Test func `A host adopts only what it owns`() throws {
        var hand = try hand()
        hand.lease(10)
        hand.tell(.adopted([request(1), request(2, "local")]))
        hand.tell(.delivered(request(3), .replace))
        hand.tell(.interrupted(run(of: request(4)), of: request(4)))
        #expect(hand.running.isEmpty && hand.scheduler.requests(of: "job").isEmpty)
        let gate = hand.scheduler.gates(of: request(1), now: hand.now).first
        #expect(gate?.kind == .fleet && gate?.isOpen == false, "\(String(describing: gate))")
    }

    @Test func `A submission is posted and a manual run is of this host`() throws {
        var hand = try hand()
        let posted = try #require(
            try hand.perform { scheduler, now, _ in
                try scheduler.accept(Submission(task: "job", onConflict: .append), now: now)
            }
        )
        #expect(posted.posted == .append && posted.request.task == "job")
        hand.perform { $0.finishSubmission(posted, isStored: true, now: $1, &$2) }
        #expect(hand.scheduler.requests(of: "job").isEmpty)
        // It needs no lease, and has an epoch of this host.
        try hand.trigger("job")
        #expect(hand.running == ["job"])
        #expect(try #require(hand.begun.first).record.epoch < 1 << 32)
        #expect(throws: SubmitError.self) {
            try hand.perform { scheduler, now, _ in
                try scheduler.accept(Submission(task: "unknown"), now: now)
            }
        }
        let local = try hand.perform { scheduler, now, _ in
            try scheduler.accept(Submission(task: "local"), now: now)
        }
        #expect(local?.posted == nil)
        try expectTheSame(hand)
    }

    @Test func `The owner decides what a submission does to a pending one`() throws {
        var hand = try hand()
        hand.grant("job")
        hand.tell(.delivered(request(1), .replace))
        hand.tell(.delivered(request(2), .replace))
        #expect(hand.scheduler.requests(of: "job").map(\.id) == [request(2).id])
        hand.tell(.delivered(request(3), .keep))
        #expect(hand.scheduler.requests(of: "job").map(\.id) == [request(2).id])
        hand.tell(.delivered(request(4), .append))
        #expect(hand.scheduler.requests(of: "job").map(\.id) == [2, 4].map { request($0).id })
        #expect(Set(hand.pending.keys) == Set([2, 4].map { request($0).id }))
        try expectTheSame(hand)
    }

    @Test func `A host that gives a partition back forgets its requests`() throws {
        var hand = try hand("job.*")
        let partition = hand.grant("job.a")
        let memory = TaskMemory(identifier: "job.a", lastServedTime: 1)
        hand.tell(.released([partition]))
        hand.tell(.granted(PartitionGrant(partition, epoch: 2), [memory]))
        hand.tell(.adopted([request(1, "job.a")]))
        #expect(hand.scheduler.requests(of: "job.a").count == 1)
        #expect(hand.scheduler.ownedPartitions == [partition])
        let before = hand.pending
        hand.tell(.released([partition]))
        #expect(hand.scheduler.ownedPartitions.isEmpty)
        #expect(hand.scheduler.requests(of: "job.a").isEmpty)
        #expect(hand.scheduler.memories(of: "job.a").isEmpty)
        // Nothing of that is stored: the next owner finds what was there.
        #expect(hand.pending == before && hand.ends.isEmpty)
        hand.lease(10)
        #expect(hand.running.isEmpty)
        try expectTheSame(hand)
    }

    @Test func `A fenced host stops its runs and decides nothing about their ends`() throws {
        var hand = try hand(slots: 1)
        hand.grant("job")
        hand.lease(1000)
        hand.tell(.adopted([request(1)]))
        #expect(hand.running == ["job"])
        let local = try hand.submit(Submission(task: "local"))
        hand.tell(.fenced("another host has the name"))
        #expect(hand.stopped == [try #require(hand.begun.first).handle])
        #expect(hand.scheduler.ownedPartitions.isEmpty)
        let stored = hand.journal.count
        try hand.end(after: Hand.second)
        let late = hand.journal[stored...].flatMap(\.effects)
        for effect in late {
            if case .commitEnd(let changes, let record) = effect {
                #expect(changes.isEmpty && record.outcome == .lost)
            }
        }
        #expect(hand.notes.contains { $0.code == "run.fenced" })
        // Its slot is free for others.
        #expect(hand.begun.map(\.record.request) == [local.id])
        try expectTheSame(hand)
    }

    /// A late end of a run that began before the host was fenced does not end the new lease of the request.
    @Test func `A request that comes back waits for the end of the fenced run`() throws {
        var hand = try hand()
        hand.grant("job")
        hand.lease(1000)
        hand.tell(.adopted([request(1)]))
        let first = try #require(hand.begun.first)
        hand.tell(.fenced("its lease ended"))
        hand.grant("job", epoch: 2)
        hand.lease(1000)
        hand.tell(.interrupted(first.record, of: request(1)))
        #expect(hand.running == ["job"], "only the fenced one")
        try hand.end(after: Hand.second)
        let second = try #require(hand.begun.first)
        #expect(second.record.request == request(1).id && second.record.epoch == 2 << 32 + 1)
        #expect(second.record.attempt == 2)
        try hand.end(after: Hand.second)
        #expect(hand.pending.isEmpty && hand.running.isEmpty)
        try expectTheSame(hand)
    }

    @Test func `A request whose hosts are lost is given up the third time`() throws {
        var hand = try hand()
        hand.lease(1_000_000)
        var request = request(1)
        for count in 1...3 {
            hand.tell(.fenced("lost"))
            hand.grant("job", epoch: UInt32(count))
            hand.tell(.interrupted(run(of: request, epoch: UInt64(count)), of: request))
            guard count < 3 else { break }
            request = try #require(hand.scheduler.requests(of: "job").first)
            #expect(request.counters.takeovers == count && request.isRetry)
        }
        #expect(hand.scheduler.requests(of: "job").isEmpty)
        let dead = hand.notes.compactMap { note -> String? in
            if case .dead(_, let reason) = note { reason } else { nil }
        }
        #expect(dead == ["its host was lost 3 times"])
        try expectTheSame(hand)
    }

    @Test func `Requests of this host's own store are handed out and not started`() throws {
        var hand = try hand()
        hand.perform { scheduler, now, effects in
            scheduler.restore(request(1), now: now, &effects)
            scheduler.restore(request(2, "local"), now: now, &effects)
        }
        hand.perform { $0.dispatch(now: $1, &$2) }
        #expect(hand.running == ["local"])
        #expect(hand.perform { scheduler, _, _ in scheduler.takeLeftovers() } == [request(1)])
        #expect(hand.perform { scheduler, _, _ in scheduler.takeLeftovers() }.isEmpty)
    }

    /// Renewals are frequent: they must not look at the requests that wait.
    @Test func `A renewal looks at nothing and an adoption at its own requests`() throws {
        var hand = try hand("job.*", slots: 1)
        let names = (0..<4000).map { "job.\($0)" }
        for number in 0..<PartitionID.count {
            let grant = PartitionGrant(PartitionID(number: number), epoch: 1)
            hand.tell(.granted(grant, []))
        }
        hand.tell(.adopted(names.enumerated().map { request(UInt64($0.offset), $0.element) }))
        hand.lease(1000)
        #expect(hand.running.count == 1)
        let (rechecks, visited) = (hand.scheduler.rechecks, hand.scheduler.entriesVisited)
        for seconds in 0..<100 { hand.lease(1000 + Int64(seconds)) }
        #expect(hand.scheduler.rechecks == rechecks)
        #expect(hand.scheduler.entriesVisited == visited)
        let partition = PartitionID(of: names[7])
        let count = names.count { PartitionID(of: $0) == partition }
        hand.tell(.released([partition]))
        #expect(hand.scheduler.rechecks - rechecks <= 2 * count)
        #expect(hand.scheduler.requests(of: names[7]).isEmpty)
    }
}

extension SchedulerHand {
    fileprivate mutating func tell(_ event: PartitionEvent) {
        perform { $0.handle(event, now: $1, &$2) }
    }

    /// Gives the partition of an identifier to the host.
    @discardableResult
    fileprivate mutating func grant(_ identifier: String, epoch: UInt32 = 1) -> PartitionID {
        let partition = PartitionID(of: identifier)
        tell(.granted(PartitionGrant(partition, epoch: epoch), []))
        return partition
    }

    /// A lease for so many seconds from now.
    fileprivate mutating func lease(_ seconds: Int64) {
        let end = now.sinceBoot + UInt64(seconds * Self.second)
        tell(.leased(until: end))
    }
}

extension Scheduler {
    fileprivate var rechecks: Int { pendingIndex.rechecks }
    fileprivate var entriesVisited: Int { pendingIndex.entriesVisited }
}
