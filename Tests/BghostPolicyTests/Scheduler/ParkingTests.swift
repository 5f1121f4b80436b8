// SPDX-License-Identifier: Apache-2.0

import BghostTestSupport
import BghostBase
import BghostCalendar
import BghostModel
import BghostPolicy
import Testing

/// Requests whose task the manifest does not permit any more.
@Suite struct ParkingTests {
    private let both: Manifest
    private let one: Manifest
    private var hand: SchedulerHand
    private let request: Request

    init() throws {
        both = try SchedulerHand.manifest("a", "b")
        one = try SchedulerHand.manifest("a")
        hand = SchedulerHand(both)
        request = try hand.submit(
            Submission(task: "b", earliestBegin: SchedulerHand.noon + 2 * SchedulerHand.day)
        )
        hand.restart(one)
    }

    @Test func `A request without a task is listed and does not start`() throws {
        var hand = hand
        #expect(hand.scheduler.requests(of: nil) == [request])
        let gate = try #require(hand.gate(.manifestRemoved, of: "b"))
        #expect(!gate.isOpen && gate.since == SchedulerHand.noon)
        #expect(gate.now.contains("2026-11-28T12:00:00"))
        hand.pass(3 * SchedulerHand.day)
        #expect(hand.running.isEmpty)
        #expect(hand.pending[request.id] == request)
    }

    @Test func `A parked request continues when its task returns`() {
        var hand = hand
        hand.pass(3 * SchedulerHand.day)
        hand.restart(both)
        #expect(hand.running == ["b"])
        #expect(hand.memories["b"]?.parkedSince == nil)
    }

    @Test func `A parked request expires after a week, despite restarts`() {
        var hand = hand
        for _ in 0..<6 {
            hand.pass(SchedulerHand.day)
            hand.restart(one)
        }
        hand.pass(SchedulerHand.day - 1)
        #expect(hand.ends.isEmpty)
        #expect(hand.scheduler.waits(request.id, of: request.task))
        hand.pass(1)
        #expect(hand.ends == [request.id: .notPermitted])
        #expect(hand.pending.isEmpty && !hand.scheduler.waits(request.id, of: request.task))
    }

    @Test func `A parked request expires at start if its week has passed`() {
        var hand = hand
        hand.skip(8 * SchedulerHand.day)
        hand.restart(one)
        hand.pass(0)
        #expect(hand.ends == [request.id: .notPermitted])
    }

    @Test func `The week starts again if the task was permitted in between`() {
        var hand = hand
        hand.pass(SchedulerHand.day)
        hand.restart(both)
        hand.restart(one)
        hand.pass(7 * SchedulerHand.day - 1)
        #expect(hand.ends.isEmpty)
        hand.pass(1)
        #expect(hand.ends == [request.id: .notPermitted])
    }

    @Test func `A parked request can be withdrawn, and a new one has a whole week`() throws {
        var hand = hand
        let withdrawn = hand.perform { scheduler, now, effects in
            let answer = scheduler.withdrawAll(of: ["b"], now: now, &effects)
            effects.append(.commit(answer.changes))
            return answer.requests
        }
        #expect(withdrawn == [request])
        #expect(hand.ends == [request.id: .cancelled])
        #expect(hand.pending.isEmpty && hand.memories["b"]?.parkedSince == nil)
        #expect(hand.scheduler.nextDate == nil)
    }

    @Test func `A parked request past its latest begin date is missed`() throws {
        var hand = SchedulerHand(both)
        let request = try hand.submit(
            Submission(
                task: "b",
                earliestBegin: SchedulerHand.noon + SchedulerHand.hour,
                latestBegin: SchedulerHand.noon + 2 * SchedulerHand.hour
            )
        )
        hand.restart(one)
        hand.pass(2 * SchedulerHand.hour)
        #expect(hand.ends.isEmpty)
        hand.pass(1)
        #expect(hand.ends == [request.id: .missed])
    }

    @Test func `Setting the clock back does not extend the week`() {
        var hand = hand
        hand.setClock(SchedulerHand.noon - 30 * SchedulerHand.day)
        hand.pass(7 * SchedulerHand.day)
        #expect(hand.ends == [request.id: .notPermitted])
    }

    @Test func `A schedule that returns makes up for no missed start`() throws {
        let scheduled = try SchedulerHand.manifest("a") {
            $0.schedule = TaskSchedule(times: .every(.seconds(3600)))
        }
        let empty = try SchedulerHand.manifest()
        var hand = SchedulerHand(scheduled)
        hand.pass(SchedulerHand.hour)
        #expect(hand.running == ["a"])
        try hand.end(after: 0)
        hand.restart(empty)
        hand.pass(5 * SchedulerHand.hour)
        hand.restart(scheduled)
        #expect(hand.running.isEmpty)
        #expect(hand.memories["a"]?.scheduledSince == hand.now.unix)
        hand.pass(SchedulerHand.hour)
        #expect(hand.running == ["a"])
    }
}
