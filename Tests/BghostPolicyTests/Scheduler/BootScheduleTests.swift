// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostCalendar
import BghostModel
@testable import BghostPolicy
import BghostTestSupport
import Testing

/// `onBoot`: one start in each boot of the machine.
@Suite struct BootScheduleTests {
    private typealias Hand = SchedulerHand

    /// Ten minutes after a boot, whose clock of limits shows 1000 seconds when a hand begins.
    private static let late: Duration = .seconds(1600)

    private static func manifest(
        after delay: Duration = .zero,
        randomDelay: Duration = .zero
    ) throws -> Manifest {
        try Hand.manifest("a") {
            $0.schedule = TaskSchedule(times: .boot(after: delay), randomDelay: randomDelay)
        }
    }

    private func expectNothing(_ hand: Hand) {
        #expect(hand.begun.isEmpty && hand.pending.isEmpty && hand.skipped.isEmpty)
        #expect(hand.notes.allSatisfy { $0.code != "task.unscheduled" })
    }

    @Test func `It starts once in a boot, whatever restarts`() throws {
        let manifest = try Self.manifest()
        var hand = Hand(manifest)
        #expect(hand.running == ["a"])
        try hand.end(after: Hand.second)
        for _ in 1...3 {
            hand.restart(manifest)
            hand.pass(Hand.day)
            expectNothing(hand)
        }
        for boot in ["second", "third"] {
            hand.reboot(manifest, as: boot, at: hand.now.unix + Hand.hour)
            #expect(hand.running == ["a"])
            try hand.end(after: Hand.second)
            hand.restart(manifest, boot: boot)
            expectNothing(hand)
        }
    }

    @Test func `A delay counts from the boot`() throws {
        let manifest = try Self.manifest(after: Self.late)
        var hand = Hand(manifest)
        hand.pass(300 * Hand.second)
        hand.restart(manifest)
        let outlook = try #require(hand.scheduler.outlook(of: "a", now: hand.now))
        #expect(outlook.text == "1600s after each boot")
        #expect(outlook.next == Hand.noon + 600 * Hand.second)
        hand.pass(300 * Hand.second - 1)
        #expect(hand.begun.isEmpty)
        hand.pass(1)
        #expect(hand.running == ["a"])
        try hand.end(after: Hand.second)
        hand.restart(manifest)
        expectNothing(hand)
        #expect(hand.scheduler.outlook(of: "a", now: hand.now)?.next == nil)
    }

    @Test func `A start that is withdrawn before its delay is over does not come back`() throws {
        let manifest = try Self.manifest(after: Self.late)
        var hand = Hand(manifest)
        let withdrawn = hand.perform { $0.withdraw("a", now: $1, &$2) }
        #expect(withdrawn)
        expectNothing(hand)
        #expect(hand.scheduler.outlook(of: "a", now: hand.now)?.next == nil)
        hand.restart(manifest)
        hand.pass(Hand.day)
        expectNothing(hand)
    }

    @Test func `A daemon that starts long after the boot serves it at once, and misses nothing`()
        throws
    {
        let manifest = try Self.manifest(after: .seconds(60))
        var hand = Hand(manifest)
        #expect(hand.running == ["a"])
        #expect(hand.skipped.isEmpty && hand.notes.allSatisfy { $0.code != "task.missed" })
        try hand.end(after: Hand.second)
        hand.reboot(manifest, as: "second", at: hand.now.unix + Hand.day)
        #expect(hand.begun.isEmpty && hand.pending.count == 1)
        // The machine boots again before the delay is over: that start belongs to the new boot.
        hand.reboot(manifest, as: "third", at: hand.now.unix + 10 * Hand.second)
        #expect(hand.begun.isEmpty && hand.pending.count == 1)
        hand.pass(50 * Hand.second)
        #expect(hand.running == ["a"])
        try hand.end(after: Hand.second)
        #expect(hand.pending.isEmpty)
    }

    @Test func `Another manifest does not start it again in the same boot`() throws {
        let manifest = try Self.manifest()
        var hand = Hand(try Hand.manifest("a"))
        #expect(hand.begun.isEmpty)
        // A task that gets the schedule during a boot starts in it.
        hand.reload(manifest)
        #expect(hand.running == ["a"])
        try hand.end(after: Hand.second)
        hand.reload(try Self.manifest(after: .seconds(5000)))
        hand.reload(try Hand.manifest("a"))
        hand.reload(manifest)
        hand.reload(try Hand.manifest("b"))
        hand.reload(manifest)
        expectNothing(hand)
        hand.restart(try Hand.manifest("b"))
        hand.restart(manifest)
        hand.pass(Hand.day)
        expectNothing(hand)
        hand.reboot(manifest, as: "second", at: hand.now.unix)
        #expect(hand.running == ["a"])
    }

    @Test func `Steps of the clock neither delay nor repeat it`() throws {
        let manifest = try Self.manifest(after: Self.late)
        for step in [400 * Hand.day, -400 * Hand.day] {
            var hand = Hand(manifest)
            hand.setClock(hand.now.unix + step)
            hand.pass(599 * Hand.second)
            #expect(hand.begun.isEmpty)
            hand.pass(2 * Hand.second)
            #expect(hand.running == ["a"])
            try hand.end(after: Hand.second)
            hand.setClock(hand.now.unix - step)
            hand.pass(Hand.day)
            expectNothing(hand)
            hand.jump(to: hand.now.unix - Hand.day)
            hand.restart(manifest)
            hand.pass(Hand.day)
            expectNothing(hand)
            // A machine without a clock of its own starts each boot with an old date.
            hand.reboot(manifest, as: "second", at: Hand.noon - 1000 * Hand.day)
            hand.pass(1590 * Hand.second)
            #expect(hand.running == ["a"])
        }
    }

    @Test func `A random delay comes on top, and a restart keeps it`() throws {
        let manifest = try Self.manifest(after: Self.late, randomDelay: .seconds(600))
        var hand = Hand(manifest)
        let date = try #require(hand.scheduler.pending("a")?.earliestBegin)
        #expect(date > Hand.noon + 600 * Hand.second && date <= Hand.noon + 1200 * Hand.second)
        hand.restart(manifest)
        #expect(hand.scheduler.pending("a")?.earliestBegin == date)
        hand.pass(date - hand.now.unix - 1)
        hand.restart(manifest)
        #expect(hand.begun.isEmpty)
        hand.pass(1)
        #expect(hand.running == ["a"])
    }
}
