// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostCalendar
import BghostModel
@testable import BghostPolicy
import BghostSimulation
import Testing

/// Pauses of tasks, without a process.
@Suite struct PauseTests {
    private typealias Hand = SchedulerHand
    private static let retry = RetryPolicy(
        backoff: .exponential(base: .seconds(30), cap: .seconds(30))
    )

    private func pause(
        _ target: PauseTarget,
        for length: Int64? = nil,
        isRelative: Bool = false,
        _ hand: inout Hand
    ) {
        let pause = Pause(
            target: target,
            since: hand.now.unix,
            until: length.map { hand.now.unix + $0 },
            isRelative: isRelative,
            user: "uid 0",
            reason: "new disk"
        )
        hand.store(.paused(target, pause))
        hand.perform { $0.pause(pause, now: $1, &$2) }
    }

    private func resume(_ target: PauseTarget, _ hand: inout Hand) -> Pause? {
        hand.store(.paused(target, nil))
        return hand.perform { $0.resume(target, now: $1, &$2) }
    }

    private func expectReplay(_ hand: Hand, _ manifest: Manifest) throws {
        var replay = SchedulerReplay(Hand.settings(manifest))
        try hand.expectTheSame(of: &replay)
    }

    @Test(
        arguments: [
            .all, .plugin("plugin"), .tasks("org.example.a"), .tasks("org.example.*"),
            .tasks("org.*"),
        ] as [PauseTarget]
    )
    func `A request waits for the end of each kind of pause`(target: PauseTarget) throws {
        let manifest = try Hand.manifest("org.example.a", "b")
        var hand = Hand(manifest)
        pause(target, &hand)
        try hand.submit(Submission(task: "org.example.a"))
        #expect(hand.running.isEmpty)
        let gate = try #require(hand.gates("org.example.a").first)
        #expect(gate.kind == .paused && !gate.isOpen && gate.since == hand.now.unix)
        #expect(gate.now.contains("by uid 0") && gate.now.hasSuffix(": new disk"), "\(gate.now)")
        #expect(gate.remedy == "`\(target.resumeCommand)`" && gate.until == nil)
        #expect(hand.closed("org.example.a") == [.paused])
        try hand.submit(Submission(task: "b"))
        let isForAll = target == .all || target == .plugin("plugin")
        #expect(hand.running == (isForAll ? [] : ["b"]))
        #expect(resume(target, &hand) != nil)
        #expect(hand.running.contains("org.example.a") && hand.running.count == 2)
        #expect(resume(target, &hand) == nil)
        try expectReplay(hand, manifest)
    }

    @Test func `A pause of others holds nothing`() throws {
        var hand = Hand(try Hand.manifest("org.example.a"))
        for target: PauseTarget in [
            .plugin("other"), .tasks("org.example"), .tasks("org.exam.*"), .tasks("org.example.ab"),
            .tasks("org.example.a.*"),
        ] {
            pause(target, &hand)
        }
        try hand.submit(Submission(task: "org.example.a"))
        #expect(hand.running == ["org.example.a"])
    }

    @Test func `A run in progress continues, and its retry waits`() throws {
        var hand = Hand(try Hand.manifest("a") { $0.retry = Self.retry })
        try hand.submit(Submission(task: "a"))
        pause(.tasks("a"), &hand)
        #expect(hand.running == ["a"] && hand.stopped.isEmpty)
        try hand.end(after: Hand.second, .failed)
        hand.pass(Hand.hour)
        #expect(hand.running.isEmpty && hand.closed("a") == [.paused])
        _ = resume(.tasks("a"), &hand)
        #expect(hand.running == ["a"])
    }

    @Test func `A manual run of a paused task is refused, and says how to resume`() throws {
        var hand = Hand(try Hand.manifest("a"))
        pause(.tasks("a"), for: Hand.hour, &hand)
        do throws(SubmitError) {
            _ = try hand.perform { scheduler, now, _ throws(SubmitError) in
                try scheduler.accept(Submission(task: "a"), isManual: true, now: now)
            }
            Issue.record("it was accepted")
        } catch {
            #expect(error.code == .unavailable)
            #expect(error.message.hasPrefix("a is paused by uid 0: new disk, since 2026-"))
            #expect(error.message.hasSuffix("`bghost resume a` ends the pause"), "\(error.message)")
        }
    }

    @Test func `Starts of a schedule in a pause do not happen, each with a row`() throws {
        let manifest = try Hand.manifest("a") {
            $0.schedule = TaskSchedule(times: .every(.seconds(600)))
        }
        var hand = Hand(manifest)
        hand.pass(600 * Hand.second)
        #expect(hand.running == ["a"])
        try hand.end(after: 0)
        pause(.tasks("a"), for: 3 * Hand.hour, &hand)
        let since = hand.now.unix
        hand.pass(3 * Hand.hour - Hand.second)
        #expect(hand.running.isEmpty && hand.skipped.count == 17)
        for row in hand.skipped {
            #expect(row.kind == .paused && row.count == 1 && row.causeSince == since)
            #expect(row.due > since && row.until == row.due && row.cause == "by uid 0: new disk")
        }
        #expect(
            hand.skipped.first?.sentence
                == "skipped, since its task was paused by uid 0: new disk"
        )
        // The schedule has counted on, so nothing is made up for when the pause ends by itself.
        #expect(hand.pending.count == 1)
        hand.pass(Hand.second)
        #expect(hand.scheduler.pauses.isEmpty && hand.pauses.isEmpty)
        hand.pass(600 * Hand.second)
        #expect(hand.running == ["a"])
        #expect(hand.skipped.allSatisfy { $0.kind == .paused } && hand.skipped.count <= 18)
        try expectReplay(hand, manifest)
    }

    @Test func `A waiting retry does not keep a schedule from counting`() throws {
        let manifest = try Hand.manifest("a") {
            $0.schedule = TaskSchedule(times: .every(.seconds(600)))
            $0.retry = Self.retry
        }
        var hand = Hand(manifest)
        hand.pass(600 * Hand.second)
        try hand.end(after: 0, .failed)
        pause(.tasks("a"), &hand)
        hand.pass(Hand.hour)
        #expect(hand.running.isEmpty && hand.skipped.count == 6, "\(hand.skipped)")
        _ = resume(.tasks("a"), &hand)
        // The retry, and no start that fell into the pause.
        #expect(hand.running == ["a"] && hand.begun[0].record.attempt == 2)
        try hand.end(after: 0)
        #expect(hand.running.isEmpty)
        try expectReplay(hand, manifest)
    }

    @Test func `Starts while bghost could not run and the task was paused are one row`() throws {
        let manifest = try Hand.manifest("a") {
            $0.schedule = TaskSchedule(times: .every(.seconds(600)))
        }
        var hand = Hand(manifest)
        hand.pass(600 * Hand.second)
        try hand.end(after: 0)
        pause(.tasks("a"), &hand)
        hand.skip(Hand.hour + 5 * Hand.second)
        hand.restart(manifest)
        #expect(hand.running.isEmpty)
        #expect(hand.scheduler.pauses.map(\.target) == [.tasks("a")])
        let row = try #require(hand.skipped.first)
        #expect(hand.skipped.count == 1 && row.kind == .paused && row.count == 6, "\(row)")
        #expect(row.sentence.contains("missed 6 starts since"), "\(row.sentence)")
    }

    @Test func `A pause survives a restart, and ends at its time`() throws {
        let manifest = try Hand.manifest("a")
        var hand = Hand(manifest)
        pause(.all, for: Hand.hour, &hand)
        try hand.submit(Submission(task: "a"))
        hand.restart(manifest)
        #expect(hand.running.isEmpty && hand.closed("a") == [.paused])
        hand.pass(Hand.hour - 1)
        #expect(hand.running.isEmpty)
        hand.pass(1)
        #expect(hand.running == ["a"] && hand.pauses.isEmpty)
        let row = try #require(hand.skipped.first)
        #expect(row.kind == .delayed && row.cause == "the end of a pause")
        pause(.all, for: Hand.hour, &hand)
        hand.skip(2 * Hand.hour)
        hand.restart(manifest)
        #expect(hand.scheduler.pauses.isEmpty && hand.pauses.isEmpty)
    }

    @Test func `A duration moves with a step of the clock, and a time does not`() throws {
        let manifest = try Hand.manifest("a", "b")
        var hand = Hand(manifest)
        pause(.tasks("a"), for: 2 * Hand.hour, isRelative: true, &hand)
        pause(.tasks("b"), for: 2 * Hand.hour, &hand)
        try hand.submit(Submission(task: "a"))
        try hand.submit(Submission(task: "b"))
        hand.setClock(hand.now.unix + Hand.hour)
        #expect(hand.running.isEmpty)
        #expect(hand.pauses[.tasks("a")]?.until == hand.now.unix + 2 * Hand.hour)
        hand.pass(Hand.hour)
        #expect(hand.running == ["b"])
        hand.pass(Hand.hour)
        #expect(hand.running == ["b", "a"])
        try expectReplay(hand, manifest)
    }

    @Test func `Each of several pauses has to end`() throws {
        var hand = Hand(try Hand.manifest("org.a"))
        pause(.tasks("org.*"), for: Hand.hour, &hand)
        pause(.plugin("plugin"), for: 2 * Hand.hour, &hand)
        try hand.submit(Submission(task: "org.a"))
        let gate = try #require(hand.gate(.paused, of: "org.a"))
        #expect(gate.until == hand.now.unix + 2 * Hand.hour)
        #expect(
            gate.remedy == "`bghost resume --plugin plugin` and `bghost resume 'org.*'`",
            "\(gate.remedy)"
        )
        _ = resume(.plugin("plugin"), &hand)
        #expect(hand.running.isEmpty)
        hand.pass(Hand.hour)
        #expect(hand.running == ["org.a"])
    }

    @Test func `A reload keeps the pause of a task that is removed and comes back`() throws {
        var hand = Hand(try Hand.manifest("a", "b"))
        pause(.tasks("a"), &hand)
        try hand.submit(Submission(task: "a"))
        hand.reload(try Hand.manifest("b"))
        #expect(!hand.scheduler.hasTask(of: .tasks("a")))
        #expect(hand.scheduler.pauses.count == 1)
        hand.reload(try Hand.manifest("a", "b"))
        #expect(hand.running.isEmpty && hand.closed("a") == [.paused])
        _ = resume(.tasks("a"), &hand)
        #expect(hand.running == ["a"])
    }

    @Test func `A target has a task only if one matches it`() throws {
        let hand = Hand(try Hand.manifest("org.example.a", "org.family.*"))
        for target: PauseTarget in [
            .all, .plugin("plugin"), .tasks("org.example.a"), .tasks("org.example.*"),
            .tasks("org.*"), .tasks("org.family.x"), .tasks("org.family.*"),
            .tasks("org.family.x.*"),
        ] {
            #expect(hand.scheduler.hasTask(of: target), "\(target)")
        }
        for target: PauseTarget in [
            .plugin("q"), .tasks("org.example"), .tasks("org.example.b"), .tasks("com.*"),
            .tasks("org.example.a.*"),
        ] {
            #expect(!hand.scheduler.hasTask(of: target), "\(target)")
        }
    }

    @Test func `A family and its members have the pauses of their plugin and pattern, each once`()
        throws
    {
        var hand = Hand(try Hand.manifest("org.family.*"))
        pause(.plugin("plugin"), &hand)
        pause(.tasks("org.family.*"), &hand)
        for name in ["org.family.*", "org.family.x"] {
            let targets = Set(hand.scheduler.pauses(of: name).map(\.target))
            #expect(targets == [.plugin("plugin"), .tasks("org.family.*")])
            #expect(hand.scheduler.pauses(of: name).count == 2, "\(name)")
        }
    }

    @Test func `The work of a resume depends on what waited for it`() throws {
        var manifest = try Hand.manifest("other")
        manifest.tasks += try (0..<2000).map { number in
            TaskDefinition(
                identifier: try #require(IdentifierPattern("many.t\(number)")),
                handler: .plugin(name: "plugin", handler: "t\(number)")
            )
        }
        var hand = Hand(manifest, slots: 1)
        pause(.tasks("many.t1"), &hand)
        pause(.tasks("many.*"), &hand)
        for number in 0..<5 { try hand.submit(Submission(task: "many.t\(number)")) }
        let before = hand.scheduler.pendingIndex.rechecks
        _ = resume(.tasks("many.*"), &hand)
        #expect(hand.scheduler.pendingIndex.rechecks - before == 5)
        #expect(hand.running.count == 1)
    }
}
