// SPDX-License-Identifier: Apache-2.0

import BghostBase
@testable import BghostDispatch
import BghostPolicy
import Testing

@Suite struct DeadLetterIndexTests {
    private func id(_ number: UInt64) -> RunID { RunID(high: 0, low: number) }

    @Test func `At the limit the oldest of the plugin is dropped`() {
        var index = DeadLetterIndex(limit: 2)
        #expect(index.add(id(1), plugin: "p", task: "t") == nil)
        #expect(index.add(id(2), plugin: "q", task: "t") == nil)
        #expect(index.add(id(3), plugin: "p", task: "t") == nil)
        #expect(index.add(id(4), plugin: "p", task: "t") == id(1))
        #expect(index.count(of: "p") == 2 && index.count(of: "q") == 1)
        #expect(index.dropped == ["p": 1])
    }

    /// A dead letter that was redriven and failed again is the newest.
    @Test func `A letter that is dead no more is not dropped`() {
        var index = DeadLetterIndex(limit: 2)
        _ = index.add(id(1), plugin: "p", task: "t")
        _ = index.add(id(2), plugin: "p", task: "t")
        _ = index.apply(.discarded(id(1)))
        #expect(index.count(of: "p") == 1)
        #expect(index.add(id(1), plugin: "p", task: "t") == nil)
        #expect(index.add(id(3), plugin: "p", task: "t") == id(2))
        #expect(index.add(id(4), plugin: "p", task: "t") == id(1))
    }

    @Test func `Added and removed dead letters leave nothing`() {
        var index = DeadLetterIndex(limit: 3)
        for number in 0..<100_000 as Range<UInt64> {
            #expect(index.add(id(number), plugin: "p", task: "t") == nil)
            _ = index.apply(.discarded(id(number)))
        }
        #expect(index.count(of: "p") == 0 && index.dropped.isEmpty)
        #expect(index.count == 0 && index.tasks.isEmpty)
    }

    @Test func `A death looks at few others, however many dead letters there are`() {
        let (limit, count) = (100_000, 300_000)
        var index = DeadLetterIndex(limit: limit)
        for number in 0..<UInt64(count) {
            _ = index.add(id(number), plugin: "p", task: "t")
            // Every third one is redriven, and leaves a hole in the queue.
            if number % 3 == 0 { _ = index.apply(.discarded(id(number))) }
        }
        #expect(index.count == limit)
        // Amortized: each compaction follows as many deaths as it looks at, about.
        #expect(index.deathsVisited <= 3 * count, "\(index.deathsVisited)")
        let before = index.deathsVisited
        for number in 0..<1000 as Range<UInt64> {
            _ = index.apply(.discarded(id(UInt64(count) - 1 - number)))
        }
        #expect(index.deathsVisited == before)
    }

    @Test func `The count of each task is right after any change of its dead letters`() {
        var index = DeadLetterIndex(limit: 3)
        _ = index.add(id(1), plugin: "p", task: "a")
        _ = index.add(id(2), plugin: "p", task: "b")
        _ = index.add(id(3), plugin: "p", task: "b")
        #expect(index.tasks == ["a": 1, "b": 2])
        // It dies a second time without being redriven in between.
        #expect(index.add(id(1), plugin: "p", task: "a") == nil)
        #expect(index.tasks == ["a": 1, "b": 2] && index.count == 3)
        #expect(index.add(id(4), plugin: "p", task: "a") == id(2))
        #expect(index.tasks == ["a": 2, "b": 1])
        _ = index.apply(.discarded(id(3)))
        #expect(index.tasks == ["a": 2])
        #expect(index.contains(id(1)) && !index.contains(id(3)) && !index.contains(id(2)))
    }
}
