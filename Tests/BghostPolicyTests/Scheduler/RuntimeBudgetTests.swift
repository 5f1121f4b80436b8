// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostModel
@testable import BghostPolicy
import BghostTestSupport
import Testing

/// How long a plugin's runs may take within a day.
@Suite struct RuntimeBudgetTests {
    private typealias Hand = SchedulerHand
    private static let minute = 60 * Hand.second
    private let manifest: Manifest

    init() throws {
        var manifest = try Hand.manifest("a", "b", "long")
        manifest.tasks[2].kind = .processing
        manifest.plugins[0].runtimePerDay = RuntimePerDay(refresh: .seconds(20 * 60))
        self.manifest = manifest
    }

    /// One whose plugin has used up its refresh runtime, which is free again at `until`.
    private func spent() throws -> (hand: Hand, until: Int64) {
        var hand = Hand(manifest)
        try hand.submit(Submission(task: "a"))
        try hand.end(after: 15 * Self.minute)
        try hand.submit(Submission(task: "a"))
        #expect(hand.running == ["a"])
        // A run under way may go beyond it.
        try hand.end(after: 10 * Self.minute)
        // The first run left the window a day after the end of its minute.
        return (hand, Hand.noon + 16 * Self.minute + Hand.day)
    }

    @Test func `A plugin over its daily budget starts no run until a day has passed`() throws {
        var (hand, until) = try spent()
        try hand.submit(Submission(task: "b"))
        #expect(hand.running.isEmpty)
        let gate = try #require(hand.gate(.budget, of: "b"))
        #expect(hand.closed("b") == [.budget] && gate.until == until)
        #expect(gate.now.contains("1500.00 s of 1200.00 s") && gate.wanted.contains("1200.00 s"))
        #expect(hand.notes.contains { $0.code == "plugin.budget" })
        hand.pass(until - hand.now.unix - 1)
        #expect(hand.running.isEmpty)
        hand.pass(1)
        #expect(hand.running == ["b"])
        #expect(hand.gates("b").isEmpty)
    }

    @Test func `The budget does not hold other kinds and manual runs`() throws {
        var (hand, _) = try spent()
        try hand.submit(Submission(task: "long"))
        try hand.trigger("a")
        #expect(hand.running == ["long", "a"])
    }

    @Test func `Manual runs do not count against the budget`() throws {
        var hand = Hand(manifest)
        try hand.trigger("a")
        try hand.end(after: 60 * Self.minute)
        try hand.submit(Submission(task: "a"))
        #expect(hand.running == ["a"])
        #expect(hand.runtime.isEmpty)
    }

    @Test func `The used budget survives a restart and a changed limit`() throws {
        var (hand, until) = try spent()
        try hand.submit(Submission(task: "b"))
        hand.restart(manifest)
        #expect(hand.gate(.budget, of: "b")?.until == until)
        var raised = manifest
        raised.plugins[0].runtimePerDay.refresh = .seconds(26 * 60)
        hand.restart(raised)
        #expect(hand.running == ["b"])
    }

    @Test func `A submission is accepted, and the status says why it waits`() throws {
        let (hand, _) = try spent()
        #expect(hand.scheduler.backgroundRefreshStatus(ofPlugin: 0) == .restricted([.budget]))
        #expect(Hand(manifest).scheduler.backgroundRefreshStatus(ofPlugin: 0) == .available)
    }

    @Test func `After the clock is set back, the budget holds runs for a day at most`() throws {
        var (hand, _) = try spent()
        try hand.submit(Submission(task: "b"))
        hand.setClock(Hand.noon - 100 * Hand.day)
        #expect(hand.running.isEmpty)
        hand.pass(Hand.day + Self.minute)
        #expect(hand.running == ["b"])
    }

    // MARK: The ledger

    @Test(arguments: SeededGenerator.seeds(4))
    func `No 24 hours contain more runtime than the budget`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let limit = 3600 * Hand.second
        var ledger = RuntimeLedger()
        var runs: [(end: Int64, time: Int64)] = []
        var now = Hand.noon
        for _ in 0..<3000 {
            now += Int64.random(in: 0...(20 * Self.minute), using: &random)
            ledger.forget(now: now)
            let within = runs.filter { $0.end > now - Hand.day }.map(\.time).reduce(0, +)
            // It may keep a minute too long, and never lets one go too early.
            #expect(ledger.used >= within)
            let late = runs.filter { $0.end > now - Hand.day - 60 * Hand.second }.map(\.time)
            #expect(ledger.used <= late.reduce(0, +))
            if let free = ledger.freeAt(limit: limit) {
                #expect(free > now && free <= now + Hand.day + Self.minute)
                var then = ledger
                then.forget(now: free - 1)
                #expect(then.used >= limit)
                then.forget(now: free)
                #expect(then.used < limit)
            } else {
                #expect(ledger.used < limit)
                let time = Int64.random(in: 0...(8 * Self.minute), using: &random)
                _ = ledger.add(time, now: now)
                runs.append((now, time))
            }
            runs.removeAll { $0.end < now - 2 * Hand.day }
        }
    }

    @Test func `After the clock is set back, future runtime counts in the current minute`() {
        var ledger = RuntimeLedger()
        for minutes in 0..<5 { _ = ledger.add(10, now: Hand.noon + Int64(minutes) * Self.minute) }
        let now = Hand.noon + 2 * Self.minute
        ledger.clockWasSet(now: now)
        #expect(ledger.used == 50)
        // The stored minute is complete.
        let added = ledger.add(1, now: now)
        #expect(added.minute == RuntimeLedger.minute(of: now) && added.nanoseconds == 31)
    }

    @Test func `Runtime recorded under a wrong clock is dropped`() {
        var ledger = RuntimeLedger()
        let minute = RuntimeLedger.minute(of: Hand.noon)
        for number in [minute + 1, .max, -1, .min, minute - RuntimeUse.minutesKept] {
            ledger.restore(minute: number, nanoseconds: 1 << 40, now: Hand.noon)
        }
        ledger.restore(minute: minute, nanoseconds: -5, now: Hand.noon)
        #expect(ledger == RuntimeLedger())
        ledger.restore(minute: minute, nanoseconds: .max, now: Hand.noon)
        ledger.restore(minute: minute - 1, nanoseconds: .max, now: Hand.noon)
        #expect(ledger.used == .max)
        _ = ledger.add(.max, now: Hand.noon)
        #expect(ledger.freeAt(limit: 1) != nil)
    }
}
