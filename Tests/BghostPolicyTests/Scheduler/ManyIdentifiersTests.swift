// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostFacts
import BghostModel
@testable import BghostPolicy
import Testing

/// The work of events with a hundred thousand identifiers, counted.
@Suite struct ManyIdentifiersTests {
    private typealias Hand = SchedulerHand

    private static let count = 100_000

    private static func manifest(
        _ patterns: [String],
        adjust: (inout TaskDefinition) -> Void = { _ in }
    ) throws -> Manifest {
        var manifest = try Hand.manifest()
        manifest.plugins[0].maxPending = PendingLimits(refresh: 1 << 20, processing: 1 << 20)
        manifest.tasks = try patterns.map { pattern in
            var task = TaskDefinition(
                identifier: try #require(IdentifierPattern(pattern)),
                handler: .plugin(name: "plugin", handler: "h")
            )
            adjust(&task)
            return task
        }
        return manifest
    }

    /// A scheduler with identifiers of a family that wait for a date.
    private static func hand(_ manifest: Manifest) throws -> Hand {
        var hand = Hand(manifest)
        let later = hand.now.unix + Hand.day
        for number in 0..<count {
            try hand.submit(Submission(task: "job.\(number)", earliestBegin: later))
        }
        return hand
    }

    private static func work(_ hand: Hand) -> (entriesVisited: Int, rechecks: Int, searches: Int) {
        let index = hand.scheduler.pendingIndex
        return (index.entriesVisited, index.rechecks, hand.scheduler.identifierSearches)
    }

    @Test(.timeLimit(.minutes(5)))
    func `The cost of a submission does not grow with the number of identifiers`() throws {
        var hand = try Self.hand(try Self.manifest(["job.*", "own"]))
        let before = Self.work(hand)
        for _ in 0..<10 {
            try hand.submit(Submission(task: "own"))
            try hand.end(after: 1)
            try hand.trigger("job.7")
            try hand.end(after: 1)
            try hand.submit(Submission(task: "job.new", earliestBegin: hand.now.unix + Hand.hour))
            hand.perform { _ = $0.withdraw("job.new", now: $1, &$2) }
        }
        let after = Self.work(hand)
        #expect(after.entriesVisited - before.entriesVisited <= 60)
        #expect(after.rechecks - before.rechecks <= 60)
        #expect(hand.scheduler.pendingIndex.entries.count == Self.count + 1)
    }

    @Test(.timeLimit(.minutes(5)))
    func `A changed fact rechecks only the identifiers that require it`() throws {
        var manifest = try Self.manifest(["job.*"])
        manifest.tasks.append(
            contentsOf: try Self.manifest(["online.*"]) { $0.requirements = .network }.tasks
        )
        var hand = try Self.hand(manifest)
        hand.perform { $0.pluginLoaded(0, serial: [], now: $1, &$2) }
        for number in 0..<5 { try hand.submit(Submission(task: "online.\(number)")) }
        try hand.submit(
            Submission(task: "job.own", earliestBegin: hand.now.unix + 1, requirements: .network)
        )
        hand.pass(1)
        #expect(hand.begun.isEmpty)
        let before = Self.work(hand)
        var facts = FactSheet()
        let changed = facts.simulate(.network, as: .holds, now: hand.now)
        hand.perform { [facts] in $0.factsChanged(facts, changed, now: $1, &$2) }
        #expect(Self.work(hand).rechecks - before.rechecks == 6)
        #expect(hand.begun.count == 4)
    }

    @Test(.timeLimit(.minutes(5)))
    func `The load of a plugin looks at its handlers, and at no identifier`() throws {
        var hand = try Self.hand(try Self.manifest(["job.*", "own"]))
        for serial in [[], ["h"], ["h", "other"], []] {
            let before = Self.work(hand)
            hand.perform { $0.pluginLoaded(0, serial: serial, now: $1, &$2) }
            let after = Self.work(hand)
            #expect(after.entriesVisited - before.entriesVisited <= 2)
            #expect(after.rechecks == before.rechecks && after.searches == before.searches)
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `A success with followers costs what these cost`() throws {
        let followers = (0..<16).map { TaskFollower(task: "job.next.\($0)") }
        var manifest = try Self.manifest(["job.*"])
        manifest.tasks += try Self.manifest(["first"]) { $0.then = followers }.tasks
        var hand = try Self.hand(manifest)
        for _ in 0..<10 {
            try hand.submit(Submission(task: "first"))
            #expect(hand.running == ["first"])
            let before = Self.work(hand)
            try hand.end(after: 1)
            let after = Self.work(hand)
            #expect(hand.scheduler.pending("job.next.15") != nil || hand.running.count == 4)
            #expect(after.entriesVisited - before.entriesVisited <= 60)
            #expect(after.rechecks - before.rechecks <= 60)
            while !hand.begun.isEmpty { try hand.end(after: 1) }
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `A page of a tag looks at a bounded number of identifiers`() throws {
        var manifest = try Self.manifest(["job.*"])
        manifest.tasks += try Self.manifest(["tagged.*"]) { $0.tags = ["nightly"] }.tasks
        var hand = try Self.hand(manifest)
        let date = hand.now.unix + Hand.day
        for number in 0..<5 {
            try hand.submit(Submission(task: "tagged.\(number)", earliestBegin: date))
        }
        var found: [String] = []
        var place: Scheduler.WaitingPlace? = .start
        while let from = place {
            let query = Scheduler.WaitingQuery(tag: "nightly")
            let page = hand.scheduler.waiting(query, from: from, limit: 2)
            #expect(page.visited <= 8192)
            found += page.requests.map(\.task)
            place = page.next
        }
        #expect(found == (0..<5).map { "tagged.\($0)" })
    }

    @Test(.timeLimit(.minutes(5)))
    func `A reload looks up only identifiers whose task may have changed`() throws {
        var hand = try Self.hand(try Self.manifest(["job.*", "own"]))
        for number in 0..<10 {
            try hand.submit(
                Submission(task: "job.x.\(number)", earliestBegin: hand.now.unix + Hand.day)
            )
        }
        // Another name, another family, a changed task and a removed one.
        hand.reload(try Self.manifest(["job.*", "own", "job.7", "other.*"]))
        #expect(hand.scheduler.identifierSearches == 0)
        let seven = try #require(hand.scheduler.pendingIndex.entry(of: "job.7"))
        #expect(hand.scheduler.pendingIndex.entries.kind(seven).isNamed)
        let changed = try Self.manifest(["job.*", "job.7", "other.*"]) { $0.priority = 7 }
        hand.reload(changed)
        // `own` may belong to a family now.
        #expect(hand.scheduler.identifierSearches == 1)
        // A family within the first one.
        var inner = changed
        inner.tasks += try Self.manifest(["job.x.*"]).tasks
        hand.reload(inner)
        #expect(hand.scheduler.identifierSearches == 1 + Self.count - 1 + 10)
        let entries = hand.scheduler.pendingIndex.entries
        func pattern(_ identifier: String) throws -> String {
            let entry = try #require(entries.number(of: identifier))
            return hand.scheduler.catalog.tasks[entries.kind(entry).definition].identifier
                .description
        }
        #expect(try pattern("job.x.3") == "job.x.*" && pattern("job.8") == "job.*")
        #expect(try pattern("job.7") == "job.7")
    }

    @Test(.timeLimit(.minutes(5)))
    func `The cost for one task or plugin does not grow with their number`() throws {
        let plugins = (0..<1000).map {
            PluginDefinition(
                name: "plugin\($0)",
                library: "plugin\($0).so",
                maxPending: PendingLimits(refresh: 100, processing: 100)
            )
        }
        let manifest = Manifest(
            plugins: plugins,
            tasks: try (0..<10_000).map {
                TaskDefinition(
                    identifier: try #require(IdentifierPattern("org.example.task\($0)")),
                    handler: .plugin(name: "plugin\($0 % 1000)", handler: "h")
                )
            }
        )
        var hand = Hand(manifest)
        let before = Self.work(hand)
        for number in stride(from: 0, to: 10_000, by: 100) {
            try hand.submit(Submission(task: "org.example.task\(number)"))
            try hand.end(after: 1)
        }
        #expect(Self.work(hand).entriesVisited - before.entriesVisited <= 200)
        // The problem of one plugin concerns its own ten tasks.
        hand.perform { $0.plugin(3, hasProblem: "broken", now: $1, &$2) }
        try hand.submit(Submission(task: "org.example.task3"))
        let problem = Self.work(hand)
        hand.perform { $0.plugin(3, hasProblem: nil, now: $1, &$2) }
        #expect(Self.work(hand).rechecks - problem.rechecks == 10)
        #expect(hand.running == ["org.example.task3"])
        var other = manifest
        other.tasks[5].priority = 7
        hand.reload(other)
        #expect(hand.scheduler.identifierSearches == 0)
        #expect(hand.scheduler.catalog.tasks.count == 10_001)
    }
}
