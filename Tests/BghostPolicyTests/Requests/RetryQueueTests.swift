// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostModel
@testable import BghostPolicy
import BghostTestSupport
import Testing

/// The retries of one identifier.
@Suite struct RetryQueueTests {
    private static func place(_ number: Int, begin: Int64, latest: Int64?, rank: UInt64)
        -> RequestPlace
    {
        let request = Request(
            id: RunID(high: 1, low: UInt64(number)),
            task: "job",
            parameters: "{}",
            submittedAt: 1,
            earliestBegin: begin,
            latestBegin: latest,
            priority: 500
        )
        return RequestPlace(request: request, rank: rank)
    }

    /// The same questions, answered by looking at each request.
    private struct Model {
        var places: [RequestPlace] = []

        func first(hold: Int64?, now: Int64) -> RequestPlace? {
            places.filter { $0.dates.isDue(delayedUntil: hold, now: now) }
                .min { $0.rank < $1.rank }
        }

        func nextDate(hold: Int64?, now: Int64) -> Int64? {
            // A missed request needs a decision now; its other dates do not matter.
            places.filter { !$0.isMissed(now: now) }
                .compactMap { $0.dates.nextDate(delayedUntil: hold, now: now) }.min()
        }
    }

    @Test(.timeLimit(.minutes(5)), arguments: SeededGenerator.seeds(20))
    func `A queue answers as a list does`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var queue = RetryQueue()
        var model = Model()
        var now: Int64 = 1000
        var hold: Int64?
        for number in 0..<2000 {
            switch Int.random(in: 0..<12, using: &random) {
            case 0..<5:
                let begin = now + Int64.random(in: -50..<200, using: &random)
                let place = Self.place(
                    number,
                    begin: begin,
                    latest: Bool.random(using: &random)
                        ? begin + Int64.random(in: 0..<100, using: &random) : nil,
                    rank: UInt64.random(in: 0..<1000, using: &random) << 20 | UInt64(number)
                )
                queue.append(place)
                model.places.append(place)
            case 5..<8: now += Int64.random(in: 0..<60, using: &random)
            case 8 where number.isMultiple(of: 7):
                now = max(1, now - Int64.random(in: 0..<150, using: &random))
            case 8: hold = Bool.random(using: &random) ? nil : now + 20
            case 9 where number.isMultiple(of: 5):
                queue.replace { Self.place($0, by: 30) }
                model.places = model.places.map { Self.place($0, by: 30) ?? $0 }
            default:
                queue.advance(to: now)
                guard let slot = queue.first(delayedUntil: hold) else { continue }
                let taken = queue.remove(slot)
                let removed = try #require(taken)
                model.places.removeAll { $0.request.id == removed.request.id }
            }
            queue.advance(to: now)
            let first = queue.first(delayedUntil: hold).flatMap { queue[$0] }
            #expect(first?.request.id == model.first(hold: hold, now: now)?.request.id)
            if !model.places.contains(where: { $0.isMissed(now: now) }) {
                #expect(queue.nextDate(delayedUntil: hold) == model.nextDate(hold: hold, now: now))
            }
            #expect(queue.count == model.places.count)
        }
        #expect(Set(queue.all.map(\.request.id)) == Set(model.places.map(\.request.id)))
    }

    /// A third of the requests moves: an operator's clock moves only what counts from an event.
    private static func place(_ place: RequestPlace, by step: Int64) -> RequestPlace? {
        guard place.rank.isMultiple(of: 3), let begin = place.request.earliestBegin else {
            return nil
        }
        let number = Int(place.request.id.low)
        return Self.place(
            number,
            begin: begin + step,
            latest: place.request.latestBegin.map { $0 + step },
            rank: place.rank + UInt64(step) << 20
        )
    }

    @Test(.timeLimit(.minutes(5)))
    func `The cost of a retry does not grow with the retries of its identifier`() throws {
        var hand = SchedulerHand(
            try SchedulerHand.manifest("job") {
                $0.overlap = .allow
                $0.retry.attemptsMax = 100
                $0.retry.backoff = .exponential(base: .seconds(3600), cap: .seconds(3600))
            }
        )
        let count = 5000
        for _ in 0..<count {
            try hand.submit(Submission(task: "job"))
            try hand.end(after: 1, .failed)
        }
        let entry = try #require(hand.scheduler.pendingIndex.entry(of: "job"))
        func moves() -> Int {
            hand.scheduler.pendingIndex.entries.extras(entry)?.retries.moves ?? 0
        }
        #expect(hand.scheduler.pendingIndex.entries.waitingCount(entry) == count)
        let before = moves()
        for _ in 0..<100 {
            try hand.submit(Submission(task: "job"))
            try hand.end(after: 1, .failed)
        }
        #expect(moves() - before <= 200)
        // All of them have their second attempt within the hour.
        hand.pass(SchedulerHand.hour)
        while !hand.begun.isEmpty { try hand.end(after: 0) }
        #expect(hand.scheduler.pendingIndex.entries.waitingCount(entry) == 0)
        #expect(moves() == 0, "no retry is left to keep a queue for")
    }
}
