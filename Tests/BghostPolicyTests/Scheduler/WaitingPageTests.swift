// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostModel
@testable import BghostPolicy
import BghostTestSupport
import Testing

/// Lists of waiting requests, which are made on the thread that enforces limits.
@Suite struct WaitingPageTests {
    private static let now = Moment(monotonic: 1, unix: SchedulerHand.noon)

    private static func scheduler(identifiers count: Int) throws -> Scheduler {
        var manifest = try SchedulerHand.manifest("report.*")
        manifest.plugins[0].maxPending = PendingLimits(refresh: count, processing: count)
        var scheduler = Scheduler(SchedulerHand.settings(manifest))
        for number in 0..<count { try submit("report.\(number)", to: &scheduler) }
        return scheduler
    }

    private static func submit(
        _ task: String,
        isManual: Bool = false,
        to scheduler: inout Scheduler
    ) throws {
        let submission = Submission(task: task, earliestBegin: now.unix + 1_000_000_000)
        let accepted = try scheduler.accept(submission, isManual: isManual, now: now)
        var effects: [SchedulerEffect] = []
        scheduler.finishSubmission(try #require(accepted), isStored: true, now: now, &effects)
    }

    /// All pages.
    private static func pages(
        _ scheduler: Scheduler,
        of identifier: String? = nil,
        _ selection: Scheduler.WaitingSelection = .all,
        keeping limit: Int
    ) -> [Scheduler.WaitingPage] {
        var pages: [Scheduler.WaitingPage] = []
        var start: Int? = 0
        while let from = start {
            let selection = identifier.map { Scheduler.WaitingSelection.task($0) } ?? selection
            pages.append(scheduler.waiting(selection, from: from, keeping: limit))
            start = pages.last?.next
        }
        return pages
    }

    @Test func `Pages have each request once, and no page has many`() throws {
        let scheduler = try Self.scheduler(identifiers: 1000)
        let pages = Self.pages(scheduler, keeping: .max)
        let tasks = pages.flatMap(\.requests).map(\.task)
        #expect(tasks == (0..<1000).map { "report.\($0)" })
        #expect(pages.reduce(0) { $0 + $1.count } == 1000)
        #expect(pages.allSatisfy { $0.requests.count <= Scheduler.pageMax })
    }

    @Test func `Requests beyond a page are counted by identifier`() throws {
        let scheduler = try Self.scheduler(identifiers: 100_000)
        let pages = Self.pages(scheduler, keeping: 0)
        #expect(pages.allSatisfy { $0.requests.isEmpty && $0.count <= 8192 })
        #expect(pages.reduce(0) { $0 + $1.count } == 100_000)
        #expect(pages.count == 13)
    }

    @Test func `A page of one task does not depend on other tasks`() throws {
        var scheduler = try Self.scheduler(identifiers: 20_000)
        let one = Self.pages(scheduler, of: "report.19999", keeping: 10)
        #expect(one.count == 1 && one[0].count == 1)
        #expect(one[0].requests.map(\.task) == ["report.19999"])
        #expect(Self.pages(scheduler, of: "other", keeping: 10).map(\.count) == [0])

        // A task that the manifest does not have any more.
        var effects: [SchedulerEffect] = []
        _ = scheduler.reload(
            try SchedulerHand.manifest("backup"),
            slots: 4,
            replacing: [],
            now: Self.now,
            &effects
        )
        let parked = Self.pages(scheduler, of: "report.7", keeping: 10)
        #expect(parked.flatMap(\.requests).map(\.task) == ["report.7"])
        #expect(parked.allSatisfy { $0.count <= 8192 })
        let all = Self.pages(scheduler, keeping: .max)
        #expect(all.reduce(0) { $0 + $1.count } == 20_000)
        #expect(Set(all.flatMap(\.requests).map(\.id)).count == 20_000)
    }

    @Test func `New identifiers between two pages repeat no parked request`() throws {
        var scheduler = try Self.scheduler(identifiers: 10_000)
        var effects: [SchedulerEffect] = []
        _ = scheduler.reload(
            try SchedulerHand.manifest("backup"),
            slots: 4,
            replacing: [],
            now: Self.now,
            &effects
        )
        var seen: [RunID] = []
        var start: Int? = 0
        while let from = start {
            let page = scheduler.waiting(.all, from: from, keeping: .max)
            seen += page.requests.map(\.id)
            start = page.next
            if start == -1 { try Self.submit("backup", to: &scheduler) }
        }
        #expect(seen.count == 10_000 && Set(seen).count == 10_000)
    }

    @Test func `A family and a range of ids are found in pages`() throws {
        var manifest = try SchedulerHand.manifest("report.*", "report.daily.*", "own")
        manifest.plugins[0].maxPending = PendingLimits(refresh: 100_000, processing: 1)
        // Without a slot, a manual run waits too.
        var scheduler = Scheduler(SchedulerHand.settings(manifest, slots: 0))
        for number in 0..<20_000 { try Self.submit("report.\(number)", to: &scheduler) }
        for number in 0..<10 { try Self.submit("report.daily.\(number)", to: &scheduler) }
        try Self.submit("own", isManual: true, to: &scheduler)
        let daily = Self.pages(scheduler, .family("report.daily.*"), keeping: 4)
        #expect(daily.count == 3 && daily.reduce(0) { $0 + $1.count } == 10)
        #expect(daily.flatMap(\.requests).map(\.task) == (0..<4).map { "report.daily.\($0)" })
        let others = Self.pages(scheduler, .family("report.*"), keeping: 0)
        #expect(others.reduce(0) { $0 + $1.count } == 20_000)
        #expect(Self.pages(scheduler, .family("other.*"), keeping: 1).allSatisfy { $0.count == 0 })
        for task in ["report.19999", "own"] {
            let id = try #require(scheduler.requests(of: task).first?.id)
            let found = Self.pages(scheduler, .ids(id...id), keeping: 5)
            #expect(found.flatMap(\.requests).map(\.task) == [task])
            #expect(scheduler.waits(id, of: task) && !scheduler.waits(id, of: "report.1"))
        }
    }

    @Test func `The requests ahead of a hundred are counted together`() throws {
        var manifest = try SchedulerHand.manifest("job.*")
        manifest.plugins[0].maxPending = PendingLimits(refresh: 100_000, processing: 1)
        var hand = SchedulerHand(manifest, slots: 1)
        var ranks: [(id: RunID, priority: Int, order: Int)] = []
        for number in 0..<20_000 {
            // They have different priorities, and one runs.
            let priority = number * 7919 % 1000
            let request = try hand.submit(Submission(task: "job.\(number)", priority: priority))
            if number > 0 { ranks.append((request.id, priority, number)) }
        }
        #expect(hand.running == ["job.0"])
        ranks.sort { ($1.priority, $0.order) < ($0.priority, $1.order) }
        let asked = stride(from: 0, to: ranks.count, by: 199).map { $0 }
        let requests = hand.scheduler.requests(of: nil)
        let wanted = Set(asked.map { ranks[$0].id })
        var places = hand.scheduler.queuePlaces(of: requests.filter { wanted.contains($0.id) })
        var pages = 0
        while places.next != nil {
            hand.scheduler.count(&places, now: hand.now)
            pages += 1
        }
        #expect(pages == 3)
        for index in asked { #expect(places[ranks[index].id] == index) }
        #expect(places[ranks[1].id] == nil)
        // With a free slot, no request waits for others.
        try hand.end(after: 1)
        hand.reload(manifest, slots: 2)
        #expect(hand.scheduler.queuePlaces(of: []).next == nil)
    }
}
