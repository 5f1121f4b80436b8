// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostCalendar
import BghostFacts
import BghostModel
@testable import BghostPolicy
import BghostSimulation
import Testing

/// What the history keeps of starts that did not happen, or happened late.
@Suite struct SkippedStartTests {
    private typealias Hand = SchedulerHand

    private func report(_ value: FactValue, _ hand: inout Hand, _ facts: inout FactSheet) {
        var sheet = facts
        hand.perform { scheduler, now, effects in
            let changed = sheet.simulate(.network, as: value, now: now)
            scheduler.factsChanged(sheet, changed.union(.network), now: now, &effects)
        }
        facts = sheet
    }

    private func expectReplay(_ hand: Hand, _ manifest: Manifest) throws {
        var replay = SchedulerReplay(Hand.settings(manifest))
        try hand.expectTheSame(of: &replay)
    }

    @Test func `A request that is skipped while its task runs has a row`() throws {
        let manifest = try Hand.manifest("a") { $0.overlap = .skip }
        var hand = Hand(manifest)
        try hand.submit(Submission(task: "a"))
        #expect(hand.running == ["a"] && hand.skipped.isEmpty)
        try hand.submit(Submission(task: "a"))
        let row = try #require(hand.skipped.first)
        #expect(row.kind == .overlap && row.task == "a" && row.request != nil)
        #expect(row.due == hand.now.unix && row.until == hand.now.unix && row.cause == "")
        #expect(row.sentence == "skipped, since its task was running (`overlap: skip`)")
        try expectReplay(hand, manifest)
    }

    @Test func `A late start tells what it waited for, and since when`() throws {
        let manifest = try Hand.manifest("a") { $0.requirements = .network }
        var hand = Hand(manifest)
        var facts = FactSheet()
        report(.holds, &hand, &facts)
        hand.skip(10 * Hand.second)
        report(.fails, &hand, &facts)
        let lost = hand.now.unix
        let due = lost + 120 * Hand.second
        try hand.submit(Submission(task: "a", earliestBegin: due))
        hand.pass(3600 * Hand.second)
        #expect(hand.running.isEmpty)
        report(.holds, &hand, &facts)
        #expect(hand.running == ["a"])
        let row = try #require(hand.skipped.first)
        #expect(hand.skipped.count == 1)
        #expect(row.kind == .delayed && row.cause == "network")
        #expect(row.due == due && row.causeSince == lost && row.until == hand.now.unix)
        #expect(row.sentence.hasPrefix("waited for network from 2026-"))
        try expectReplay(hand, manifest)
    }

    @Test func `A request whose latest date passed tells what it waited for`() throws {
        let manifest = try Hand.manifest("a") { $0.requirements = .network }
        var hand = Hand(manifest)
        var facts = FactSheet()
        report(.fails, &hand, &facts)
        let since = hand.now.unix
        hand.skip(Hand.second)
        try hand.submit(Submission(task: "a", latestBegin: since + 60 * Hand.second))
        hand.pass(120 * Hand.second)
        let row = try #require(hand.skipped.first)
        #expect(row.kind == .late && row.cause == "network" && row.causeSince == since)
    }

    @Test func `A start in time and a manual run have no row`() throws {
        var hand = Hand(try Hand.manifest("a", "b"))
        try hand.submit(Submission(task: "a", earliestBegin: hand.now.unix + Hand.hour))
        hand.pass(2 * Hand.hour)
        try hand.trigger("b")
        #expect(hand.running == ["a", "b"] && hand.skipped.isEmpty)
        try hand.submit(Submission(task: "b"))
        hand.withdrawAll(["b"])
        #expect(hand.skipped.isEmpty)
    }

    @Test func `Without another cause, it waited for a slot`() throws {
        var hand = Hand(try Hand.manifest("a", "b"), slots: 1)
        try hand.submit(Submission(task: "a"))
        try hand.submit(Submission(task: "b"))
        let due = hand.now.unix
        try hand.end(after: 600 * Hand.second)
        #expect(hand.running == ["b"])
        let row = try #require(hand.skipped.first)
        #expect(row.kind == .delayed && row.due == due && row.cause.hasPrefix("a slot"))
    }

    @Test(arguments: [MisfirePlan.Policy.once, .skip])
    func `Starts that a schedule missed have one row`(misfire: MisfirePlan.Policy) throws {
        let schedule = TaskSchedule(
            times: .calendar(
                try CalendarExpression("0 * * * *"),
                zone: .utc,
                gap: .shift,
                fold: .first
            ),
            misfire: misfire
        )
        let manifest = try Hand.manifest("a") { $0.schedule = schedule }
        var hand = Hand(manifest)
        hand.skip(3 * Hand.hour + 1800 * Hand.second)
        hand.restart(manifest)
        let row = try #require(hand.skipped.first)
        #expect(hand.skipped.count == 1)
        #expect(row.kind == (misfire == .skip ? .misfire : .merged))
        #expect(row.count == 3 && row.due == Hand.noon + Hand.hour)
        #expect(row.request == nil && row.until == hand.now.unix)
        #expect(row.sentence.contains("missed 3 starts since 2026-"))
    }
}
