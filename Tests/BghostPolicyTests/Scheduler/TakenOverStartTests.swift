// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostCalendar
import BghostFacts
import BghostModel
@testable import BghostPolicy
import BghostSimulation
import BghostTestSupport
import Testing

/// A client's request that has taken over the dates of a start of a schedule (`update`): it is the client's, and
/// serves the time.
@Suite struct TakenOverStartTests {
    private typealias Hand = SchedulerHand

    private static func manifest(
        _ schedule: TaskSchedule? = World.calendar("0 13 * * *"),
        _ adjust: (inout TaskDefinition) -> Void = { _ in }
    ) throws -> Manifest {
        try Hand.manifest("a") {
            $0.schedule = schedule
            adjust(&$0)
        }
    }

    private func takeOver(_ hand: inout Hand) throws -> Request {
        let start = try #require(hand.scheduler.pending("a"))
        let request = try hand.submit(
            Submission(task: "a", parameters: #"{"order":42}"#, onConflict: .update)
        )
        #expect(request.id != start.id && request.earliestBegin == start.earliestBegin)
        return request
    }

    /// The request begins with its parameters, and its time does not come a second time.
    private func expectServed(_ request: Request, _ hand: inout Hand) throws {
        #expect(hand.begun.map(\.record.request) == [request.id])
        #expect(hand.begun.first?.parameters == #"{"order":42}"#)
        try hand.end(after: Hand.second)
        #expect(hand.running.isEmpty)
    }

    @Test func `It begins at the time of the schedule, which it serves`() throws {
        let manifest = try Self.manifest()
        var hand = Hand(manifest)
        let request = try takeOver(&hand)
        hand.restart(manifest)
        hand.setClock(hand.now.unix)
        hand.pass(Hand.hour)
        try expectServed(request, &hand)
        #expect(
            hand.scheduler.pending("a")?.scheduledTime == Hand.noon + Hand.hour + Hand.day
        )
        #expect(hand.ends.isEmpty)
    }

    @Test func `Another schedule keeps it, and so does its removal`() throws {
        for edited in [World.calendar("30 13 * * *"), World.every(60), nil] {
            var hand = Hand(try Self.manifest())
            let request = try takeOver(&hand)
            hand.reload(try Self.manifest(edited))
            #expect(hand.scheduler.pending("a") == request)
            hand.restart(try Self.manifest(edited))
            #expect(hand.scheduler.pending("a") == request)
            hand.pass(Hand.hour)
            #expect(hand.ends.isEmpty)
            try expectServed(request, &hand)
        }
    }

    @Test func `It waits for the end of a pause, in which its time passes`() throws {
        let manifest = try Self.manifest()
        var hand = Hand(manifest)
        let request = try takeOver(&hand)
        let pause = Pause(target: .tasks("a"), since: hand.now.unix, user: "uid 0")
        hand.store(.paused(pause.target, pause))
        hand.perform { $0.pause(pause, now: $1, &$2) }
        hand.pass(2 * Hand.hour)
        #expect(hand.ends.isEmpty && hand.scheduler.pending("a")?.id == request.id)
        #expect(hand.closed("a") == [.paused])
        hand.restart(manifest)
        #expect(hand.scheduler.pending("a")?.id == request.id)
        hand.store(.paused(pause.target, nil))
        #expect(hand.perform { $0.resume(pause.target, now: $1, &$2) } != nil)
        try expectServed(request, &hand)
        #expect(
            hand.scheduler.pending("a")?.scheduledTime == Hand.noon + Hand.hour + Hand.day
        )
    }

    @Test func `A late restart and a clock event keep it`() throws {
        let manifest = try Self.manifest { $0.requirements = .network }
        var hand = Hand(manifest)
        let request = try takeOver(&hand)
        hand.pass(Hand.hour + Hand.second)
        #expect(hand.running.isEmpty)
        hand.skip(600 * Hand.second)
        hand.restart(manifest)
        #expect(hand.scheduler.pending("a") == request)
        hand.setClock(hand.now.unix + Hand.hour)
        #expect(hand.scheduler.pending("a") == request)
        hand.online()
        try expectServed(request, &hand)
    }

    @Test func `That of a chain is kept, too`() throws {
        func manifest(_ schedule: TaskSchedule?) throws -> Manifest {
            var manifest = try Hand.manifest("a", "b")
            manifest.tasks[0].schedule = schedule
            manifest.tasks[1].then = [TaskFollower(task: "a", onConflict: .update)]
            return manifest
        }
        var hand = Hand(try manifest(World.calendar("0 13 * * *")))
        try hand.trigger("b")
        try hand.end(after: Hand.second)
        let follower = try #require(hand.scheduler.pending("a"))
        #expect(follower.submitter != .manifest)
        #expect(follower.earliestBegin == Hand.noon + Hand.hour)
        hand.reload(try manifest(nil))
        #expect(hand.scheduler.pending("a") == follower)
        hand.pass(Hand.hour)
        #expect(hand.begun.map(\.record.request) == [follower.id])
    }

    @Test func `That of an interval moves with the clock as the interval does`() throws {
        let manifest = try Self.manifest(World.every(3600))
        for step in [10 * Hand.hour, -10 * Hand.hour] {
            var hand = Hand(manifest)
            let request = try takeOver(&hand)
            hand.pass(Hand.hour / 2)
            hand.setClock(hand.now.unix + step)
            #expect(hand.scheduler.pending("a")?.id == request.id)
            hand.pass(Hand.hour / 2 + Hand.second)
            try expectServed(request, &hand)
            let next = try #require(hand.scheduler.pending("a")?.earliestBegin)
            #expect((next - hand.now.unix - Hand.hour).magnitude <= 3 * UInt64(Hand.second))
        }
    }
}

extension SchedulerHand {
    /// Reports that the machine has a network.
    mutating func online() {
        var facts = FactSheet()
        perform { scheduler, now, effects in
            let changed = facts.simulate(.network, as: .holds, now: now)
            scheduler.factsChanged(facts, changed.union(.network), now: now, &effects)
        }
    }
}
