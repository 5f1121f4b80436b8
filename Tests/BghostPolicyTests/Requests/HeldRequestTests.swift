// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostModel
@testable import BghostPolicy
import BghostTestSupport
import Testing

/// What is counted of the requests that plugins submit.
@Suite struct HeldRequestTests {
    private typealias Hand = SchedulerHand

    private static let parameters = #"{"x":""# + String(repeating: "x", count: 1000) + #""}"#

    private static func submission(_ task: String, in seconds: Int64 = 3600) -> Submission {
        Submission(
            task: task,
            parameters: parameters,
            earliestBegin: Hand.noon + seconds * Hand.second
        )
    }

    /// What would be counted if all that waits were looked at, identifiers aside.
    private static func counted(_ hand: Hand) -> Int {
        hand.pending.values.reduce(0) { $0 + $1.heldBytes }
    }

    @Test func `An operator's requests do not count against the plugin`() throws {
        var hand = Hand(try Hand.manifest("a"))
        try hand.submit(Self.submission("a"))
        #expect(hand.scheduler.heldBytes(plugin: 0) == 0)
    }

    @Test func `A plugin's request counts until it runs or is withdrawn`() throws {
        var hand = Hand(try Hand.manifest("a.*", "b.*"))
        try hand.submit(Self.submission("a.1"), by: .plugin("plugin"))
        let one = hand.scheduler.heldBytes(plugin: 0)
        #expect(one > 1500 && one < 1800)
        try hand.submit(Self.submission("b.1"), by: .plugin("plugin"))
        #expect(hand.scheduler.heldBytes(plugin: 0) == 2 * one)
        // Another one takes its place.
        try hand.submit(Self.submission("b.1"), by: .plugin("plugin"))
        #expect(hand.scheduler.heldBytes(plugin: 0) == 2 * one)
        hand.perform { _ = $0.withdraw("b.1", now: $1, &$2) }
        let identifier = one - Self.counted(hand)
        #expect(identifier > 0 && hand.scheduler.heldBytes(plugin: 0) == one)
        hand.pass(Hand.hour)
        #expect(hand.running == ["a.1"])
        // An identifier counts as long as it has a run.
        #expect(hand.scheduler.heldBytes(plugin: 0) == identifier)
        try hand.end(after: 1)
        #expect(hand.scheduler.heldBytes(plugin: 0) == 0)
    }

    @Test func `A request that waits for a retry counts, and moves to the replacing plugin`()
        throws
    {
        let manifest = try Hand.manifest("a") {
            $0.retry = RetryPolicy(
                backoff: .exponential(base: .seconds(60), cap: .seconds(60)),
                attemptsMax: 100
            )
        }
        var hand = Hand(manifest)
        try hand.submit(Self.submission("a", in: 0), by: .plugin("plugin"))
        try hand.end(after: 0, .failed)
        let held = hand.scheduler.heldBytes(plugin: 0)
        #expect(held > 1500)
        let outcome = hand.reload(manifest, replacing: ["plugin"])
        let index = try #require(outcome.change.newPlugins.first)
        #expect(hand.scheduler.heldBytes(plugin: 0) == 0)
        #expect(hand.scheduler.heldBytes(plugin: index) == held)
        hand.perform { _ = $0.withdrawAll(of: ["a"], now: $1, &$2) }
        #expect(hand.scheduler.heldBytes(plugin: index) < 200)
    }

    /// After any sequence of events the count is what there is.
    @Test(arguments: SeededGenerator.seeds(12))
    func `The count equals a recount after random histories`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var hand = Hand(
            try Hand.manifest("a", "b", "c", "d") {
                $0.retry = RetryPolicy(
                    backoff: .exponential(base: .seconds(60), cap: .seconds(60)),
                    attemptsMax: 3
                )
                $0.overlap = .allow
            }
        )
        var identifiers: Int?
        for _ in 0..<400 {
            let task = ["a", "b", "c", "d"].randomElement(using: &random) ?? "a"
            switch Int.random(in: 0..<7, using: &random) {
            case 0...2:
                var submission = Submission(task: task, parameters: Self.parameters)
                let seconds = Int64.random(in: 0...100, using: &random)
                submission.earliestBegin = hand.now.unix + seconds * Hand.second
                try hand.submit(
                    submission,
                    by: Bool.random(using: &random) ? .plugin("plugin") : .operator
                )
            case 3: hand.perform { _ = $0.withdraw(task, now: $1, &$2) }
            case 4: hand.setClock(hand.now.unix + Int64.random(in: -99...99, using: &random))
            case 5: hand.pass(Int64.random(in: 0...50, using: &random) * Hand.second)
            default:
                guard !hand.begun.isEmpty else { continue }
                try hand.end(after: 0, Bool.random(using: &random) ? .failed : .succeeded)
            }
            let rest = hand.scheduler.heldBytes(plugin: 0) - Self.counted(hand)
            // Only the identifiers remain, whose number only grows.
            #expect((0...4 * 200).contains(rest), "\(rest)")
            #expect(rest >= identifiers ?? 0)
            identifiers = rest
        }
    }
}
