// SPDX-License-Identifier: Apache-2.0

import BghostModel
import BghostPolicy
import BghostSimulation
import Testing

/// A machine without processes or descriptors for another worker.
@Suite struct ShortageTests {
    @Test(arguments: [TaskKind.refresh, .processing])
    func `A shortage of processes ends no request and uses no attempt`(kind: TaskKind) throws {
        let manifest = try SchedulerHand.manifest("a") {
            $0.kind = kind
            $0.retry = RetryPolicy(backoff: .none, attemptsMax: 1, lossesMax: 1)
        }
        var hand = SchedulerHand(manifest)
        let request = try hand.submit(Submission(task: "a"))
        // More often than any policy would try it.
        for count in 1...12 {
            #expect(hand.running == ["a"])
            try hand.lackMeans("no processes")
            #expect(hand.running.isEmpty)
            let waiting = try #require(hand.pending[request.id])
            #expect(waiting.counters == AttemptCounters(interruptions: count))
            #expect(waiting.earliestBegin == nil)
            hand.pass(SchedulerHand.hour)
            #expect(hand.running.isEmpty)
            hand.haveMeans()
        }
        #expect(hand.running == ["a"])
        try hand.end(after: SchedulerHand.second)
        #expect(hand.pending.isEmpty)
    }

    @Test func `A manual run that meets a shortage has ended`() throws {
        var hand = SchedulerHand(try SchedulerHand.manifest("a"))
        try hand.trigger("a")
        try hand.lackMeans("no processes")
        #expect(hand.pending.isEmpty)
        hand.haveMeans()
        #expect(hand.running.isEmpty)
    }

    @Test func `A replay decides a shortage in the same way`() throws {
        let manifest = try SchedulerHand.manifest("a", "b")
        var hand = SchedulerHand(manifest)
        try hand.submit(Submission(task: "a"))
        try hand.submit(Submission(task: "b"))
        try hand.lackMeans("no processes")
        hand.haveMeans()
        try hand.end(after: SchedulerHand.second)
        var replay = SchedulerReplay(SchedulerHand.settings(manifest))
        try hand.expectTheSame(of: &replay)
    }
}
