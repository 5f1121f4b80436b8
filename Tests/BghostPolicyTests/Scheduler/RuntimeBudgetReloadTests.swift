// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostModel
@testable import BghostPolicy
import Testing

/// The daily runtime of a plugin that leaves the manifest, or whose limit does, and comes back.
@Suite struct RuntimeBudgetReloadTests {
    private typealias Hand = SchedulerHand
    private static let minute = 60 * Hand.second
    private let manifest: Manifest
    private let unlimited: Manifest

    init() throws {
        unlimited = try Hand.manifest("a", "b")
        var manifest = unlimited
        manifest.plugins[0].runtimePerDay = RuntimePerDay(refresh: .seconds(20 * 60))
        self.manifest = manifest
    }

    /// One whose plugin has used up its refresh runtime, which is free again at `until`.
    private func spent() throws -> (hand: Hand, until: Int64) {
        var hand = Hand(manifest)
        try hand.submit(Submission(task: "a"))
        try hand.end(after: 25 * Self.minute)
        return (hand, Hand.noon + 26 * Self.minute + Hand.day)
    }

    @Test(arguments: [true, false])
    func `A plugin that was away is still over its budget`(isRestarted: Bool) throws {
        var (hand, until) = try spent()
        if isRestarted { hand.restart(Manifest()) } else { hand.reload(Manifest()) }
        hand.pass(Hand.hour)
        hand.reload(manifest)
        try hand.submit(Submission(task: "b"))
        #expect(hand.closed("b") == [.budget])
        #expect(hand.gate(.budget, of: "b")?.until == until)
        hand.pass(until - hand.now.unix)
        #expect(hand.running == ["b"])
    }

    @Test(arguments: [true, false])
    func `A limit that is back counts the runtime before it was removed`(
        isRestarted: Bool
    ) throws {
        var (hand, _) = try spent()
        if isRestarted { hand.restart(unlimited) } else { hand.reload(unlimited) }
        try hand.submit(Submission(task: "a"))
        #expect(hand.running == ["a"])
        try hand.end(after: Self.minute)
        hand.reload(manifest)
        try hand.submit(Submission(task: "b"))
        #expect(hand.closed("b") == [.budget])
    }

    @Test func `A run that ends while its plugin is away counts`() throws {
        var hand = Hand(manifest)
        try hand.submit(Submission(task: "a"))
        hand.reload(Manifest())
        try hand.end(after: 25 * Self.minute)
        #expect(hand.runtime.map(\.nanoseconds) == [25 * Self.minute])
        hand.reload(manifest)
        try hand.submit(Submission(task: "b"))
        #expect(hand.closed("b") == [.budget])
        // It is in the store as well.
        hand.restart(manifest)
        #expect(hand.closed("b") == [.budget])
    }

    @Test func `A sum that was stored before goes on after the plugin is back`() throws {
        var hand = Hand(manifest)
        try hand.submit(Submission(task: "a"))
        try hand.end(after: 15 * Hand.second)
        hand.reload(Manifest())
        hand.reload(manifest)
        try hand.submit(Submission(task: "a"))
        try hand.end(after: 15 * Hand.second)
        #expect(hand.runtime.map(\.nanoseconds) == [30 * Hand.second])
    }

    @Test func `After a day the runtime of a plugin that was away is forgotten`() throws {
        var (hand, _) = try spent()
        hand.reload(Manifest())
        hand.pass(2 * Hand.day)
        hand.reload(manifest)
        try hand.submit(Submission(task: "b"))
        hand.pass(1)
        #expect(hand.running == ["b"])
    }

    @Test func `A clock that is set back keeps the runtime of a plugin that is away for a day`()
        throws
    {
        var (hand, _) = try spent()
        hand.reload(Manifest())
        hand.setClock(Hand.noon - 100 * Hand.day)
        hand.reload(manifest)
        try hand.submit(Submission(task: "b"))
        #expect(hand.closed("b") == [.budget])
        hand.pass(Hand.day + Self.minute)
        #expect(hand.running == ["b"])
    }
}
