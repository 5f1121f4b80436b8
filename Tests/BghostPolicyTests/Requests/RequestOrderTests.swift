// SPDX-License-Identifier: Apache-2.0

import BghostModel
@testable import BghostPolicy
import BghostTestSupport
import Testing

/// Which of the requests that wait goes first, and which goes not at all.
@Suite struct RequestOrderTests {
    // MARK: Latest dates

    @Test func `A request that could not begin in time is missed`() {
        var line = Line()
        let entry = line.entry("a")
        line.submit(1, entry)
        #expect(line.drain() == ["start 1"])
        line.submit(2, entry, latest: 100)
        #expect(line.drain().isEmpty)
        #expect(line.pendingIndex.nextDue == 101)
        line.now = 100
        line.pendingIndex.becomeDue(now: 100)
        #expect(line.drain().isEmpty)
        line.now = 101
        line.pendingIndex.becomeDue(now: 101)
        #expect(line.drain() == ["missed 2"])
        #expect(!line.pendingIndex.contains(Line.id(2)))
    }

    @Test func `A request that begins at its latest date is not missed`() {
        var line = Line()
        line.submit(1, line.entry("a"), earliest: 100, latest: 100)
        line.now = 100
        line.pendingIndex.becomeDue(now: 100)
        #expect(line.drain() == ["start 1"])
    }

    @Test func `A latest date before the earliest is missed at once after it`() {
        var line = Line()
        line.submit(1, line.entry("a"), earliest: 100, latest: 50)
        #expect(line.pendingIndex.nextDue == 51)
        line.now = 51
        line.pendingIndex.becomeDue(now: 51)
        #expect(line.drain() == ["missed 1"])
    }

    // MARK: Holds and retries

    @Test func `A hold delays all but what is simulated`() {
        var line = Line()
        let entry = line.entry("a")
        line.pendingIndex.delay(entry: entry, until: 100, now: 0)
        line.submit(1, entry)
        #expect(line.drain().isEmpty)
        line.submit(2, entry, isManual: true)
        #expect(line.drain() == ["start 2"])
        line.pendingIndex.finished(entry: entry, now: 0)
        #expect(line.drain().isEmpty)
        #expect(line.pendingIndex.nextDue == 100)
        line.now = 100
        line.pendingIndex.becomeDue(now: 100)
        #expect(line.drain() == ["start 1"])
    }

    @Test func `A lifted hold starts requests at once`() {
        var line = Line()
        let entry = line.entry("a")
        line.pendingIndex.delay(entry: entry, until: .max, now: 0)
        line.submit(1, entry)
        #expect(line.drain().isEmpty)
        line.pendingIndex.delay(entry: entry, until: nil, now: 0)
        #expect(line.drain() == ["start 1"])
    }

    /// A handler that submitted its successor and then failed.
    @Test func `A retry stands beside the pending request`() {
        var line = Line()
        let entry = line.entry("a")
        line.submit(1, entry, earliest: 500)
        line.retry(2, entry, earliest: 100)
        line.retry(3, entry, earliest: 200)
        #expect(line.pendingIndex.entries[entry].pending?.id == Line.id(1))
        #expect([1, 2, 3].allSatisfy { line.pendingIndex.contains(Line.id($0)) })
        for (date, number) in [(100, 2), (200, 3), (500, 1)] {
            line.now = Int64(date)
            line.pendingIndex.becomeDue(now: line.now)
            #expect(line.drain() == ["start \(number)"])
            line.pendingIndex.finished(entry: entry, now: line.now)
        }
        #expect(line.pendingIndex.nextDue == nil)
    }

    @Test func `A redriven request stands beside the pending one`() {
        var line = Line()
        let entry = line.entry("a")
        line.submit(1, entry, earliest: 500)
        var dead = Request(
            id: Line.id(2),
            task: "a",
            parameters: "{}",
            submittedAt: 0,
            earliestBegin: 400,
            latestBegin: 50,
            priority: 500,
            counters: AttemptCounters(failures: 2, losses: 1)
        )
        dead = dead.redriven(now: 100)
        #expect(dead.counters == AttemptCounters(interruptions: 3))
        #expect(dead.attempt == 4 && dead.earliestBegin == nil && dead.latestBegin == nil)
        #expect(line.pendingIndex.accept(dead, entry: entry, now: 100) == nil)
        #expect(line.pendingIndex.entries[entry].pending?.id == Line.id(1))
        #expect(line.drain() == ["start 2"])
        // A request that was killed for memory has no count.
        dead.counters = AttemptCounters()
        dead.latestBegin = 101
        #expect(dead.redriven(now: 100).isRetry)
        #expect(dead.redriven(now: 100).latestBegin == 101)
    }

    @Test func `Requests of plugins count in their quota`() {
        var pendingIndex = PendingRequestIndex()
        func request(_ number: Int, _ submitter: Submitter, failures: Int = 0) -> Request {
            Request(
                id: Line.id(number),
                task: "t",
                parameters: "{}",
                submittedAt: 0,
                priority: 500,
                submitter: submitter,
                counters: AttemptCounters(failures: failures)
            )
        }
        let a = pendingIndex.entry(for: "a", definition: 0, quota: 3, overlap: .queue)
        let b = pendingIndex.entry(for: "b", definition: 0, quota: 3, overlap: .queue)
        let c = pendingIndex.entry(for: "c", definition: 0, quota: 4, overlap: .queue)
        func count() -> [Int] { [0, 3, 4, 5].map { pendingIndex.submittedRequests(ofQuota: $0) } }
        #expect(count() == [0, 0, 0, 0])
        _ = pendingIndex.accept(request(1, .plugin("weather")), entry: a, now: 0)
        _ = pendingIndex.accept(request(2, .run(Line.id(9))), entry: b, now: 0)
        _ = pendingIndex.accept(request(3, .manifest), entry: c, now: 0)
        _ = pendingIndex.accept(request(4, .plugin("weather"), failures: 1), entry: c, now: 0)
        #expect(count() == [0, 2, 0, 0])
        _ = pendingIndex.accept(request(5, .plugin("weather")), entry: a, now: 0)
        _ = pendingIndex.accept(request(6, .plugin("weather")), entry: c, now: 0)
        #expect(count() == [0, 2, 1, 0])
        _ = pendingIndex.accept(request(7, .operator), entry: b, now: 0)
        _ = pendingIndex.withdraw(entry: c)
        #expect(count() == [0, 1, 0, 0])
        while case .start = pendingIndex.next(now: 0, canStart: { _, _ in true }) {}
        #expect(count() == [0, 0, 0, 0])
        _ = pendingIndex.accept(request(8, .plugin("weather")), entry: a, now: 0)
        #expect(pendingIndex.withdrawAll(entry: a).count == 1)
        #expect(count() == [0, 0, 0, 0])
    }

    // MARK: Aging and shares

    @Test func `A long waiting request overtakes a higher priority`() {
        var line = Line()
        line.submit(1, line.entry("old"), priority: 500)
        line.now = 59_999_000_000
        line.submit(2, line.entry("young"), priority: 506)
        line.now = 60_001_000_000
        line.submit(3, line.entry("youngest"), priority: 506)
        #expect(line.drain() == ["start 2", "start 1", "start 3"])
    }

    @Test func `No group takes all slots`() {
        var line = Line()
        line.pendingIndex = PendingRequestIndex(slots: 4)
        for number in 1...20 {
            line.submit(number, line.entry("greedy\(number)", group: 0), priority: 1000)
        }
        for number in 21...22 {
            line.submit(number, line.entry("modest\(number)", group: 1), priority: 0)
        }
        #expect(line.drain(atMost: 4) == ["start 1", "start 2", "start 21", "start 22"])
    }

    @Test func `A group alone may take all slots`() {
        var line = Line()
        line.pendingIndex = PendingRequestIndex(slots: 4)
        _ = line.entry("other", group: 1)
        for number in 1...6 { line.submit(number, line.entry("t\(number)", group: 0)) }
        #expect(line.drain(atMost: 4) == (1...4).map { "start \($0)" })
    }

    @Test func `A freed slot goes to the group below its share`() {
        var line = Line()
        line.pendingIndex = PendingRequestIndex(slots: 2)
        let entries = (1...6).map { line.entry("t\($0)", group: 0) }
        for (index, entry) in entries.enumerated() { line.submit(index + 1, entry) }
        #expect(line.drain(atMost: 2) == ["start 1", "start 2"])
        line.submit(7, line.entry("late", group: 1), priority: 0)
        line.pendingIndex.finished(entry: entries[0], now: 0)
        #expect(line.drain(atMost: 1) == ["start 7"])
    }
}
