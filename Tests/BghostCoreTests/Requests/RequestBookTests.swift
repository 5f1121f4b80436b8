// SPDX-License-Identifier: Apache-2.0

import BghostCore
import Testing

@Suite struct RequestBookTests {
    @Test func anIdentifierHasOneEntry() {
        var book = RequestBook()
        let first = book.entry(for: "a", definition: 3, overlap: .skip)
        #expect(book.entry(for: "a", definition: 9, overlap: .allow) == first)
        #expect(book.entries[first].definition == 3)
        #expect(book.entries[first].overlap == .skip)
        #expect(book.entry(of: "a") == first)
        #expect(book.entry(of: "b") == nil)
    }

    @Test func aNewerRequestReplacesThePendingOne() {
        var line = Line()
        let entry = line.entry("a")
        #expect(line.submit(1, entry) == nil)
        #expect(line.submit(2, entry)?.id == Line.id(1))
        #expect(!line.book.contains(Line.id(1)))
        #expect(line.book.contains(Line.id(2)))
        #expect(line.drain() == ["start 2"])
        #expect(!line.book.contains(Line.id(2)))
    }

    @Test func thePriorityDecidesAndThenTheAge() {
        var line = Line()
        for (number, priority) in [(1, 500), (2, 1000), (3, 0), (4, 500), (5, 1000)] {
            line.submit(number, line.entry("t\(number)"), priority: priority)
        }
        #expect(line.drain() == ["start 2", "start 5", "start 1", "start 4", "start 3"])
    }

    @Test func prioritiesBeyondTheScaleAreThoseAtItsEnds() {
        var line = Line()
        for (number, priority) in [(1, 0), (2, -7), (3, 1000), (4, Int.max)] {
            line.submit(number, line.entry("t\(number)"), priority: priority)
        }
        #expect(line.drain() == ["start 3", "start 4", "start 1", "start 2"])
    }

    /// A high priority must not be left to the request that comes after.
    @Test(arguments: [true, false])
    func theRankOfARequestThatIsGoneIsGone(isWithdrawn: Bool) {
        var line = Line()
        let entry = line.entry("a")
        line.submit(1, entry, priority: 1000)
        line.submit(2, line.entry("b"), priority: 500)
        if isWithdrawn { #expect(line.book.withdraw(entry: entry)?.id == Line.id(1)) }
        line.submit(3, entry, priority: 0)
        #expect(line.drain() == ["start 2", "start 3"])
    }

    @Test func aWithdrawnRequestDoesNotRun() {
        var line = Line()
        let entry = line.entry("a")
        line.submit(1, entry)
        #expect(line.book.withdraw(entry: entry)?.id == Line.id(1))
        #expect(line.book.withdraw(entry: entry) == nil)
        #expect(line.drain().isEmpty)
    }

    // MARK: Dates

    @Test func noRequestRunsBeforeItsDate() {
        var line = Line()
        line.submit(1, line.entry("a"), earliest: 100)
        #expect(line.book.nextDue == 100)
        #expect(line.drain().isEmpty)
        line.now = 99
        line.book.becomeDue(now: 99)
        #expect(line.drain().isEmpty)
        line.now = 100
        line.book.becomeDue(now: 100)
        #expect(line.drain() == ["start 1"])
        #expect(line.book.nextDue == nil)
    }

    @Test func theDateOfAReplacedRequestDoesNotCount() {
        var line = Line()
        let entry = line.entry("a")
        line.submit(1, entry, earliest: 10)
        line.submit(2, entry, earliest: 100)
        line.now = 50
        line.book.becomeDue(now: 50)
        #expect(line.drain().isEmpty)
        line.now = 100
        line.book.becomeDue(now: 100)
        #expect(line.drain() == ["start 2"])
    }

    @Test(arguments: [Int64(0), -1, .min])
    func aDateInThePastIsNow(earliest: Int64) {
        var line = Line()
        line.submit(1, line.entry("a"), earliest: earliest)
        #expect(line.drain() == ["start 1"])
    }

    @Test func theLastDateOfAllIsNeverDue() {
        var line = Line()
        line.submit(1, line.entry("a"), earliest: .max)
        #expect(line.book.nextDue == .max)
        line.book.becomeDue(now: .max - 1)
        #expect(line.drain().isEmpty)
    }

    @Test func aClockThatGoesBackLosesNoRequest() {
        var line = Line()
        line.submit(1, line.entry("a"), earliest: 100)
        line.book.becomeDue(now: 100)
        line.now = 50
        #expect(line.drain().isEmpty)
        #expect(line.book.nextDue == 100)
        line.now = 100
        line.book.becomeDue(now: 100)
        #expect(line.drain() == ["start 1"])
    }

    /// A handler that submits for next year again and again, and changes its mind each time.
    @Test(.timeLimit(.minutes(1)))
    func theDatesOfReplacedRequestsDoNotPileUp() {
        var line = Line()
        let entry = line.entry("a")
        for number in 1...100_000 {
            line.submit(number, entry, earliest: 1_000_000 + Int64(number % 2))
        }
        // What is left of the others would come up here, each as a turn of the loop.
        line.now = 2_000_000
        line.book.becomeDue(now: line.now)
        #expect(line.drain() == ["start 100000"])
        #expect(line.book.nextDue == nil)
    }

    // MARK: What stands in the way

    @Test func aRequestThatIsTurnedAwayWaitsAndKeepsItsPlace() {
        var line = Line()
        let first = line.entry("a")
        line.submit(1, first)
        #expect(line.book.next(now: 0) { _, _ in false } == nil)
        #expect(line.drain().isEmpty)
        line.submit(2, line.entry("b"))
        line.book.retry(entry: first, now: 0)
        #expect(line.drain() == ["start 1", "start 2"])
    }

    @Test func isAskedWhetherItsOwnRequestCanStart() {
        var line = Line()
        let entry = line.book.entry(for: "a", definition: 42, overlap: .queue)
        line.submit(1, entry)
        var asked: [Int] = []
        _ = line.book.next(now: 0) { request, definition in
            #expect(request.id == Line.id(1))
            asked.append(definition)
            return false
        }
        #expect(asked == [42])
    }

    @Test func tryingAgainWithoutARequestDoesNothing() {
        var line = Line()
        line.book.retry(entry: line.entry("a"), now: 0)
        #expect(line.drain().isEmpty)
    }

    // MARK: Latest dates

    @Test func aRequestThatCouldNotBeginInTimeIsMissed() {
        var line = Line()
        let entry = line.entry("a")
        line.submit(1, entry)
        #expect(line.drain() == ["start 1"])
        line.submit(2, entry, latest: 100)
        #expect(line.drain().isEmpty)
        #expect(line.book.nextDue == 101)
        line.now = 100
        line.book.becomeDue(now: 100)
        #expect(line.drain().isEmpty)
        line.now = 101
        line.book.becomeDue(now: 101)
        #expect(line.drain() == ["missed 2"])
        #expect(!line.book.contains(Line.id(2)))
    }

    @Test func aRequestThatBeginsAtItsLatestDateIsNotMissed() {
        var line = Line()
        line.submit(1, line.entry("a"), earliest: 100, latest: 100)
        line.now = 100
        line.book.becomeDue(now: 100)
        #expect(line.drain() == ["start 1"])
    }

    @Test func aLatestDateBeforeTheEarliestIsMissedAtOnceAfterIt() {
        var line = Line()
        line.submit(1, line.entry("a"), earliest: 100, latest: 50)
        #expect(line.book.nextDue == 51)
        line.now = 51
        line.book.becomeDue(now: 51)
        #expect(line.drain() == ["missed 1"])
    }

    // MARK: Holds and retries

    @Test func aHoldDelaysAllButWhatIsSimulated() {
        var line = Line()
        let entry = line.entry("a")
        line.book.hold(entry: entry, until: 100, now: 0)
        line.submit(1, entry)
        #expect(line.drain().isEmpty)
        line.submit(2, entry, isSimulated: true)
        #expect(line.drain() == ["start 2"])
        line.book.finished(entry: entry, now: 0)
        #expect(line.drain().isEmpty)
        #expect(line.book.nextDue == 100)
        line.now = 100
        line.book.becomeDue(now: 100)
        #expect(line.drain() == ["start 1"])
    }

    @Test func aHoldThatIsLiftedLetsGoAtOnce() {
        var line = Line()
        let entry = line.entry("a")
        line.book.hold(entry: entry, until: .max, now: 0)
        line.submit(1, entry)
        #expect(line.drain().isEmpty)
        line.book.hold(entry: entry, until: nil, now: 0)
        #expect(line.drain() == ["start 1"])
    }

    /// A handler that submitted its successor and then failed.
    @Test func aRetryStandsBesideThePendingRequest() {
        var line = Line()
        let entry = line.entry("a")
        line.submit(1, entry, earliest: 500)
        line.retry(2, entry, earliest: 100)
        line.retry(3, entry, earliest: 200)
        #expect(line.book.entries[entry].pending?.id == Line.id(1))
        #expect([1, 2, 3].allSatisfy { line.book.contains(Line.id($0)) })
        for (date, number) in [(100, 2), (200, 3), (500, 1)] {
            line.now = Int64(date)
            line.book.becomeDue(now: line.now)
            #expect(line.drain() == ["start \(number)"])
            line.book.finished(entry: entry, now: line.now)
        }
        #expect(line.book.nextDue == nil)
    }

    @Test func aRedrivenRequestStandsBesideThePendingOne() {
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
        #expect(line.book.accept(dead, entry: entry, now: 100) == nil)
        #expect(line.book.entries[entry].pending?.id == Line.id(1))
        #expect(line.drain() == ["start 2"])
        // One that died of its memory has no count.
        dead.counters = AttemptCounters()
        dead.latestBegin = 101
        #expect(dead.redriven(now: 100).isRetry)
        #expect(dead.redriven(now: 100).latestBegin == 101)
    }

    @Test func whatSomebodySubmittedCountsInItsQuota() {
        var book = RequestBook()
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
        let a = book.entry(for: "a", definition: 0, quota: 3, overlap: .queue)
        let b = book.entry(for: "b", definition: 0, quota: 3, overlap: .queue)
        let c = book.entry(for: "c", definition: 0, quota: 4, overlap: .queue)
        func count() -> [Int] { [0, 3, 4, 5].map { book.submittedRequests(ofQuota: $0) } }
        #expect(count() == [0, 0, 0, 0])
        _ = book.accept(request(1, .operator), entry: a, now: 0)
        _ = book.accept(request(2, .run(Line.id(9))), entry: b, now: 0)
        _ = book.accept(request(3, .manifest), entry: c, now: 0)
        _ = book.accept(request(4, .operator, failures: 1), entry: c, now: 0)
        #expect(count() == [0, 2, 0, 0])
        _ = book.accept(request(5, .operator), entry: a, now: 0)
        _ = book.accept(request(6, .operator), entry: c, now: 0)
        #expect(count() == [0, 2, 1, 0])
        _ = book.accept(request(7, .manifest), entry: b, now: 0)
        _ = book.withdraw(entry: c)
        #expect(count() == [0, 1, 0, 0])
        while case .start = book.next(now: 0, canStart: { _, _ in true }) {}
        #expect(count() == [0, 0, 0, 0])
        _ = book.accept(request(8, .operator), entry: a, now: 0)
        #expect(book.withdrawAll(entry: a).count == 1)
        #expect(count() == [0, 0, 0, 0])
    }

    // MARK: Aging and shares

    @Test func whatWaitsLongEnoughOvertakesAHigherPriority() {
        var line = Line()
        line.submit(1, line.entry("old"), priority: 500)
        line.now = 59_999_000_000
        line.submit(2, line.entry("young"), priority: 506)
        line.now = 60_001_000_000
        line.submit(3, line.entry("youngest"), priority: 506)
        #expect(line.drain() == ["start 2", "start 1", "start 3"])
    }

    @Test func noGroupTakesAllSlots() {
        var line = Line()
        line.book = RequestBook(slots: 4)
        for number in 1...20 {
            line.submit(number, line.entry("greedy\(number)", group: 0), priority: 1000)
        }
        for number in 21...22 {
            line.submit(number, line.entry("modest\(number)", group: 1), priority: 0)
        }
        #expect(line.drain(atMost: 4) == ["start 1", "start 2", "start 21", "start 22"])
    }

    @Test func aGroupAloneMayTakeAllSlots() {
        var line = Line()
        line.book = RequestBook(slots: 4)
        _ = line.entry("other", group: 1)
        for number in 1...6 { line.submit(number, line.entry("t\(number)", group: 0)) }
        #expect(line.drain(atMost: 4) == (1...4).map { "start \($0)" })
    }

    @Test func aFreedSlotGoesToTheGroupBelowItsShare() {
        var line = Line()
        line.book = RequestBook(slots: 2)
        let entries = (1...6).map { line.entry("t\($0)", group: 0) }
        for (index, entry) in entries.enumerated() { line.submit(index + 1, entry) }
        #expect(line.drain(atMost: 2) == ["start 1", "start 2"])
        line.submit(7, line.entry("late", group: 1), priority: 0)
        line.book.finished(entry: entries[0], now: 0)
        #expect(line.drain(atMost: 1) == ["start 7"])
    }

    // MARK: Overlap

    @Test func queueWaitsForTheRunUnderWay() {
        var line = Line()
        let entry = line.entry("a", .queue)
        line.submit(1, entry)
        #expect(line.drain() == ["start 1"])
        line.submit(2, entry)
        #expect(line.drain().isEmpty)
        line.book.finished(entry: entry, now: 0)
        #expect(line.drain() == ["start 2"])
    }

    @Test func skipDropsTheRequest() {
        var line = Line()
        let entry = line.entry("a", .skip)
        line.submit(1, entry)
        #expect(line.drain() == ["start 1"])
        line.submit(2, entry)
        #expect(line.drain() == ["skip 2"])
        line.book.finished(entry: entry, now: 0)
        #expect(line.drain().isEmpty)
    }

    @Test func replaceStopsTheRunUnderWayAndThenStarts() {
        var line = Line()
        let entry = line.entry("a", .replace)
        line.submit(1, entry)
        #expect(line.drain() == ["start 1"])
        line.submit(2, entry)
        #expect(line.drain() == ["displace"])
        #expect(line.book.contains(Line.id(2)))
        line.book.finished(entry: entry, now: 0)
        #expect(line.drain() == ["start 2"])
    }

    @Test func allowRunsBoth() {
        var line = Line()
        let entry = line.entry("a", .allow)
        line.submit(1, entry)
        #expect(line.drain() == ["start 1"])
        line.submit(2, entry)
        #expect(line.drain() == ["start 2"])
        #expect(line.book.entries[entry].running == 2)
    }

    // MARK: Simulated requests

    @Test func simulatedRequestsReplaceNothingAndGoFirstOldestFirst() {
        var line = Line()
        let entry = line.entry("a")
        #expect(line.submit(1, entry) == nil)
        #expect(line.submit(2, entry, isSimulated: true) == nil)
        #expect(line.submit(3, entry, isSimulated: true) == nil)
        #expect([1, 2, 3].allSatisfy { line.book.contains(Line.id($0)) })
        #expect(line.drain() == ["start 2"])
        line.book.finished(entry: entry, now: 0)
        #expect(line.drain() == ["start 3"])
        line.book.finished(entry: entry, now: 0)
        #expect(line.drain() == ["start 1"])
    }

    @Test func aSimulatedRequestDoesNotWaitForADate() {
        var line = Line()
        line.submit(1, line.entry("a"), earliest: 1_000, isSimulated: true)
        #expect(line.drain() == ["start 1"])
    }

    @Test func allThatMayOverlapComesBackWhenItsWayIsFree() {
        var line = Line()
        let entry = line.entry("a", .allow)
        for number in 1...3 { line.submit(number, entry, isSimulated: true) }
        #expect(line.book.next(now: 0) { _, _ in false } == nil)
        line.book.retry(entry: entry, now: 0)
        #expect(line.drain() == ["start 1", "start 2", "start 3"])
    }

    @Test func manySimulatedRequestsKeepTheirOrder() {
        var line = Line()
        let entry = line.entry("a", .allow)
        for number in 1...5_000 { line.submit(number, entry, isSimulated: true) }
        #expect(line.drain() == (1...5_000).map { "start \($0)" })
    }
}

/// A book with short names for what tests do to it.
struct Line {
    var book = RequestBook()
    var now: Int64 = 0

    static func id(_ number: Int) -> RunID { RunID(high: 0, low: UInt64(number)) }

    mutating func entry(
        _ identifier: String,
        _ overlap: Overlap = .queue,
        group: Int = 0
    ) -> Int {
        book.entry(for: identifier, definition: 0, group: group, overlap: overlap)
    }

    mutating func retry(_ number: Int, _ entry: Int, earliest: Int64) {
        let request = Request(
            id: Self.id(number),
            task: book.entries[entry].identifier,
            parameters: "{}",
            submittedAt: now,
            earliestBegin: earliest,
            priority: 500,
            counters: AttemptCounters(failures: 1)
        )
        #expect(book.accept(request, entry: entry, now: now) == nil)
    }

    @discardableResult
    mutating func submit(
        _ number: Int,
        _ entry: Int,
        priority: Int = 500,
        earliest: Int64? = nil,
        latest: Int64? = nil,
        isSimulated: Bool = false
    ) -> Request? {
        let request = Request(
            id: Self.id(number),
            task: book.entries[entry].identifier,
            parameters: "{}",
            submittedAt: now,
            earliestBegin: earliest,
            latestBegin: latest,
            priority: priority,
            isSimulated: isSimulated
        )
        return book.accept(request, entry: entry, now: now)
    }

    /// All that can be done now, in short words.
    mutating func drain(atMost count: Int = .max) -> [String] {
        var done: [String] = []
        while done.count < count,
            let decision = book.next(now: now, canStart: { _, _ in true })
        {
            switch decision {
            case .start(let request, _): done.append("start \(request.id.low)")
            case .skipped(let request, _): done.append("skip \(request.id.low)")
            case .missed(let request, _): done.append("missed \(request.id.low)")
            case .displace: done.append("displace")
            }
        }
        return done
    }
}
