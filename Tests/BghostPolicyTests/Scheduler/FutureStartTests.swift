// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostCalendar
import BghostFacts
import BghostModel
@testable import BghostPolicy
import BghostSimulation
import BghostTestSupport
import Testing

/// A start of a schedule whose time has not come: it follows the manifest, and can be withdrawn.
@Suite struct FutureStartTests {
    private typealias Hand = SchedulerHand

    private static func schedule(
        _ hour: Int = 13,
        startDeadline: Duration? = nil,
        window: Duration = .zero,
        randomDelay: Duration = .zero
    ) throws -> TaskSchedule {
        TaskSchedule(
            times: .calendar(
                try CalendarExpression("0 \(hour) * * *"),
                zone: .utc,
                gap: .shift,
                fold: .first
            ),
            startDeadline: startDeadline,
            window: window,
            randomDelay: randomDelay
        )
    }

    private static func manifest(
        _ schedule: TaskSchedule,
        priority: Int = 500
    ) throws -> Manifest {
        try Hand.manifest("a") {
            $0.schedule = schedule
            $0.priority = priority
        }
    }

    // MARK: Edits

    @Test(arguments: [true, false])
    func `Another deadline, window and priority apply to the next start`(isReload: Bool) throws {
        let written = try Self.manifest(try Self.schedule(startDeadline: .seconds(3600)))
        let edited = try Self.manifest(
            try Self.schedule(startDeadline: .seconds(7200), window: .seconds(1800)),
            priority: 900
        )
        var hand = Hand(written)
        let before = try #require(hand.scheduler.pending("a"))
        if isReload { hand.reload(edited) } else { hand.restart(edited) }
        let after = try #require(hand.scheduler.pending("a"))
        #expect(after.id == before.id && after.scheduledTime == before.scheduledTime)
        let start = try #require(after.earliestBegin)
        #expect(start > Hand.noon + Hand.hour && start < Hand.noon + 2 * Hand.hour)
        #expect(after.latestBegin == start + 2 * Hand.hour)
        #expect(after.priority == 900)
        #expect(hand.pending[after.id] == after)
        #expect(hand.scheduler.outlook(of: "a", now: hand.now)?.next == start)
        if isReload { hand.reload(written) } else { hand.restart(written) }
        #expect(hand.scheduler.pending("a") == before)
        hand.pass(Hand.hour)
        #expect(hand.running == ["a"])
        #expect(hand.ends.isEmpty && hand.skipped.isEmpty)
    }

    @Test func `An edit keeps the delay that was drawn`() throws {
        var hand = Hand(try Self.manifest(try Self.schedule(randomDelay: .seconds(600))))
        let before = try #require(hand.scheduler.pending("a")?.earliestBegin)
        hand.reload(
            try Self.manifest(
                try Self.schedule(startDeadline: .seconds(60), randomDelay: .seconds(900)),
                priority: 900
            )
        )
        let after = try #require(hand.scheduler.pending("a"))
        #expect(after.earliestBegin == before && after.priority == 900)
        #expect(after.latestBegin == before + 60 * Hand.second)
    }

    @Test func `A start whose time has come keeps its dates`() throws {
        let written = try Hand.manifest("a") {
            $0.schedule = World.every(3600)
            $0.requirements = .network
        }
        let edited = try Hand.manifest("a") {
            $0.schedule = World.every(3600, startDeadline: .seconds(60))
            $0.requirements = .network
            $0.priority = 900
        }
        var hand = Hand(written)
        hand.pass(Hand.hour + Hand.second)
        let due = try #require(hand.scheduler.pending("a"))
        hand.reload(edited)
        #expect(hand.scheduler.pending("a") == due)
    }

    // MARK: Withdrawal

    @Test(arguments: [0, 1800])
    func `A withdrawn start of an interval is left out, whatever restarts`(window: Int) throws {
        let manifest = try Hand.manifest("a") {
            $0.schedule = World.every(3600, window: .seconds(window))
        }
        var hand = Hand(manifest)
        let first = try #require(hand.scheduler.pending("a")?.earliestBegin)
        for number: Int64 in 1...2 {
            #expect(hand.perform { $0.withdraw("a", now: $1, &$2) })
            let next = hand.scheduler.pending("a")?.earliestBegin
            #expect(next == first + number * Hand.hour)
            hand.restart(manifest)
            #expect(hand.scheduler.pending("a")?.earliestBegin == next)
            #expect(hand.scheduler.outlook(of: "a", now: hand.now)?.next == next)
        }
        hand.pass(first + 2 * Hand.hour - hand.now.unix - 1)
        #expect(hand.begun.isEmpty && hand.skipped.isEmpty)
        hand.pass(1)
        #expect(hand.running == ["a"])
        try hand.end(after: 0)
        #expect(hand.scheduler.pending("a")?.earliestBegin == first + 3 * Hand.hour)
    }

    @Test func `A withdrawn start of an interval moves with the clock`() throws {
        let manifest = try Hand.manifest("a") { $0.schedule = World.every(3600) }
        for step in [10 * Hand.day, -10 * Hand.day] {
            var hand = Hand(manifest)
            #expect(hand.perform { $0.withdraw("a", now: $1, &$2) })
            hand.setClock(hand.now.unix + step)
            hand.pass(2 * Hand.hour - Hand.second)
            #expect(hand.begun.isEmpty && hand.skipped.isEmpty)
            hand.pass(2 * Hand.second)
            #expect(hand.running == ["a"])
        }
    }

    @Test func `A withdrawn start does not come back, nor hides one that is due`() throws {
        let manifest = try Self.manifest(try Self.schedule())
        var hand = Hand(manifest)
        #expect(hand.perform { $0.withdraw("a", now: $1, &$2) })
        let next = Hand.noon + Hand.hour + Hand.day
        #expect(hand.scheduler.pending("a")?.scheduledTime == next)
        hand.restart(manifest)
        hand.pass(2 * Hand.hour)
        hand.restart(manifest)
        #expect(hand.begun.isEmpty && hand.skipped.isEmpty)
        #expect(hand.scheduler.pending("a")?.scheduledTime == next)
        // The daemon is down over the next one.
        hand.skip(Hand.day)
        hand.restart(manifest)
        #expect(hand.running == ["a"])
        #expect(hand.skipped.map(\.count) == [1])
    }
}
