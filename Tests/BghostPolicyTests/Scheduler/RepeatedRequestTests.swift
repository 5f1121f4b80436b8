// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostCalendar
@testable import BghostModel
@testable import BghostPolicy
import Testing

/// Requests that have begun, and wait for another run.
@Suite struct RepeatedRequestTests {
    private typealias Hand = SchedulerHand

    private static func manifest(
        _ names: String...,
        adjust: (inout TaskDefinition) -> Void = { _ in }
    ) throws -> Manifest {
        try Hand.manifest("a") {
            $0.retry = RetryPolicy(
                backoff: .exponential(base: .seconds(1), cap: .seconds(1)),
                attemptsMax: 5,
                lossesMax: 3
            )
            adjust(&$0)
        }
    }

    // MARK: Dates

    /// The daemon died or a requirement was lost, and the latest begin date has passed meanwhile.
    @Test func `A run that was interrupted after its latest begin date is repeated`() throws {
        var hand = Hand(try Self.manifest())
        let request = try hand.submit(
            Submission(task: "a", latestBegin: Hand.noon + 4 * Hand.second)
        )
        #expect(hand.running == ["a"])
        try hand.end(after: 10 * Hand.second, .lost)
        #expect(hand.running == ["a"] && hand.ends.isEmpty)
        #expect(hand.begun.first?.record.request == request.id)
        try hand.end(after: Hand.second)
        #expect(hand.pending.isEmpty && hand.ends.isEmpty)
    }

    @Test func `A start that began within its deadline is repeated after it`() throws {
        let manifest = try Self.manifest {
            $0.schedule = TaskSchedule(times: .every(.seconds(3600)), startDeadline: .seconds(4))
        }
        var hand = Hand(manifest)
        hand.pass(Hand.hour)
        #expect(hand.running == ["a"])
        try hand.end(after: 10 * Hand.second, .lost)
        #expect(hand.running == ["a"] && hand.ends.isEmpty && hand.skipped.isEmpty)
    }

    @Test func `A failed run is retried after its latest begin date`() throws {
        var hand = Hand(try Self.manifest())
        let request = try hand.submit(
            Submission(task: "a", latestBegin: Hand.noon + 4 * Hand.second)
        )
        for attempt in 1...4 {
            try hand.end(after: 10 * Hand.second, .failed)
            hand.pass(Hand.second)
            #expect(hand.running == ["a"])
            #expect(hand.begun.first?.record.attempt == attempt + 1)
        }
        try hand.end(after: 0, .failed)
        #expect(hand.running.isEmpty && hand.ends.isEmpty)
        #expect(hand.notes.contains { $0.code == "request.dead" })
        #expect(hand.pending[request.id] == nil)
    }

    @Test func `A request that met a shortage can still miss its latest begin date`() throws {
        var hand = Hand(try Self.manifest())
        let request = try hand.submit(
            Submission(task: "a", latestBegin: Hand.noon + 4 * Hand.second)
        )
        try hand.lackMeans("no processes")
        hand.pass(3 * Hand.second)
        #expect(hand.ends.isEmpty)
        hand.pass(2 * Hand.second)
        #expect(hand.ends[request.id] == .missed)
    }

    @Test func `A tolerance does not delay retries`() throws {
        var hand = Hand(try Self.manifest { $0.tolerance = .seconds(5 * 3600) })
        try hand.submit(Submission(task: "a"))
        hand.pass(5 * Hand.hour)
        #expect(hand.running == ["a"])
        try hand.end(after: Hand.second, .failed)
        #expect(hand.running.isEmpty && hand.gate(.coalescing, of: "a") == nil)
        hand.pass(Hand.second)
        #expect(hand.running == ["a"])
    }

    // MARK: Overlap

    @Test(arguments: [Overlap.replace, .skip])
    func `A retry waits for the run of a newer request`(overlap: Overlap) throws {
        var hand = Hand(try Self.manifest { $0.overlap = overlap })
        let older = try hand.submit(Submission(task: "a"))
        try hand.end(after: Hand.second, .failed)
        let newer = try hand.submit(Submission(task: "a"))
        #expect(hand.begun.map(\.record.request) == [newer.id])
        hand.pass(Hand.hour)
        #expect(hand.stopped.isEmpty && hand.ends.isEmpty)
        #expect(hand.closed("a").contains(.overlap))
        try hand.end(after: Hand.second)
        #expect(hand.begun.map(\.record.request) == [older.id])
        #expect(hand.begun.first?.record.attempt == 2)
    }

    /// The retry, which would go first, must not hold up the decision about the new request.
    @Test func `A new request is skipped while a retry waits for the run in progress`() throws {
        var hand = Hand(try Self.manifest { $0.overlap = .skip })
        try hand.submit(Submission(task: "a"))
        try hand.end(after: Hand.second, .failed)
        try hand.submit(Submission(task: "a"))
        hand.pass(Hand.hour)
        let third = try hand.submit(Submission(task: "a"))
        #expect(hand.ends == [third.id: .skipped])
    }

    @Test func `A new request replaces the run in progress while a retry waits for it`() throws {
        var hand = Hand(try Self.manifest { $0.overlap = .replace })
        try hand.submit(Submission(task: "a"))
        try hand.end(after: Hand.second, .failed)
        let newer = try hand.submit(Submission(task: "a"))
        hand.pass(Hand.hour)
        #expect(hand.stopped.isEmpty)
        try hand.submit(Submission(task: "a"))
        #expect(hand.stopped.count == 1 && hand.begun.map(\.record.request) == [newer.id])
    }
}
