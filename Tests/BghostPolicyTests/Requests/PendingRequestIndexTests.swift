// SPDX-License-Identifier: Apache-2.0

import BghostModel
@testable import BghostPolicy
import BghostTestSupport
import Testing

@Suite struct PendingRequestIndexTests {
    @Test func `An identifier has one entry`() {
        var pendingIndex = PendingRequestIndex()
        let first = pendingIndex.entry(for: "a", definition: 3, overlap: .skip)
        #expect(pendingIndex.entry(for: "a", definition: 9, overlap: .allow) == first)
        #expect(pendingIndex.entries[first].definition == 3)
        #expect(pendingIndex.entries[first].overlap == .skip)
        #expect(pendingIndex.entry(of: "a") == first)
        #expect(pendingIndex.entry(of: "b") == nil)
    }

    @Test func `A newer request replaces the pending one`() {
        var line = Line()
        let entry = line.entry("a")
        #expect(line.submit(1, entry) == nil)
        #expect(line.submit(2, entry)?.id == Line.id(1))
        #expect(!line.pendingIndex.contains(Line.id(1)))
        #expect(line.pendingIndex.contains(Line.id(2)))
        #expect(line.drain() == ["start 2"])
        #expect(!line.pendingIndex.contains(Line.id(2)))
    }

    @Test func `The priority decides and then the age`() {
        var line = Line()
        for (number, priority) in [(1, 500), (2, 1000), (3, 0), (4, 500), (5, 1000)] {
            line.submit(number, line.entry("t\(number)"), priority: priority)
        }
        #expect(line.drain() == ["start 2", "start 5", "start 1", "start 4", "start 3"])
    }

    @Test func `Priorities beyond the scale are those at its ends`() {
        var line = Line()
        for (number, priority) in [(1, 0), (2, -7), (3, 1000), (4, Int.max)] {
            line.submit(number, line.entry("t\(number)"), priority: priority)
        }
        #expect(line.drain() == ["start 3", "start 4", "start 1", "start 2"])
    }

    /// A high priority must not be left to the request that comes after.
    @Test(arguments: [true, false])
    func `The rank of a request that is gone is gone`(isWithdrawn: Bool) {
        var line = Line()
        let entry = line.entry("a")
        line.submit(1, entry, priority: 1000)
        line.submit(2, line.entry("b"), priority: 500)
        if isWithdrawn { #expect(line.pendingIndex.withdraw(entry: entry)?.id == Line.id(1)) }
        line.submit(3, entry, priority: 0)
        #expect(line.drain() == ["start 2", "start 3"])
    }

    @Test func `A withdrawn request does not run`() {
        var line = Line()
        let entry = line.entry("a")
        line.submit(1, entry)
        #expect(line.pendingIndex.withdraw(entry: entry)?.id == Line.id(1))
        #expect(line.pendingIndex.withdraw(entry: entry) == nil)
        #expect(line.drain().isEmpty)
    }

    // MARK: Dates

    @Test func `No request runs before its date`() {
        var line = Line()
        line.submit(1, line.entry("a"), earliest: 100)
        #expect(line.pendingIndex.nextDue == 100)
        #expect(line.drain().isEmpty)
        line.now = 99
        line.pendingIndex.becomeDue(now: 99)
        #expect(line.drain().isEmpty)
        line.now = 100
        line.pendingIndex.becomeDue(now: 100)
        #expect(line.drain() == ["start 1"])
        #expect(line.pendingIndex.nextDue == nil)
    }

    @Test func `The date of a replaced request does not count`() {
        var line = Line()
        let entry = line.entry("a")
        line.submit(1, entry, earliest: 10)
        line.submit(2, entry, earliest: 100)
        line.now = 50
        line.pendingIndex.becomeDue(now: 50)
        #expect(line.drain().isEmpty)
        line.now = 100
        line.pendingIndex.becomeDue(now: 100)
        #expect(line.drain() == ["start 2"])
    }

    @Test(arguments: [Int64(0), -1, .min])
    func `A date in the past is now`(earliest: Int64) {
        var line = Line()
        line.submit(1, line.entry("a"), earliest: earliest)
        #expect(line.drain() == ["start 1"])
    }

    @Test func `The last date of all is never due`() {
        var line = Line()
        line.submit(1, line.entry("a"), earliest: .max)
        #expect(line.pendingIndex.nextDue == .max)
        line.pendingIndex.becomeDue(now: .max - 1)
        #expect(line.drain().isEmpty)
    }

    @Test func `A clock that goes back loses no request`() {
        var line = Line()
        line.submit(1, line.entry("a"), earliest: 100)
        line.pendingIndex.becomeDue(now: 100)
        line.now = 50
        #expect(line.drain().isEmpty)
        #expect(line.pendingIndex.nextDue == 100)
        line.now = 100
        line.pendingIndex.becomeDue(now: 100)
        #expect(line.drain() == ["start 1"])
    }

    /// A handler that submits for next year again and again, and changes its mind each time.
    @Test(.timeLimit(.minutes(5)))
    func `The dates of replaced requests do not pile up`() {
        var line = Line()
        let entry = line.entry("a")
        for number in 1...100_000 {
            line.submit(number, entry, earliest: 1_000_000 + Int64(number % 2))
        }
        // Remaining entries of the others would appear here, each as a turn of the loop.
        line.now = 2_000_000
        line.pendingIndex.becomeDue(now: line.now)
        #expect(line.drain() == ["start 100000"])
        #expect(line.pendingIndex.nextDue == nil)
    }

    // MARK: What stands in the way

    @Test func `A request that is turned away waits and keeps its place`() {
        var line = Line()
        let first = line.entry("a")
        line.submit(1, first)
        #expect(line.pendingIndex.next(now: 0) { _, _ in false } == nil)
        #expect(line.drain().isEmpty)
        line.submit(2, line.entry("b"))
        line.pendingIndex.recheck(entry: first, now: 0)
        #expect(line.drain() == ["start 1", "start 2"])
    }

    @Test func `Is asked whether its own request can start`() {
        var line = Line()
        let entry = line.pendingIndex.entry(for: "a", definition: 42, overlap: .queue)
        line.submit(1, entry)
        var asked: [Int] = []
        _ = line.pendingIndex.next(now: 0) { request, definition in
            #expect(request.id == Line.id(1))
            asked.append(definition)
            return false
        }
        #expect(asked == [42])
    }

    @Test func `Trying again without a request does nothing`() {
        var line = Line()
        line.pendingIndex.recheck(entry: line.entry("a"), now: 0)
        #expect(line.drain().isEmpty)
    }

    // MARK: Overlap

    @Test func `Queue waits for the run under way`() {
        var line = Line()
        let entry = line.entry("a", .queue)
        line.submit(1, entry)
        #expect(line.drain() == ["start 1"])
        line.submit(2, entry)
        #expect(line.drain().isEmpty)
        line.pendingIndex.finished(entry: entry, now: 0)
        #expect(line.drain() == ["start 2"])
    }

    @Test func `Skip drops the request`() {
        var line = Line()
        let entry = line.entry("a", .skip)
        line.submit(1, entry)
        #expect(line.drain() == ["start 1"])
        line.submit(2, entry)
        #expect(line.drain() == ["skip 2"])
        line.pendingIndex.finished(entry: entry, now: 0)
        #expect(line.drain().isEmpty)
    }

    @Test func `Replace stops the run under way and then starts`() {
        var line = Line()
        let entry = line.entry("a", .replace)
        line.submit(1, entry)
        #expect(line.drain() == ["start 1"])
        line.submit(2, entry)
        #expect(line.drain() == ["displace"])
        #expect(line.pendingIndex.contains(Line.id(2)))
        line.pendingIndex.finished(entry: entry, now: 0)
        #expect(line.drain() == ["start 2"])
    }

    @Test func `Allow runs both`() {
        var line = Line()
        let entry = line.entry("a", .allow)
        line.submit(1, entry)
        #expect(line.drain() == ["start 1"])
        line.submit(2, entry)
        #expect(line.drain() == ["start 2"])
        #expect(line.pendingIndex.entries[entry].running == 2)
    }

    // MARK: Simulated requests

    @Test func `Simulated requests replace nothing and go first oldest first`() {
        var line = Line()
        let entry = line.entry("a")
        #expect(line.submit(1, entry) == nil)
        #expect(line.submit(2, entry, isManual: true) == nil)
        #expect(line.submit(3, entry, isManual: true) == nil)
        #expect([1, 2, 3].allSatisfy { line.pendingIndex.contains(Line.id($0)) })
        #expect(line.drain() == ["start 2"])
        line.pendingIndex.finished(entry: entry, now: 0)
        #expect(line.drain() == ["start 3"])
        line.pendingIndex.finished(entry: entry, now: 0)
        #expect(line.drain() == ["start 1"])
    }

    @Test func `A simulated request does not wait for a date`() {
        var line = Line()
        line.submit(1, line.entry("a"), earliest: 1_000, isManual: true)
        #expect(line.drain() == ["start 1"])
    }

    @Test func `All overlapping requests return when they are free`() {
        var line = Line()
        let entry = line.entry("a", .allow)
        for number in 1...3 { line.submit(number, entry, isManual: true) }
        #expect(line.pendingIndex.next(now: 0) { _, _ in false } == nil)
        line.pendingIndex.recheck(entry: entry, now: 0)
        #expect(line.drain() == ["start 1", "start 2", "start 3"])
    }

    @Test func `Many simulated requests keep their order`() {
        var line = Line()
        let entry = line.entry("a", .allow)
        for number in 1...5_000 { line.submit(number, entry, isManual: true) }
        #expect(line.drain() == (1...5_000).map { "start \($0)" })
    }
}
