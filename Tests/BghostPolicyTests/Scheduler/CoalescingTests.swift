// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostCalendar
@testable import BghostModel
@testable import BghostPolicy
import BghostTestSupport
import Testing

/// Requests that may begin later than their date, to meet others.
@Suite struct CoalescingTests {
    private typealias Hand = SchedulerHand

    @Test(arguments: [
        (0, 0, 0), (7, 0, 7), (7, 1, 8), (8, 7, 8), (9, 6, 12), (9, 7, 16), (1, 1_000_000, 524_288),
    ])
    func `The instant is the roundest one in the window`(
        earliest: Int64,
        length: Int64,
        instant: Int64
    ) {
        let found = Coalescing.instant(
            notBefore: earliest * Hand.second,
            tolerance: length * Hand.second
        )
        #expect(found == instant * Hand.second)
    }

    @Test(arguments: SeededGenerator.seeds(4))
    func `The instant lies in the window, and a smaller window that has it keeps it`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<2000 {
            let earliest = Int64.random(in: 1...(1 << 61), using: &random)
            let tolerance = Int64(1) << Int64.random(in: 0...51, using: &random) - 1
            let instant = Coalescing.instant(notBefore: earliest, tolerance: tolerance)
            #expect(instant >= earliest && instant - earliest <= tolerance)
            guard instant > earliest else { continue }
            // A part of the window that still has it.
            let later = Int64.random(in: earliest...instant, using: &random)
            let shorter = Int64.random(in: instant...(earliest + tolerance), using: &random) - later
            #expect(Coalescing.instant(notBefore: later, tolerance: shorter) == instant)
        }
    }

    @Test(arguments: [
        (Int64.min, Int64.max), (-5, 10), (Int64.max, Int64.max), (1, -7),
        (Int64.max - 5_000_000_000, Int64.max),
    ])
    func `The instant lies in windows of any bounds`(earliest: Int64, tolerance: Int64) {
        let instant = Coalescing.instant(notBefore: earliest, tolerance: tolerance)
        #expect(instant >= earliest)
        #expect(instant == earliest || tolerance > 0)
    }

    @Test func `Requests with a tolerance begin together, and others on their date`() throws {
        var hand = SchedulerHand(try Hand.manifest("a", "b", "c", "d"))
        for (index, task) in ["a", "b", "c", "d"].enumerated() {
            try hand.submit(
                Submission(
                    task: task,
                    earliestBegin: Hand.noon + Int64(index + 1) * 10 * Hand.second,
                    tolerance: task == "d" ? nil : 1800 * Hand.second
                )
            )
        }
        hand.pass(40 * Hand.second)
        #expect(hand.running == ["d"])
        let gates = ["a", "b", "c"].map { hand.gate(.coalescing, of: $0) }
        #expect(gates.allSatisfy { $0?.isOpen == false && $0?.until == gates.first??.until })
        #expect(hand.closed("a") == [.coalescing])
        let instant = try #require(gates.first??.until)
        hand.pass(instant - hand.now.unix - 1)
        #expect(hand.running == ["d"])
        hand.pass(1)
        #expect(hand.running.sorted() == ["a", "b", "c", "d"])
    }

    @Test func `A submission without a tolerance uses the task's`() throws {
        let manifest = try Hand.manifest("a", "b") { $0.tolerance = .seconds(600) }
        var hand = SchedulerHand(manifest)
        // The next multiple of 512 s is 64 s away.
        #expect(Hand.noon / Hand.second % 512 == 448)
        try hand.submit(Submission(task: "a"))
        try hand.submit(Submission(task: "b", tolerance: 0))
        #expect(hand.running == ["b"])
        #expect(hand.gate(.coalescing, of: "a")?.until == Hand.noon + 64 * Hand.second)
        // It is kept with the request, whatever becomes of the task's.
        hand.restart(try Hand.manifest("a", "b"))
        #expect(hand.closed("a") == [.coalescing])
        hand.pass(64 * Hand.second)
        #expect(hand.running == ["a"])
    }

    @Test func `A latest begin date ends the window`() throws {
        var hand = SchedulerHand(try Hand.manifest("a"))
        let latest = Hand.noon + 3 * Hand.second
        try hand.submit(
            Submission(
                task: "a",
                earliestBegin: Hand.noon + Hand.second,
                latestBegin: latest,
                tolerance: 1800 * Hand.second
            )
        )
        hand.pass(2 * Hand.second - 1)
        #expect(hand.running.isEmpty)
        hand.pass(1)
        #expect(hand.running == ["a"])
        #expect(hand.ends.isEmpty)
    }

    @Test func `A schedule's time in its window is not late after a restart`() throws {
        let manifest = try Hand.manifest("a") {
            $0.schedule = TaskSchedule(times: .every(.seconds(3600)), misfire: .skip)
            $0.tolerance = .seconds(1800)
        }
        var hand = SchedulerHand(manifest)
        let due = try #require(hand.gate(.coalescing, of: "a")?.until)
        #expect(due > Hand.noon + 3600 * Hand.second + 120 * Hand.second)
        hand.pass(3600 * Hand.second + 120 * Hand.second)
        let waiting = hand.pending
        hand.restart(manifest)
        #expect(hand.pending == waiting)
        hand.pass(due - hand.now.unix)
        #expect(hand.running == ["a"])
        #expect(hand.notes.allSatisfy { $0.code != "task.missed" })
    }
}
