// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostModel
@testable import BghostPolicy
import BghostTestSupport
import Testing

/// Pages of waiting requests that a client asks for, between which requests come and go.
@Suite struct FilteredPageTests {
    private typealias Query = Scheduler.WaitingQuery

    private static func manifest() throws -> Manifest {
        var manifest = try SchedulerHand.manifest("report.*", "own", "more.*")
        manifest.plugins[0].maxPending = PendingLimits(refresh: 100_000, processing: 1)
        var other = manifest.plugins[0]
        other.name = "other"
        manifest.plugins.append(other)
        manifest.tasks[2].handler = .plugin(name: "other", handler: "more")
        return manifest
    }

    private static func submit(
        _ hand: inout SchedulerHand,
        _ task: String,
        by submitter: Submitter = .operator
    ) throws -> Request {
        let submission = Submission(task: task, earliestBegin: hand.now.unix + SchedulerHand.hour)
        return try hand.submit(submission, by: submitter)
    }

    /// The rest of the pages from a place on.
    private static func requests(
        _ scheduler: Scheduler,
        _ query: Query = Query(),
        from start: Scheduler.WaitingPlace = .start,
        limit: Int
    ) throws -> [Request] {
        var found: [Request] = []
        var place: Scheduler.WaitingPlace? = start
        while let from = place {
            let page = scheduler.waiting(query, from: from, limit: limit)
            #expect(page.requests.count <= limit)
            found += page.requests
            place = page.next
        }
        return found
    }

    @Test(arguments: [1, 2, 3, 7, 300])
    func `Every condition selects what it says, on pages of any length`(limit: Int) throws {
        var hand = SchedulerHand(try Self.manifest(), slots: 0)
        let submitters: [Submitter] = [
            .operator, .manifest, .run(RunID(high: 1, low: 1)), .plugin("plugin"),
        ]
        var all: [Request] = []
        for number in 0..<20 {
            for name in ["report.a", "report.b", "more."] {
                all.append(
                    try Self.submit(
                        &hand,
                        "\(name)\(number)",
                        by: name == "more." ? .operator : submitters[number % 4]
                    )
                )
            }
        }
        for _ in 0..<9 { all.append(try hand.trigger("own")) }
        let filters: [TaskFilter?] = [
            nil, .beginning(""), .beginning("report."), .beginning("report.a1"),
            .beginning("none"), .task("own"), .task("report.b7"), .task("none"),
        ]
        for tasks in filters {
            for plugin in [nil, "plugin", "other"] {
                for kind in [nil] + Submitter.Kind.allCases {
                    let query = Query(tasks: tasks, plugin: plugin, submitter: kind)
                    let wanted = all.filter { request in
                        let owner = request.task.hasPrefix("more.") ? "other" : "plugin"
                        return tasks?.matches(request.task) ?? true && plugin ?? owner == owner
                            && kind ?? request.submitter.kind == request.submitter.kind
                    }
                    let found = try Self.requests(hand.scheduler, query, limit: limit)
                    #expect(found.map(\.id).sorted() == wanted.map(\.id).sorted(), "\(query)")
                    let count = hand.scheduler.waitingCount(query)
                    #expect(count ?? wanted.count == wanted.count, "\(query)")
                    #expect(
                        (count != nil) == (plugin == nil && kind == nil && Self.isCounted(tasks))
                    )
                }
            }
        }
        #expect(hand.scheduler.waiting(Query(plugin: "none"), from: .start, limit: 1).next == nil)
    }

    private static func isCounted(_ tasks: TaskFilter?) -> Bool {
        tasks == nil || tasks == .task("own") || tasks == .task("report.b7")
    }

    @Test func `What waits during all pages is in exactly one, while others come and go`() throws {
        var source = SplitMix64(seed: 2026)
        for _ in 0..<20 {
            var hand = SchedulerHand(try Self.manifest(), slots: 0)
            var waiting: [String: [RunID]] = [:]
            func task() -> String { "report.\(source.next() % 400)" }
            for _ in 0..<300 {
                let name = task()
                waiting[name] = [try Self.submit(&hand, name).id]
            }
            for _ in 0..<12 { waiting["own", default: []].append(try hand.trigger("own").id) }
            var stayed = Set(waiting.values.joined())
            var seen: [RunID] = []
            var place: Scheduler.WaitingPlace? = .start
            while let from = place {
                let limit = Int(source.next() % 9) + 1
                let page = hand.scheduler.waiting(Query(), from: from, limit: limit)
                seen += page.requests.map(\.id)
                place = page.next
                for _ in 0..<source.next() % 4 {
                    let name = task()
                    if source.next().isMultiple(of: 2) {
                        hand.withdrawAll([name])
                        stayed.subtract(waiting.removeValue(forKey: name) ?? [])
                    } else {
                        stayed.subtract(waiting[name] ?? [])
                        waiting[name] = [try Self.submit(&hand, name).id]
                    }
                }
                // New requests of an identifier whose older ones are on two pages.
                if source.next().isMultiple(of: 5) { try hand.trigger("own") }
            }
            #expect(Set(seen).count == seen.count, "a request came twice")
            #expect(stayed.isSubset(of: seen), "a request that stayed is missing")
            #expect(stayed.count > 100)
        }
    }

    @Test func `A page looks at a limited number of identifiers`() throws {
        var manifest = try SchedulerHand.manifest("report.*")
        manifest.plugins[0].maxPending = PendingLimits(refresh: 100_000, processing: 1)
        var hand = SchedulerHand(manifest)
        for number in 0..<20_000 { _ = try Self.submit(&hand, "report.\(number)") }
        var visited: [Int] = []
        var place: Scheduler.WaitingPlace? = .start
        let rare = Query(tasks: .beginning("report.1999"), submitter: .operator)
        while let from = place {
            let page = hand.scheduler.waiting(rare, from: from, limit: 1000)
            visited.append(page.visited)
            place = page.next
        }
        #expect(visited == [8192, 8192, 20_000 - 2 * 8192])
        let one = hand.scheduler.waiting(
            Query(tasks: .task("report.19999")),
            from: .start,
            limit: 1
        )
        #expect(one.requests.count == 1 && one.visited == 1)
        // The last page costs what the first one costs.
        let last = hand.scheduler.waiting(
            Query(),
            from: Scheduler.WaitingPlace(row: 19_990),
            limit: 1000
        )
        #expect(last.requests.count == 10 && last.visited == 10)
    }

    @Test func `A page ends behind the most bytes of parameters`() throws {
        var hand = SchedulerHand(try Self.manifest(), slots: 0)
        for number in 0..<10 {
            try hand.submit(
                Submission(
                    task: "report.\(number)",
                    parameters: #"{"text":"\#(String(repeating: "x", count: 1000))"}"#,
                    earliestBegin: hand.now.unix + SchedulerHand.hour
                )
            )
        }
        let page = hand.scheduler.waiting(Query(), from: .start, limit: 100, bytes: 2500)
        #expect(page.requests.count == 3 && page.next != nil)
    }

    @Test func `Parked requests continue behind the last one, also if it has left`() throws {
        var hand = SchedulerHand(try Self.manifest(), slots: 0)
        var ids: [RunID] = []
        for number in 0..<20 { ids.append(try Self.submit(&hand, "report.\(number)").id) }
        hand.reload(try SchedulerHand.manifest("own"), slots: 0)
        let own = try hand.trigger("own").id
        let found = try Self.requests(hand.scheduler, limit: 3)
        #expect(found.map(\.id).sorted() == (ids + [own]).sorted())
        #expect(
            try Self.requests(hand.scheduler, Query(tasks: .task("report.7")), limit: 1).count == 1
        )
        #expect(hand.scheduler.waitingCount(Query()) == 21)
        #expect(hand.scheduler.waitingCount(Query(tasks: .task("report.7"))) == nil)

        var page = hand.scheduler.waiting(Query(), from: .start, limit: 5)
        while let next = page.next, next.row > -3 {
            page = hand.scheduler.waiting(Query(), from: next, limit: 2)
        }
        let place = try #require(page.next)
        let rest = try Self.requests(hand.scheduler, from: place, limit: 100).map(\.id)
        #expect(!rest.isEmpty)
        hand.withdrawAll(page.requests.map(\.task))
        #expect(try Self.requests(hand.scheduler, from: place, limit: 2).map(\.id) == rest)
        // A forged place.
        for row in [Int64.min, -1000, Int64.max, 1 << 40] {
            let page = hand.scheduler.waiting(Query(), from: .init(row: row), limit: 5)
            #expect(page.requests.count <= 5)
        }
    }
}
