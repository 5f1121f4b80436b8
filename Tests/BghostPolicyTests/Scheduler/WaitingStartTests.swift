// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostCalendar
import BghostFacts
import BghostModel
@testable import BghostPolicy
import BghostSimulation
import BghostTestSupport
import Testing

/// A start of a schedule that is due and waits: it keeps its request, its deadline and its count, whatever happens
/// to the clock and the daemon.
@Suite struct WaitingStartTests {
    private typealias Hand = SchedulerHand

    /// A task that needs the network, which a hand has only after `online()`.
    private static func manifest(_ schedule: TaskSchedule) throws -> Manifest {
        try Hand.manifest("a") {
            $0.schedule = schedule
            $0.requirements = .network
        }
    }

    private static func daily(
        misfire: MisfirePlan.Policy = .once,
        startDeadline: Duration? = nil
    ) throws -> TaskSchedule {
        TaskSchedule(
            times: .calendar(
                try CalendarExpression("0 13 * * *"),
                zone: .utc,
                gap: .shift,
                fold: .first
            ),
            misfire: misfire,
            startDeadline: startDeadline
        )
    }

    private func rows(_ kind: SkippedStart.Kind, _ hand: Hand) -> [SkippedStart] {
        hand.skipped.filter { $0.kind == kind }
    }

    private func expectReplay(_ hand: Hand, _ manifest: Manifest) throws {
        var replay = SchedulerReplay(Hand.settings(manifest))
        try hand.expectTheSame(of: &replay)
    }

    // MARK: A clock that was ahead

    /// A hand whose start of tomorrow has run, by a clock that was ahead; today's has come and waits.
    private func afterAClockAhead(_ manifest: Manifest) throws -> Hand {
        var hand = Hand(manifest)
        hand.perform { scheduler, now, effects in
            var facts = FactSheet()
            let changed = facts.simulate(.network, as: .holds, now: now)
            scheduler.factsChanged(facts, changed.union(.network), now: now, &effects)
        }
        hand.setClock(Hand.noon + 2 * Hand.day)
        #expect(hand.running == ["a"])
        try hand.end(after: 0)
        hand.perform { scheduler, now, effects in
            var facts = FactSheet()
            let changed = facts.simulate(.network, as: .fails, now: now)
            scheduler.factsChanged(facts, changed.union(.network), now: now, &effects)
        }
        hand.setClock(Hand.noon + Hand.second)
        hand.pass(Hand.hour + 3 * Hand.second)
        #expect(hand.running.isEmpty)
        #expect(hand.scheduler.pending("a")?.scheduledTime == Hand.noon + Hand.hour)
        return hand
    }

    @Test func `A due start is kept by clock events after a clock that was ahead`() throws {
        let manifest = try Self.manifest(try Self.daily())
        var hand = try afterAClockAhead(manifest)
        let due = hand.scheduler.pending("a")
        hand.setClock(hand.now.unix)
        #expect(hand.scheduler.pending("a") == due)
        hand.setClock(hand.now.unix + 3 * Hand.second)
        #expect(hand.scheduler.pending("a") == due)
        hand.online()
        #expect(hand.begun.map(\.record.request) == [due?.id])
        try hand.end(after: 0)
        // What ran in that tomorrow does not run again.
        let next = Hand.noon + Hand.hour + 2 * Hand.day
        #expect(hand.scheduler.pending("a")?.scheduledTime == next)
        try expectReplay(hand, manifest)
    }

    @Test func `A due start is kept by a restart after a clock that was ahead`() throws {
        let manifest = try Self.manifest(try Self.daily())
        var hand = try afterAClockAhead(manifest)
        let due = hand.scheduler.pending("a")
        hand.restart(manifest)
        #expect(hand.scheduler.pending("a") == due)
        hand.online()
        #expect(hand.begun.map(\.record.request) == [due?.id])
    }

    @Test func `A start that is missed after a clock that was ahead is made up for`() throws {
        let manifest = try Self.manifest(try Self.daily())
        var hand = try afterAClockAhead(manifest)
        hand.online()
        try hand.end(after: 0)
        // The next one was served in that tomorrow, and the daemon is down over the one after it.
        hand.skip(2 * Hand.day + Hand.hour)
        hand.restart(manifest)
        let pending = try #require(hand.scheduler.pending("a"))
        #expect(pending.scheduledTime == Hand.noon + Hand.hour + 2 * Hand.day)
        #expect(pending.missed?.count == 1)
        hand.online()
        #expect(hand.running == ["a"])
    }

    @Test func `An edit by a clock that was ahead does not hide a due start`() throws {
        let manifest = try Self.manifest(try Self.daily())
        var hand = Hand(try Hand.manifest("a"), at: Hand.noon + 5 * Hand.day)
        hand.reload(manifest)
        hand.setClock(Hand.noon)
        hand.pass(Hand.hour + Hand.second)
        let due = try #require(hand.scheduler.pending("a"))
        #expect(due.scheduledTime == Hand.noon + Hand.hour)
        hand.restart(manifest)
        #expect(hand.scheduler.pending("a") == due)
    }

    @Test func `A clock that was ahead before an edit does not hide a due start`() throws {
        let schedule = try Self.daily()
        var hand = Hand(try Self.manifest(schedule))
        hand.online()
        hand.setClock(Hand.noon + 2 * Hand.day)
        try hand.end(after: 0)
        // The schedule is gone while the clock is set back.
        hand.reload(try Hand.manifest("a") { $0.requirements = .idle })
        hand.setClock(Hand.noon)
        hand.reload(
            try Hand.manifest("a") {
                $0.schedule = schedule
                $0.requirements = .idle
            }
        )
        hand.pass(Hand.hour + Hand.second)
        let due = try #require(hand.scheduler.pending("a"))
        #expect(due.scheduledTime == Hand.noon + Hand.hour)
        hand.setClock(hand.now.unix)
        #expect(hand.scheduler.pending("a") == due)
    }

    // MARK: Restarts and clock events

    @Test func `Restarts do not move the deadline of a waiting start`() throws {
        let manifest = try Self.manifest(try Self.daily(startDeadline: .seconds(90)))
        var hand = Hand(manifest)
        hand.pass(Hand.hour)
        let due = try #require(hand.scheduler.pending("a"))
        #expect(due.latestBegin == Hand.noon + Hand.hour + 90 * Hand.second)
        hand.skip(75 * Hand.second)
        for _ in 1...3 {
            hand.restart(manifest)
            let pending = try #require(hand.scheduler.pending("a"))
            #expect(pending.id == due.id && pending.latestBegin == due.latestBegin)
            #expect(rows(.merged, hand).map(\.count) == [1])
            hand.skip(Hand.second)
        }
        hand.pass(20 * Hand.second)
        #expect(hand.ends == [due.id: .missed])
        #expect(hand.running.isEmpty)
    }

    @Test func `A start that is late at a restart has its deadline from its time on`() throws {
        let manifest = try Self.manifest(try Self.daily(startDeadline: .seconds(3600)))
        var hand = Hand(manifest)
        hand.skip(Hand.day + Hand.hour + 1800 * Hand.second)
        hand.restart(manifest)
        let pending = try #require(hand.scheduler.pending("a"))
        #expect(pending.scheduledTime == Hand.noon + Hand.day + Hand.hour)
        #expect(pending.latestBegin == Hand.noon + Hand.day + 2 * Hand.hour)
    }

    @Test(arguments: [MisfirePlan.Policy.once, .skip, .all(max: 3)])
    func `A clock event leaves a waiting start as it is`(misfire: MisfirePlan.Policy) throws {
        for schedule in [try Self.daily(misfire: misfire), World.every(3600, misfire: misfire)] {
            let manifest = try Self.manifest(schedule)
            var hand = Hand(manifest)
            hand.pass(Hand.hour + 600 * Hand.second)
            let due = try #require(hand.scheduler.pending("a"))
            for step: Int64 in [0, 3, 6, -30, 7200] {
                hand.setClock(hand.now.unix + step * Hand.second)
                #expect(hand.scheduler.pending("a")?.id == due.id, "\(step)")
            }
            #expect(hand.skipped.isEmpty && hand.ends.isEmpty)
            hand.online()
            #expect(hand.begun.map(\.record.request) == [due.id])
            try expectReplay(hand, manifest)
        }
    }

    @Test func `Each missed start has one row, however often bghost starts again`() throws {
        let manifest = try Self.manifest(World.every(600))
        var hand = Hand(manifest)
        hand.skip(2100 * Hand.second)
        for _ in 1...2 { hand.restart(manifest) }
        #expect(rows(.merged, hand).map(\.count) == [3])
        #expect(hand.scheduler.pending("a")?.missed?.count == 3)
        hand.skip(600 * Hand.second)
        for _ in 1...2 { hand.restart(manifest) }
        #expect(rows(.merged, hand).map(\.count) == [3, 1])
        #expect(rows(.merged, hand).last?.due == Hand.noon + 2400 * Hand.second)
        #expect(hand.scheduler.pending("a")?.missed?.count == 4)
        hand.online()
        #expect(hand.running == ["a"])
        try hand.end(after: 0)
        #expect(hand.running.isEmpty)
    }

    @Test func `Starts that are skipped are skipped once`() throws {
        let manifest = try Self.manifest(World.every(3600, misfire: .skip))
        var hand = Hand(manifest)
        hand.skip(3 * Hand.hour + Hand.hour / 2)
        for _ in 1...3 { hand.restart(manifest) }
        #expect(rows(.misfire, hand).map(\.count) == [3])
        #expect(hand.scheduler.pending("a")?.scheduledTime == Hand.noon + 4 * Hand.hour)
    }

    @Test func `A start whose time had come at an edit waits on after a restart`() throws {
        var hand = Hand(try Self.manifest(World.every(3600)))
        hand.pass(Hand.hour + Hand.second)
        let due = try #require(hand.scheduler.pending("a"))
        let edited = try Self.manifest(World.every(600))
        hand.reload(edited)
        hand.skip(120 * Hand.second)
        hand.restart(edited)
        #expect(hand.scheduler.pending("a")?.id == due.id)
        hand.setClock(hand.now.unix)
        #expect(hand.scheduler.pending("a")?.id == due.id)
    }

    @Test func `A time that was served is not served again after edits and a clock set back`()
        throws
    {
        let daily = try Hand.manifest("a") { $0.schedule = World.calendar("0 13 * * *") }
        var hand = Hand(daily)
        hand.pass(Hand.hour)
        #expect(hand.running == ["a"])
        try hand.end(after: Hand.second)
        hand.reload(try Hand.manifest("a") { $0.schedule = World.every(7200) })
        hand.setClock(hand.now.unix + Hand.second * 3)
        hand.reload(daily)
        hand.setClock(Hand.noon)
        let next = Hand.noon + Hand.hour + Hand.day
        #expect(hand.scheduler.pending("a")?.scheduledTime == next)
    }
}
