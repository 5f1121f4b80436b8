// SPDX-License-Identifier: Apache-2.0

import BghostTestSupport
import BghostAPI
import BghostBase
import BghostCalendar
@testable import BghostModel
import BghostPolicy
import Testing

/// Requests that begin in time for a usual use.
struct LearnedUseTests {
    private typealias Hand = SchedulerHand

    private func manifest(learns: Bool = true) throws -> Manifest {
        try Hand.manifest("a", "b") {
            $0.learnsUse = learns && $0.identifier.description == "a"
            $0.tolerance = .seconds(6 * 3600)
        }
    }

    /// At noon of a day, after five on which it was used from 16:00 on.
    private func learned() throws -> SchedulerHand {
        var hand = SchedulerHand(try manifest())
        for _ in 0..<5 {
            hand.skip(4 * Hand.hour)
            hand.use("a")
            hand.skip(20 * Hand.hour)
        }
        return hand
    }

    @Test func `A request waits for half an hour before the usual use, and says so`() throws {
        var hand = try learned()
        let noon = hand.now.unix
        try hand.submit(Submission(task: "a"))
        try hand.submit(Submission(task: "b"))
        #expect(hand.closed("a") == [.usualUse])
        #expect(hand.closed("b") == [.coalescing])
        let gate = try #require(hand.gate(.usualUse, of: "a"))
        #expect(gate.until == noon + 3 * Hand.hour + Hand.hour / 2)
        #expect(gate.now == "on at least half of 5 days it was used from 16:00 UTC on")
        #expect(gate.remedy.contains("bghost uses clear a"))
        hand.pass(3 * Hand.hour + Hand.hour / 2 - 1)
        #expect(!hand.running.contains("a"))
        hand.pass(1)
        #expect(hand.running.contains("a"))
    }

    @Test func `The chosen time survives a restart and a reload`() throws {
        var hand = try learned()
        try hand.submit(Submission(task: "a"))
        let due = try #require(hand.gate(.usualUse, of: "a")?.until)
        hand.restart(try manifest(learns: false))
        #expect(hand.gate(.usualUse, of: "a")?.until == due)
        hand.pass(due - hand.now.unix)
        #expect(hand.running == ["a"])
    }

    @Test func `A replacing request with the same dates keeps the chosen time`() throws {
        var hand = try learned()
        try hand.submit(Submission(task: "a"))
        let due = try #require(hand.gate(.usualUse, of: "a")?.until)
        hand.pass(Hand.hour)
        try hand.submit(Submission(task: "a", onConflict: .update))
        #expect(hand.gate(.usualUse, of: "a")?.until == due)
    }

    @Test func `A scheduled start within its tolerance waits for the usual use too`() throws {
        let manifest = try Hand.manifest("a") {
            $0.learnsUse = true
            $0.tolerance = .seconds(6 * 3600)
            $0.schedule = TaskSchedule(times: .every(.seconds(86_400)))
        }
        var hand = try learned()
        hand.restart(manifest)
        let next = try #require(hand.gate(.notBefore, of: "a")?.until)
        #expect(hand.gate(.usualUse, of: "a")?.until == next + 3 * Hand.hour + Hand.hour / 2)
    }

    @Test func `A retry keeps its own date, and a manual run has none`() throws {
        var hand = try learned()
        try hand.trigger("a")
        #expect(hand.running == ["a"])
        try hand.end(after: Hand.second)
        let manifest = try Hand.manifest("a") {
            $0.learnsUse = true
            $0.tolerance = .seconds(6 * 3600)
            $0.retry = RetryPolicy(
                backoff: .exponential(base: .seconds(1), cap: .seconds(1)),
                attemptsMax: 3,
                lossesMax: 2
            )
        }
        hand.restart(manifest)
        try hand.submit(Submission(task: "a"))
        hand.pass(4 * Hand.hour)
        try hand.end(after: Hand.second, .failed)
        // The next usual use is a day away.
        #expect(hand.gate(.usualUse, of: "a") == nil)
    }

    @Test func `A task without learnsUse records no use, and forgetting removes all uses`() throws {
        var hand = try learned()
        let news = [hand.use("b"), hand.use("unknown")]
        #expect(news == [false, false])
        #expect(hand.scheduler.learners() == ["a"])
        #expect(hand.scheduler.learners(ofPlugin: "plugin") == ["a"])
        #expect(hand.scheduler.learners(ofPlugin: "another") == [])
        #expect(hand.scheduler.habit(of: "a", now: hand.now).days == 5)
        let forgotten = [hand.forgetUses("a"), hand.forgetUses("a")]
        #expect(forgotten == [true, false])
        #expect(hand.memories["a"] == nil)
        try hand.submit(Submission(task: "a"))
        #expect(hand.closed("a") == [.coalescing])
    }

    @Test func `A latest begin date ends the window`() throws {
        var hand = try learned()
        try hand.submit(Submission(task: "a", latestBegin: hand.now.unix + 2 * Hand.hour))
        #expect(hand.closed("a") == [.coalescing])
    }
}
