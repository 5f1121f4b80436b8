// SPDX-License-Identifier: Apache-2.0

@testable import BghostBase
@testable import BghostModel
@testable import BghostPolicy
import BghostSimulation
import BghostTestSupport
import Testing

/// Members of families come and go; the scheduler keeps those that something needs.
@Suite struct ForgottenIdentifiersTests {
    private typealias Hand = SchedulerHand

    private static func manifest(
        _ tasks: [String] = ["job.*", "own"],
        adjust: (inout TaskDefinition) -> Void = { _ in }
    ) throws -> Manifest {
        var manifest = try Hand.manifest()
        manifest.tasks = try tasks.map { pattern in
            var task = TaskDefinition(
                identifier: try #require(IdentifierPattern(pattern)),
                handler: .plugin(name: "plugin", handler: "h")
            )
            adjust(&task)
            return task
        }
        return manifest
    }

    /// The identifiers with a row.
    private static func used(_ hand: Hand) -> [String] {
        let entries = hand.scheduler.pendingIndex.entries
        return entries.indices.filter(entries.isInUse).map { entries[$0].identifier }.sorted()
    }

    // MARK: Reasons

    @Test func `A member is forgotten when its run has ended`() throws {
        var hand = Hand(try Self.manifest())
        #expect(Self.used(hand) == ["own"])
        try hand.submit(Submission(task: "job.1"))
        #expect(Self.used(hand) == ["job.1", "own"])
        try hand.end(after: 1)
        #expect(Self.used(hand) == ["own"])
        #expect(hand.memories.isEmpty)
    }

    @Test func `A member is forgotten when its request is withdrawn, missed or not stored`() throws
    {
        var hand = Hand(try Self.manifest())
        let soon = hand.now.unix + Hand.second
        try hand.submit(Submission(task: "job.1", earliestBegin: soon + Hand.hour))
        hand.perform { _ = $0.withdraw("job.1", now: $1, &$2) }
        #expect(Self.used(hand) == ["own"])

        try hand.submit(
            Submission(
                task: "job.2",
                earliestBegin: soon + Hand.hour,
                latestBegin: soon + Hand.hour
            )
        )
        hand.skip(2 * Hand.hour)
        hand.perform { $0.timerFired(now: $1, &$2) }
        #expect(Self.used(hand) == ["own"])

        let accepted = try hand.perform { scheduler, now, _ in
            try scheduler.accept(Submission(task: "job.3"), now: now)
        }
        #expect(Self.used(hand) == ["job.3", "own"])
        // Other events leave the request that is being stored alone.
        hand.perform { $0.dispatch(now: $1, &$2) }
        #expect(Self.used(hand) == ["job.3", "own"])
        let unstored = try #require(accepted)
        hand.perform { $0.finishSubmission(unstored, isStored: false, now: $1, &$2) }
        #expect(Self.used(hand) == ["own"])
    }

    @Test func `A manual run that is being stored keeps its identifier`() throws {
        var hand = Hand(try Self.manifest())
        let made = try hand.perform { scheduler, now, _ in
            try scheduler.accept(Submission(task: "job.1"), isManual: true, now: now)
        }
        let accepted = try #require(made)
        // An ordinary request comes, runs and ends meanwhile.
        try hand.submit(Submission(task: "job.1"))
        try hand.end(after: 1)
        #expect(Self.used(hand) == ["job.1", "own"])
        hand.perform { $0.finishSubmission(accepted, isStored: true, now: $1, &$2) }
        #expect(hand.running == ["job.1"])
        try hand.end(after: 1)
        #expect(Self.used(hand) == ["own"])
    }

    @Test func `A retry keeps its identifier`() throws {
        let manifest = try Self.manifest {
            $0.retry = RetryPolicy(
                backoff: .exponential(base: .seconds(60), cap: .seconds(60)),
                attemptsMax: 2,
                lossesMax: 1
            )
        }
        var hand = Hand(manifest)
        try hand.submit(Submission(task: "job.1"))
        try hand.end(after: 1, .failed)
        #expect(Self.used(hand) == ["job.1", "own"])
        hand.pass(Hand.hour)
        try hand.end(after: 1, .failed)
        #expect(Self.used(hand) == ["own"])
    }

    @Test func `A throttled member is kept until its points have expired, and so is its row`()
        throws
    {
        var hand = Hand(try Self.manifest())
        try hand.submit(Submission(task: "job.1"))
        try hand.end(after: 1, .killed(.graceExceeded))
        #expect(Self.used(hand) == ["job.1", "own"])
        #expect(hand.memories["job.1"]?.throttle.points == 2)
        hand.pass(11 * Hand.hour)
        #expect(Self.used(hand) == ["job.1", "own"])
        // A daemon that starts again keeps it.
        hand.restart(try Self.manifest())
        #expect(Self.used(hand) == ["job.1", "own"])
        try hand.submit(Submission(task: "job.1", earliestBegin: hand.now.unix + Hand.day))
        hand.pass(3 * Hand.hour)
        // Its request keeps it longer than its points.
        #expect(Self.used(hand) == ["job.1", "own"])
        hand.perform { _ = $0.withdraw("job.1", now: $1, &$2) }
        #expect(Self.used(hand) == ["own"])
        #expect(hand.memories.isEmpty)
        #expect(hand.scheduler.expiries.next == nil)
    }

    @Test func `Points that expire by themselves free the identifier`() throws {
        var hand = Hand(try Self.manifest())
        try hand.submit(Submission(task: "job.1"))
        try hand.end(after: 1, .killed(.graceExceeded))
        hand.pass(14 * Hand.hour)
        #expect(Self.used(hand) == ["own"] && hand.memories.isEmpty)
        #expect(hand.scheduler.expiries.next == nil)
    }

    @Test func `Cleared points free the identifier and its row at once`() throws {
        var hand = Hand(try Self.manifest())
        try hand.submit(Submission(task: "job.1"))
        try hand.end(after: 1, .killed(.graceExceeded))
        hand.clearThrottle("job.1")
        #expect(Self.used(hand) == ["own"] && hand.memories.isEmpty)
    }

    @Test func `A success that removes the last point deletes the row of a named task too`() throws
    {
        var hand = Hand(try Self.manifest())
        try hand.submit(Submission(task: "own"))
        try hand.end(after: 1, .killed(.graceExceeded))
        #expect(hand.memories["own"] != nil)
        for _ in 0..<2 {
            try hand.submit(Submission(task: "own"))
            hand.pass(Hand.hour)
            try hand.end(after: 1)
        }
        #expect(hand.memories.isEmpty)
    }

    @Test func `The daemon deletes empty rows at start`() throws {
        var hand = Hand(try Self.manifest())
        hand.keep(
            TaskMemory(identifier: "job.1", throttle: ThrottlePoints(changedAt: 7, lastEnd: 7))
        )
        hand.keep(
            TaskMemory(identifier: "gone.1", throttle: ThrottlePoints(changedAt: 7, lastEnd: 7))
        )
        hand.restart(try Self.manifest())
        #expect(hand.memories.isEmpty && Self.used(hand) == ["own"])
    }

    @Test func `A member of a learning family can still learn after its run`() throws {
        let manifest = try Self.manifest {
            $0.learnsUse = true
            $0.tolerance = .seconds(3600)
        }
        var hand = Hand(manifest)
        try hand.submit(Submission(task: "job.1"))
        hand.pass(2 * Hand.hour)
        try hand.end(after: 1)
        hand.pass(Hand.day)
        #expect(hand.scheduler.learners() == ["job.1", "own"])
        let isNew = hand.use("job.1")
        #expect(isNew)
        // The use counts for two weeks, and then nothing is left.
        hand.pass(10 * Hand.day)
        #expect(hand.scheduler.learners() == ["job.1", "own"])
        hand.pass(7 * Hand.day)
        #expect(hand.scheduler.learners() == ["own"])
        #expect(hand.memories.isEmpty)
    }

    // MARK: Reloads

    @Test func `Identifiers that a manifest no longer has are forgotten, also after their runs`()
        throws
    {
        var hand = Hand(try Self.manifest(["job.*", "own", "other"]))
        try hand.submit(Submission(task: "job.1"))
        try hand.submit(Submission(task: "own"))
        try hand.submit(Submission(task: "other", earliestBegin: hand.now.unix + Hand.hour))
        #expect(hand.running == ["job.1"])
        try hand.end(after: 1)
        #expect(hand.running == ["own"])
        hand.reload(try Self.manifest(["another"]))
        #expect(Self.used(hand) == ["another", "own"])
        try hand.end(after: 1)
        #expect(Self.used(hand) == ["another"])
        // The parked request comes back with its task.
        hand.reload(try Self.manifest(["other"]))
        #expect(Self.used(hand) == ["other"])
        #expect(hand.scheduler.pending("other") != nil)
        #expect(hand.memories.isEmpty)
    }

    @Test func `A name that becomes one of a family is forgotten, and one that is named is kept`()
        throws
    {
        var hand = Hand(try Self.manifest(["job.*", "job.1"]))
        #expect(Self.used(hand) == ["job.1"])
        hand.reload(try Self.manifest(["job.*"]))
        #expect(Self.used(hand) == [])
        try hand.submit(Submission(task: "job.2", earliestBegin: hand.now.unix + Hand.hour))
        hand.reload(try Self.manifest(["job.*", "job.2"]))
        hand.perform { _ = $0.withdraw("job.2", now: $1, &$2) }
        #expect(Self.used(hand) == ["job.2"])
    }

    @Test func `The times of a removed schedule are kept for a week`() throws {
        let scheduled = try Self.manifest(["own"]) { $0.schedule = World.calendar("0 * * * *") }
        var hand = Hand(scheduled)
        hand.pass(Hand.hour)
        try hand.end(after: 1)
        #expect(hand.memories["own"]?.lastServedTime != nil)
        hand.reload(try Self.manifest(["another"]))
        #expect(hand.memories["own"]?.lastServedTime != nil)
        hand.skip(6 * Hand.day)
        hand.reload(try Self.manifest(["another", "own"]))
        hand.reload(try Self.manifest(["another"]))
        #expect(hand.memories["own"]?.lastServedTime != nil)
        hand.skip(2 * Hand.day)
        hand.reload(try Self.manifest(["another", "onemore"]))
        #expect(hand.memories["own"] == nil)
    }

    // MARK: Many

    @Test(.timeLimit(.minutes(5)))
    func `A hundred thousand members one after another leave nothing behind`() throws {
        var hand = Hand(try Self.manifest())
        for number in 0..<100_000 {
            try hand.submit(Submission(task: "job.\(number)"), by: .plugin("plugin"))
            try hand.end(after: 1)
        }
        #expect(hand.scheduler.pendingIndex.entries.indices.count <= 3)
        #expect(hand.scheduler.pendingIndex.entries.kindCount == 1)
        #expect(hand.scheduler.heldBytes(plugin: 0) == 0)
        // The last ones are listed, and all others are forgotten.
        let members = hand.scheduler.familyMembers(limit: 3)
        #expect(members.identifiers == ["job.99999", "job.99998", "job.99997"])
        #expect(members.total == 256)
    }

    @Test(.timeLimit(.minutes(5)), arguments: SeededGenerator.seeds(6))
    func `Random histories keep needed identifiers, and their replay decides the same`(
        seed: UInt64
    ) throws {
        var random = SeededGenerator(seed: seed)
        let manifests = try [
            Self.manifest(["job.*", "own"]) { $0.retry = World.exponential },
            Self.manifest(["job.*", "own", "job.3"]) { $0.priority = 700 },
            Self.manifest(["own", "job.1"]) { $0.retry = World.exponential },
            Self.manifest(["job.*", "other.*"]) { $0.overlap = .allow },
        ]
        var hand = Hand(manifests[0])
        for _ in 0..<1_500 {
            let name = "job.\(Int.random(in: 0..<12, using: &random))"
            switch Int.random(in: 0..<12, using: &random) {
            case 0..<4:
                let later = Int64.random(in: 0..<2 * Hand.hour, using: &random)
                let submission = Submission(
                    task: name,
                    earliestBegin: Bool.random(using: &random) ? nil : hand.now.unix + later
                )
                // The manifest may not permit it now.
                _ = try? hand.submit(submission)
            case 4: _ = try? hand.trigger(name)
            case 5: _ = hand.perform { $0.withdraw(name, now: $1, &$2) }
            case 6: hand.withdrawAll([name, "own"])
            case 7: hand.reload(manifests[Int.random(in: 0..<4, using: &random)])
            case 8: hand.pass(Int64.random(in: 0..<8 * Hand.hour, using: &random))
            default:
                let outcomes: [Outcome] = [.succeeded, .failed, .killed(.graceExceeded)]
                guard !hand.begun.isEmpty else { continue }
                try hand.end(after: 1, outcomes[Int.random(in: 0..<3, using: &random)])
            }
            expectTheNeeded(hand)
        }
        #expect(hand.scheduler.pendingIndex.entries.indices.count <= 16)
        var replay = SchedulerReplay(Hand.settings(manifests[0]), later: manifests)
        try hand.expectTheSame(of: &replay)
    }

    /// Each identifier with a row has a reason for it, and each with a reason has a row.
    private func expectTheNeeded(_ hand: Hand) {
        let catalog = hand.scheduler.catalog
        var needed = Set(catalog.names)
        needed.formUnion(hand.running)
        for request in hand.pending.values where catalog.task(for: request.task) != nil {
            needed.insert(request.task)
        }
        for memory in hand.memories.values where catalog.task(for: memory.identifier) != nil {
            needed.insert(memory.identifier)
        }
        #expect(Self.used(hand) == needed.sorted())
        #expect(Set(hand.scheduler.requests(of: nil).map(\.id)) == Set(hand.pending.keys))
    }
}
