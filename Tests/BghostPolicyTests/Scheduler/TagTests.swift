// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostModel
@testable import BghostPolicy
import BghostTestSupport
import Testing

/// Requests of the tasks with a tag.
@Suite struct TagTests {
    private typealias Query = Scheduler.WaitingQuery

    /// Two tags: of a family, of a task, and of one that has the name of a member of the family.
    private static func manifest() throws -> Manifest {
        try SchedulerHand.manifest("report.*", "report.own", "own", "other") { task in
            switch task.identifier.description {
            case "report.*": task.tags = ["nightly"]
            case "report.own": task.tags = ["eu"]
            case "own": task.tags = ["nightly", "eu"]
            default: break
            }
        }
    }

    private static let names = ["report.a", "report.own", "report.b.c", "own", "other"]

    /// A daemon with a request of each of the names.
    private static func hand() throws -> (hand: SchedulerHand, requests: [String: RunID]) {
        var hand = SchedulerHand(try manifest(), slots: 0)
        var requests: [String: RunID] = [:]
        for name in names {
            let date = hand.now.unix + SchedulerHand.hour
            requests[name] = try hand.submit(Submission(task: name, earliestBegin: date)).id
        }
        return (hand, requests)
    }

    static let tagged: [(tag: String, names: [String])] = [
        ("nightly", ["own", "report.a", "report.b.c"]), ("eu", ["own", "report.own"]),
        ("none", []), ("", []), ("night", []),
    ]

    @Test(arguments: tagged)
    func `A page has the requests of the tasks with the tag`(
        tag: String,
        names: [String]
    ) throws {
        let (hand, requests) = try Self.hand()
        let all = hand.scheduler.waiting(.tag(tag), from: 0, keeping: .max)
        #expect(all.requests.map(\.task).sorted() == names && all.next == nil)
        var found: [String] = []
        var place: Scheduler.WaitingPlace? = .start
        while let from = place {
            let page = hand.scheduler.waiting(Query(tag: tag), from: from, limit: 1)
            found += page.requests.map(\.task)
            place = page.next
        }
        #expect(found.sorted() == names)
        #expect(hand.scheduler.waitingCount(Query(tag: tag)) == nil)
        let some = hand.scheduler.waiting(
            Query(tasks: .beginning("report."), tag: tag),
            from: .start,
            limit: 9
        )
        let wanted = names.filter { $0.hasPrefix("report.") }.compactMap { requests[$0] }
        #expect(Set(some.requests.map(\.id)) == Set(wanted))
        let tasks = hand.scheduler.catalog.tasks(taggedWith: tag)
        #expect(tasks.isEmpty == names.isEmpty)
        #expect(Self.names.filter { tasks.contains($0) }.sorted() == names)
    }

    /// The members of a family have its tag, but for exact tasks: so say the list and the catalog.
    @Test func `Whether an identifier has a tag is what the catalog says`() throws {
        var source = SplitMix64(seed: 7)
        let texts = ["a", "a.b", "a.b.c", "b", "b.c", "a.*", "b.*", "c.d.*", "c.d.e", "c"]
        let asked = texts.map { $0.replacing("*", with: "x") } + ["a.b.x", "c.d", "ab", "c.d.e.f"]
        for _ in 0..<200 {
            var manifest = try SchedulerHand.manifest()
            for text in texts where source.next() % 2 == 0 {
                var task = TaskDefinition(
                    identifier: try #require(IdentifierPattern(text)),
                    handler: .plugin(name: "plugin", handler: "h")
                )
                if source.next() % 2 == 0 { task.tags = ["tag"] }
                manifest.tasks.append(task)
            }
            let catalog = TaskCatalog(manifest)
            let tagged = catalog.tasks(taggedWith: "tag")
            for name in asked {
                let hasTag = catalog.task(for: name).map { catalog.tasks[$0].tags == ["tag"] }
                #expect(tagged.contains(name) == (hasTag ?? false), "\(name): \(tagged)")
            }
        }
    }

    @Test func `A reload that takes a tag away takes it from the requests that wait`() throws {
        var (hand, _) = try Self.hand()
        hand.reload(
            try SchedulerHand.manifest("report.*", "report.own", "own") { task in
                if task.identifier.description == "report.own" { task.tags = ["nightly"] }
            }
        )
        let page = hand.scheduler.waiting(.tag("nightly"), from: 0, keeping: .max)
        #expect(page.requests.map(\.task) == ["report.own"])
        // A parked request has no task, so it has no tag.
        #expect(hand.scheduler.requests(of: "other").count == 1)
        #expect(hand.scheduler.waiting(.tag("nightly"), from: -1, keeping: .max).count == 0)
    }

    @Test func `Tags decide nothing, so recordings stay readable`() throws {
        let plain = try SchedulerHand.manifest("a")
        let tagged = try SchedulerHand.manifest("a") { $0.tags = ["nightly"] }
        #expect(plain.fingerprint == tagged.fingerprint)
    }
}
