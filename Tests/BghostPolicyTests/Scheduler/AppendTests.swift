// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostCalendar
import BghostFacts
import BghostModel
@testable import BghostPolicy
import BghostSimulation
import BghostTestSupport
import Testing

/// `onConflict: append`: a request waits for the end of those of its task that were before it.
@Suite struct AppendTests {
    private typealias Hand = SchedulerHand

    private static let retry = RetryPolicy(
        backoff: .exponential(base: .seconds(30), cap: .seconds(60)),
        attemptsMax: 2
    )

    private func append(
        _ number: Int,
        to task: String = "a",
        _ hand: inout Hand,
        earliest: Int64? = nil,
        latest: Int64? = nil,
        by submitter: Submitter = .operator
    ) throws -> Request {
        try hand.submit(
            Submission(
                task: task,
                parameters: "{\"n\":\(number)}",
                earliestBegin: earliest,
                latestBegin: latest,
                onConflict: .append
            ),
            by: submitter
        )
    }

    private func parameters(_ hand: Hand) -> [String] { hand.begun.map(\.parameters) }

    private func expectReplay(_ hand: Hand, _ manifest: Manifest) throws {
        var replay = SchedulerReplay(Hand.settings(manifest))
        try hand.expectTheSame(of: &replay)
    }

    // MARK: Order

    @Test(arguments: [Overlap.queue, .skip, .replace, .allow])
    func `They begin one after the other, in order`(overlap: Overlap) throws {
        let manifest = try Hand.manifest("a", "b") { $0.overlap = overlap }
        var hand = Hand(manifest)
        for number in 1...4 { _ = try append(number, &hand) }
        // Without another one before it, it is like any other.
        #expect(hand.begun.first?.record.attempt == 1)
        for number in 1...4 {
            #expect(parameters(hand) == ["{\"n\":\(number)}"])
            #expect(hand.scheduler.requests(of: "a").count == 4 - number)
            #expect(hand.stopped.isEmpty)
            try hand.end(after: Hand.second)
        }
        #expect(hand.begun.isEmpty && hand.pending.isEmpty && hand.ends.isEmpty)
        try expectReplay(hand, manifest)
    }

    @Test func `They wait for a pending request with a date`() throws {
        let manifest = try Hand.manifest("a")
        var hand = Hand(manifest)
        try hand.submit(Submission(task: "a", earliestBegin: hand.now.unix + Hand.hour))
        _ = try append(1, &hand)
        hand.pass(Hand.hour - 1)
        #expect(hand.begun.isEmpty)
        hand.pass(1)
        #expect(parameters(hand) == ["{}"])
        try hand.end(after: Hand.second)
        #expect(parameters(hand) == ["{\"n\":1}"])
        try expectReplay(hand, manifest)
    }

    @Test func `A date of their own holds those behind them`() throws {
        let manifest = try Hand.manifest("a")
        var hand = Hand(manifest)
        try hand.submit(Submission(task: "a"))
        _ = try append(1, &hand, earliest: hand.now.unix + Hand.hour)
        _ = try append(2, &hand)
        try hand.end(after: Hand.second)
        #expect(hand.begun.isEmpty)
        hand.pass(Hand.hour)
        #expect(parameters(hand) == ["{\"n\":1}"])
        try hand.end(after: Hand.second)
        #expect(parameters(hand) == ["{\"n\":2}"])
        try expectReplay(hand, manifest)
    }

    @Test func `A schedule goes on beside them, and holds them only when it is due`() throws {
        let manifest = try Hand.manifest("a") {
            $0.schedule = TaskSchedule(times: .every(.seconds(3600)))
        }
        var hand = Hand(manifest)
        let scheduled = try #require(hand.scheduler.pending("a"))
        _ = try append(1, &hand)
        #expect(parameters(hand) == ["{\"n\":1}"])
        #expect(hand.scheduler.pending("a") == scheduled)
        _ = try append(2, &hand)
        // The time of the schedule comes while the first runs; its request was there before the second.
        try hand.end(after: Hand.hour + Hand.second)
        #expect(hand.begun.map(\.record.request) == [scheduled.id])
        _ = try append(3, &hand)
        for number in 2...3 {
            try hand.end(after: Hand.second)
            #expect(parameters(hand) == ["{\"n\":\(number)}"])
        }
        #expect(hand.scheduler.pending("a")?.scheduledTime == Hand.noon + 2 * Hand.hour)
        try expectReplay(hand, manifest)
    }

    @Test func `They wait for retries, and begin after a dead letter`() throws {
        let manifest = try Hand.manifest("a") { $0.retry = Self.retry }
        var hand = Hand(manifest)
        try hand.submit(Submission(task: "a"))
        _ = try append(1, &hand)
        try hand.end(after: Hand.second, .failed)
        #expect(hand.begun.isEmpty)
        hand.pass(120 * Hand.second)
        #expect(hand.begun.map(\.record.attempt) == [2])
        try hand.end(after: Hand.second, .failed)
        #expect(hand.notes.contains { $0.code == "request.dead" })
        #expect(parameters(hand) == ["{\"n\":1}"])
        // Its own retry does not wait for those behind it, nor they for less than its end.
        _ = try append(2, &hand)
        try hand.end(after: Hand.second, .failed)
        hand.pass(120 * Hand.second)
        #expect(parameters(hand) == ["{\"n\":1}"])
        try hand.end(after: Hand.second)
        #expect(parameters(hand) == ["{\"n\":2}"])
        try expectReplay(hand, manifest)
    }

    @Test func `They keep their order over restarts`() throws {
        let manifest = try Hand.manifest("a")
        var hand = Hand(manifest)
        try hand.submit(Submission(task: "a", earliestBegin: hand.now.unix + Hand.hour))
        for number in 1...3 { _ = try append(number, &hand) }
        hand.restart(manifest)
        #expect(hand.begun.isEmpty && hand.ends.isEmpty)
        #expect(hand.scheduler.requests(of: "a").map(\.isAppended) == [false, true, true, true])
        hand.pass(Hand.hour)
        for expected in ["{}", "{\"n\":1}", "{\"n\":2}", "{\"n\":3}"] {
            #expect(parameters(hand) == [expected])
            try hand.end(after: Hand.second)
        }
    }

    // MARK: Other submissions

    @Test func `A newer request replaces the pending one and not them`() throws {
        let manifest = try Hand.manifest("a")
        var hand = Hand(manifest)
        let first = try hand.submit(
            Submission(task: "a", earliestBegin: hand.now.unix + Hand.hour)
        )
        _ = try append(1, &hand)
        let second = try hand.submit(
            Submission(task: "a", earliestBegin: hand.now.unix + 2 * Hand.hour)
        )
        // A replaced request has ended.
        #expect(parameters(hand) == ["{\"n\":1}"])
        #expect(Set(hand.pending.keys) == [second.id] && first.id != second.id)
        // A handler that submits its next run first of all does not hold them for ever.
        _ = try append(2, &hand)
        try hand.submit(
            Submission(task: "a", earliestBegin: hand.now.unix + 900 * Hand.second),
            by: .run(hand.begun[0].record.id)
        )
        try hand.end(after: Hand.second)
        #expect(parameters(hand) == ["{\"n\":2}"])
        try expectReplay(hand, manifest)
    }

    @Test func `Another one is not submitted if it is absent`() throws {
        var hand = Hand(try Hand.manifest("a"))
        try hand.submit(Submission(task: "a"))
        #expect(hand.running == ["a"])
        func submit(_ conflict: Submission.Conflict) throws -> AcceptedSubmission? {
            try hand.perform { scheduler, now, _ in
                try scheduler.accept(Submission(task: "a", onConflict: conflict), now: now)
            }
        }
        // Also while it is being stored.
        let appended = try #require(try submit(.append))
        #expect(try submit(.keep) == nil)
        hand.perform { $0.finishSubmission(appended, isStored: true, now: $1, &$2) }
        #expect(try submit(.keep) == nil)
        #expect(hand.scheduler.requests(of: "a").map(\.id) == [appended.request.id])
    }

    @Test func `A withdrawal takes them all, by task and by handler`() throws {
        let manifest = try Hand.manifest("a") { $0.requirements = .network }
        for isByHandler in [false, true] {
            var hand = Hand(manifest)
            var ids = [try hand.submit(Submission(task: "a")).id]
            for number in 1...3 { ids.append(try append(number, &hand).id) }
            if isByHandler {
                let withdrawn = hand.perform { $0.withdraw("a", now: $1, &$2) }
                #expect(withdrawn)
            } else {
                hand.withdrawAll(["a"])
            }
            #expect(Set(hand.ends.keys) == Set(ids))
            #expect(hand.ends.values.allSatisfy { $0 == .cancelled })
            #expect(hand.scheduler.requests(of: "a").isEmpty && hand.pending.isEmpty)
            #expect(hand.scheduler.waitingRequests == 0)
            try expectReplay(hand, manifest)
        }
    }

    @Test func `What follows a run can be appended`() throws {
        var manifest = try Hand.manifest("first", "second")
        manifest.tasks[0].then = [TaskFollower(task: "second", onConflict: .append)]
        var hand = Hand(manifest)
        try hand.submit(Submission(task: "second", earliestBegin: hand.now.unix + Hand.hour))
        for _ in 1...2 {
            try hand.submit(Submission(task: "first"))
            try hand.end(after: Hand.second)
        }
        let waiting = hand.scheduler.requests(of: "second")
        #expect(waiting.map(\.isAppended) == [false, true, true])
        #expect(hand.ends.isEmpty && hand.begun.isEmpty)
        hand.pass(Hand.hour)
        for request in waiting {
            #expect(hand.begun.map(\.record.request) == [request.id])
            try hand.end(after: Hand.second)
        }
    }

    // MARK: Limits

    @Test func `maxPending counts those of plugins, and none that an operator appends`() throws {
        var manifest = try Hand.manifest("a")
        manifest.plugins[0].maxPending = PendingLimits(refresh: 3, processing: 3)
        var hand = Hand(manifest)
        let plugin = Submitter.plugin("plugin")
        for number in 1...4 { _ = try append(number, &hand, by: plugin) }
        #expect(hand.running == ["a"])
        #expect(throws: SubmitError.self) { _ = try append(5, &hand, by: plugin) }
        _ = try append(6, &hand)
        try hand.end(after: Hand.second)
        _ = try append(7, &hand, by: plugin)
        #expect(throws: SubmitError.self) { _ = try append(8, &hand, by: plugin) }
        let bytes = hand.scheduler.heldBytes(plugin: 0)
        #expect(bytes > 0)
        hand.reload(manifest, replacing: ["plugin"])
        #expect(throws: SubmitError.self) { _ = try append(9, &hand, by: plugin) }
        hand.withdrawAll(["a"])
        let task = try #require(hand.scheduler.catalog.currentTasks.first)
        let successor = hand.scheduler.catalog.pluginOfTask[task]
        #expect(hand.scheduler.heldBytes(plugin: successor) < bytes)
        for number in 1...3 { _ = try append(number, &hand, by: plugin) }
    }

    @Test func `A task has at most 1000 of them`() throws {
        var hand = Hand(try Hand.manifest("a", "b"))
        for number in 0...1000 { _ = try append(number, &hand) }
        do throws(SubmitError) {
            _ = try hand.perform { scheduler, now, _ throws(SubmitError) in
                try scheduler.accept(Submission(task: "a", onConflict: .append), now: now)
            }
            Issue.record("it was accepted")
        } catch {
            #expect(error.code == .tooManyPendingTaskRequests)
            #expect(error.message.contains("`bghost cancel a`"), "\(error.message)")
        }
        _ = try append(1, to: "b", &hand)
        try hand.end(after: Hand.second)
        _ = try append(1001, &hand)
    }

    @Test func `What follows a run is not submitted beyond that`() throws {
        var manifest = try Hand.manifest("first", "second")
        manifest.tasks[0].then = [TaskFollower(task: "second", onConflict: .append)]
        var hand = Hand(manifest)
        let later = hand.now.unix + Hand.hour
        try hand.submit(Submission(task: "second", earliestBegin: later))
        for number in 1...1000 { _ = try append(number, to: "second", &hand) }
        try hand.submit(Submission(task: "first"))
        try hand.end(after: Hand.second)
        #expect(hand.scheduler.requests(of: "second").count == 1001)
        #expect(hand.notes.contains { $0.code == "request.not_followed" })
    }

    @Test func `One that cannot begin in time is missed, and the next one begins`() throws {
        let manifest = try Hand.manifest("a")
        var hand = Hand(manifest)
        try hand.submit(Submission(task: "a"))
        let late = try append(1, &hand, latest: hand.now.unix + 60 * Hand.second)
        _ = try append(2, &hand)
        hand.pass(60 * Hand.second)
        #expect(hand.ends.isEmpty)
        hand.pass(1)
        #expect(hand.ends == [late.id: .missed])
        #expect(parameters(hand) == ["{}"])
        try hand.end(after: Hand.second)
        #expect(parameters(hand) == ["{\"n\":2}"])
        try expectReplay(hand, manifest)
    }

    // MARK: Explanations

    @Test func `The gates name what it waits for`() throws {
        let manifest = try Hand.manifest("a")
        var hand = Hand(manifest)
        try hand.submit(Submission(task: "a"))
        let first = try append(1, &hand)
        let second = try append(2, &hand)
        func gate(_ request: Request) throws -> Gate {
            let gates = hand.scheduler.gates(of: request, now: hand.now)
            return try #require(gates.first { $0.kind == .predecessor })
        }
        let run = hand.begun[0].record.id
        #expect(try gate(first).now == "in progress: \(run)")
        #expect(try gate(first).remedy == "`bghost stop \(run)` asks that run to stop")
        #expect(try gate(second).now == "in progress: \(run); 1 request goes first: \(first.id)")
        #expect(try gate(second).ids == [run, first.id])
        #expect(hand.scheduler.pendingOrAppended("a")?.id == first.id)
        #expect(hand.scheduler.pending("a") == nil)
        #expect(hand.scheduler.waits(second.id, of: "a"))
        #expect(hand.scheduler.waitingCount(.init()) == 2)
    }
}
