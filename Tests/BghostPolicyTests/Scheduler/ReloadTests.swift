// SPDX-License-Identifier: Apache-2.0

import BghostTestSupport
import BghostCalendar
import BghostFacts
import BghostModel
@testable import BghostPolicy
import BghostSimulation
import Testing

/// A reload of another manifest during runs.
@Suite struct ReloadTests {
    private typealias Hand = SchedulerHand

    private static func every(_ seconds: Int) -> TaskSchedule {
        TaskSchedule(times: .every(.seconds(seconds)))
    }

    /// The task `a`, changed in some way, of a plugin that may be changed too.
    private static func manifest(
        _ adjust: (inout TaskDefinition) -> Void = { _ in },
        plugin: (inout PluginDefinition) -> Void = { _ in }
    ) throws -> Manifest {
        var manifest = try Hand.manifest("a", adjust: adjust)
        plugin(&manifest.plugins[0])
        return manifest
    }

    // MARK: What does not change

    @Test func `A reload of the same manifest changes nothing`() throws {
        let manifest = try Self.manifest { $0.schedule = Self.every(3600) }
        var hand = Hand(manifest)
        let pending = hand.pending
        var moved = manifest
        moved.tasks[0].origin.line += 7
        moved.plugins[0].origin.line += 7
        let outcome = hand.reload(moved)
        #expect(outcome.change == CatalogChange())
        #expect(hand.pending == pending)
        hand.pass(Hand.hour)
        #expect(hand.running == ["a"])
    }

    // MARK: Tasks

    @Test func `A request of a removed task is parked, logged once, and returns`() throws {
        let both = try Hand.manifest("a", "b", "c")
        var hand = Hand(both)
        let due = Hand.noon + 2 * Hand.day
        let first = try hand.submit(Submission(task: "b", earliestBegin: due))
        let second = try hand.submit(Submission(task: "c", earliestBegin: due))
        let outcome = hand.reload(try Hand.manifest("a"))
        #expect(outcome.parked == 2)
        #expect(outcome.change.removedTasks == ["b", "c"])
        let said = hand.notes.filter { $0.code == "request.parked" }
        #expect(said.count == 1)
        #expect(
            said.first?.message.hasPrefix("2 pending requests for tasks no longer in the manifest")
                == true
        )
        #expect(said.first?.message.contains("b, c") == true)
        #expect(hand.scheduler.requests(of: nil) == [first, second])
        #expect(hand.gate(.manifestRemoved, of: "b")?.isOpen == false)
        #expect(throws: SubmitError.self) {
            var copy = hand
            try copy.submit(Submission(task: "b"))
        }
        hand.pass(3 * Hand.day)
        #expect(hand.running.isEmpty)
        #expect(hand.reload(both).unparked == 2)
        #expect(hand.running == ["b", "c"])
        #expect(hand.memories["b"]?.parkedSince == nil)
        #expect(hand.ends.isEmpty)
    }

    @Test func `A parked request of a removed task expires after a week`() throws {
        var hand = Hand(try Hand.manifest("a", "b"))
        let request = try hand.submit(
            Submission(task: "b", earliestBegin: Hand.noon + Hand.hour)
        )
        hand.reload(try Hand.manifest("a"))
        hand.pass(7 * Hand.day - 1)
        #expect(hand.ends.isEmpty)
        hand.pass(1)
        #expect(hand.ends == [request.id: .notPermitted])
    }

    @Test func `A run continues when its task is removed, and its retry waits`() throws {
        let policy = RetryPolicy(backoff: .exponential(base: .seconds(1), cap: .seconds(1)))
        let both = try Hand.manifest("a", "b") { $0.retry = policy }
        var hand = Hand(both)
        let request = try hand.submit(Submission(task: "b"))
        #expect(hand.running == ["b"])
        hand.reload(try Hand.manifest("a"))
        #expect(hand.scheduler.runsUnderWay == 1)
        try hand.end(after: Hand.second, .failed)
        #expect(hand.pending[request.id]?.counters.failures == 1)
        #expect(hand.gate(.manifestRemoved, of: "b")?.isOpen == false)
        hand.pass(Hand.hour)
        #expect(hand.running.isEmpty)
        hand.reload(both)
        #expect(hand.running == ["b"])
    }

    @Test func `A request on its way to the store is parked when its task goes`() throws {
        var hand = Hand(try Hand.manifest("a", "b"))
        let later = Hand.noon + Hand.hour
        let first = try hand.submit(Submission(task: "b", earliestBegin: later))
        let accepted = try #require(
            try hand.perform { scheduler, now, _ in
                try scheduler.accept(Submission(task: "b", earliestBegin: later), now: now)
            }
        )
        hand.reload(try Hand.manifest("a"))
        hand.perform { _, _, effects in effects.append(.commit([accepted.change])) }
        hand.perform { $0.finishSubmission(accepted, isStored: true, now: $1, &$2) }
        #expect(hand.scheduler.requests(of: "b").map(\.id) == [accepted.request.id])
        #expect(hand.pending[first.id] == nil)
        hand.reload(try Hand.manifest("a", "b"))
        #expect(hand.scheduler.requests(of: "b").map(\.id) == [accepted.request.id])
        hand.pass(Hand.hour)
        #expect(hand.running == ["b"])
    }

    @Test func `Throttle points and served times outlive the absence of their task`() throws {
        let noon = Self.every(86_400)
        let both = try Hand.manifest("a", "b") { $0.schedule = noon }
        var hand = Hand(both)
        hand.pass(Hand.day)
        hand.reload(try Hand.manifest("a") { $0.schedule = noon })
        // Its end comes while its task is not permitted.
        let index = try #require(hand.begun.firstIndex { $0.record.task == "b" })
        if index == 0 {
            try hand.end(after: 0, .killed(.graceExceeded))
        } else {
            try hand.end(after: 0)
            try hand.end(after: 0, .killed(.graceExceeded))
        }
        hand.reload(both)
        #expect(hand.memories["b"]?.lastServedTime == Hand.noon + Hand.day)
        #expect(hand.scheduler.memories(of: "b").first?.lastServedTime == Hand.noon + Hand.day)
    }

    @Test func `An added task begins its schedule and what it submits at the start`() throws {
        var hand = Hand(try Hand.manifest())
        hand.pass(Hand.hour)
        hand.reload(
            try Hand.manifest("a") {
                $0.schedule = Self.every(3600)
            }
        )
        #expect(hand.running.isEmpty)
        hand.pass(Hand.hour)
        #expect(hand.running == ["a"])

        hand = Hand(try Hand.manifest("a"))
        hand.reload(try Hand.manifest("a", "b") { $0.submitAtStart = true })
        // Both: `a` did not say so before.
        #expect(Set(hand.running) == ["a", "b"])
        try hand.end(after: 0)
        try hand.end(after: 0)
        hand.reload(
            try Hand.manifest("a", "b") {
                $0.submitAtStart = true
                $0.priority = 7
            }
        )
        #expect(hand.running.isEmpty)
    }

    @Test func `A pending member of a family keeps waiting when it gets its own section`() throws {
        var hand = Hand(try Hand.manifest("a.*"))
        let request = try hand.submit(
            Submission(task: "a.b", earliestBegin: Hand.noon + Hand.hour)
        )
        var both = try Hand.manifest("a.*", "a.b")
        both.tasks[1].limits = RunLimits(runtime: .seconds(1), grace: .seconds(1))
        hand.reload(both)
        #expect(hand.scheduler.requests(of: "a.b") == [request])
        hand.pass(Hand.hour)
        #expect(hand.begun.first?.record.limits.runtime == .seconds(1))
        // And back: the schedule that only the section had goes with it.
        both.tasks[1].schedule = Self.every(60)
        hand.reload(both)
        #expect(hand.scheduler.requests(of: "a.b").count == 1)
        hand.reload(try Hand.manifest("a.*"))
        #expect(hand.scheduler.requests(of: "a.b").isEmpty)
        #expect(hand.ends.values.contains(.cancelled))
    }

    // MARK: Terms

    @Test func `A run keeps its retry policy, and the next one has the new`() throws {
        let twice = RetryPolicy(
            backoff: .exponential(base: .seconds(1), cap: .seconds(1)),
            attemptsMax: 2
        )
        var hand = Hand(try Self.manifest { $0.retry = twice })
        let request = try hand.submit(Submission(task: "a"))
        hand.reload(try Self.manifest { $0.retry = RetryPolicy(backoff: .none) })
        try hand.end(after: 0, .failed)
        #expect(hand.pending[request.id] != nil)
        hand.pass(Hand.second)
        #expect(hand.running == ["a"])
        try hand.end(after: 0, .failed)
        #expect(hand.pending.isEmpty && hand.scheduler.requests(of: nil).isEmpty)
    }

    @Test func `More slots start waiting requests, and fewer delay new ones`() throws {
        let many = try Hand.manifest("a", "b", "c", "d")
        var hand = Hand(many, slots: 1)
        for task in ["a", "b", "c"] { try hand.submit(Submission(task: task)) }
        #expect(hand.running == ["a"])
        hand.reload(many, slots: 3)
        #expect(hand.running == ["a", "b", "c"])
        hand.reload(many, slots: 1)
        try hand.submit(Submission(task: "d"))
        try hand.end(after: 0)
        try hand.end(after: 0)
        #expect(hand.running == ["c"])
        try hand.end(after: 0)
        #expect(hand.running == ["d"])
    }

    @Test func `A disabled or over-budget plugin stays so in its new version`() throws {
        let budget = RuntimePerDay(refresh: .seconds(60))
        var hand = Hand(try Self.manifest(plugin: { $0.runtimePerDay = budget }))
        try hand.submit(Submission(task: "a"))
        hand.reload(
            try Self.manifest(plugin: {
                $0.runtimePerDay = budget
                $0.config = #"{"x": 1}"#
            })
        )
        // The old form's run counts towards the new form's day.
        try hand.end(after: 61 * Hand.second)
        try hand.submit(Submission(task: "a"))
        #expect(hand.closed("a") == [.budget])
        hand.reload(
            try Self.manifest(plugin: { $0.runtimePerDay = RuntimePerDay(refresh: .seconds(90)) })
        )
        #expect(hand.running == ["a"])

        let former = try #require(hand.scheduler.catalog.currentPlugins["plugin"])
        hand.perform { $0.set(plugin: former, disabledReason: "why", now: $1, &$2) }
        hand.reload(Manifest())
        hand.reload(try Self.manifest())
        let plugin = try #require(hand.scheduler.catalog.currentPlugins["plugin"])
        #expect(hand.scheduler.disabledReason(plugin: plugin) == "why" && plugin != former)
    }

    @Test func `A plugin with another file is a new version`() throws {
        let manifest = try Self.manifest()
        var hand = Hand(manifest)
        hand.perform { $0.pluginLoaded(0, serial: ["a"], now: $1, &$2) }
        let outcome = hand.reload(manifest, replacing: ["plugin"])
        #expect(outcome.change.newPlugins == [1] && outcome.change.retiredPlugins == [0])
        try hand.submit(Submission(task: "a"))
        let start = try #require(hand.begun.first)
        #expect(hand.scheduler.catalog.pluginOfTask[start.task] == 1)
    }

    @Test func `Tasks keep their probes when the bits of probes change`() throws {
        func manifest(_ probes: [String], requiring name: String) throws -> Manifest {
            var manifest = try Self.manifest {
                $0.requirements = RequirementSet(name: name, probes: probes) ?? []
                $0.loss[$0.requirements] = .expire
            }
            manifest.host.facts.probes = probes.map {
                ProbeDefinition(name: $0, arguments: ["/bin/true"])
            }
            return manifest
        }
        var hand = Hand(try manifest(["x", "y"], requiring: "y"))
        var facts = FactSheet(probes: ["x", "y"])
        _ = facts.simulate(.probe(1), as: .holds, now: hand.now)
        hand.perform { [facts] in $0.factsChanged(facts, .probe(1), now: $1, &$2) }
        try hand.submit(Submission(task: "a"))
        #expect(hand.running == ["a"])
        hand.reload(try manifest(["y"], requiring: "y"))
        facts = FactSheet(probes: ["y"])
        _ = facts.simulate(.probe(0), as: .holds, now: hand.now)
        hand.perform { [facts] in $0.factsChanged(facts, .probe(0), now: $1, &$2) }
        #expect(hand.stopped.isEmpty)
        _ = facts.simulate(.probe(0), as: .fails, now: hand.now)
        hand.perform { [facts] in $0.factsChanged(facts, .probe(0), now: $1, &$2) }
        #expect(hand.stopped.count == 1)
    }

    // MARK: Replay

    @Test func `A replay applies the same manifests at the same inputs`() throws {
        let first = try Hand.manifest("a", "b") { $0.schedule = Self.every(600) }
        let second = try Hand.manifest("b", "c") { $0.schedule = Self.every(900) }
        var hand = Hand(first, slots: 1)
        for round in 0..<6 {
            hand.pass(Hand.hour / 3)
            while !hand.begun.isEmpty { try hand.end(after: Hand.second, .failed) }
            hand.reload(round % 2 == 0 ? second : first, slots: 1 + round % 3)
        }
        var replay = SchedulerReplay(Hand.settings(first, slots: 1), later: [second])
        #expect(hand.journal.count > 30)
        try hand.expectTheSame(of: &replay)
        // Without the other manifest it is said, and not guessed.
        var blind = SchedulerReplay(Hand.settings(first, slots: 1))
        let reload = try #require(
            hand.journal.flatMap(\.inputs).first { !blind.has($0.input) }
        )
        let effects = blind.apply(reload)
        #expect(effects == nil)
    }
}
