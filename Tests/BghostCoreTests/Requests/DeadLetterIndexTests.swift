// SPDX-License-Identifier: Apache-2.0

import BghostCore
import Testing

@Suite struct DeadLetterIndexTests {
    private func id(_ number: UInt64) -> RunID { RunID(high: 0, low: number) }

    @Test func atTheLimitTheOldestOfThePluginIsDropped() {
        var index = DeadLetterIndex(limit: 2)
        #expect(index.add(id(1), plugin: "p") == nil)
        #expect(index.add(id(2), plugin: "q") == nil)
        #expect(index.add(id(3), plugin: "p") == nil)
        #expect(index.add(id(4), plugin: "p") == id(1))
        #expect(index.count(of: "p") == 2 && index.count(of: "q") == 1)
        #expect(index.dropped == ["p": 1])
    }

    /// One that was redriven and died again is the newest.
    @Test func aLetterThatIsDeadNoMoreIsNotDropped() {
        var index = DeadLetterIndex(limit: 2)
        _ = index.add(id(1), plugin: "p")
        _ = index.add(id(2), plugin: "p")
        _ = index.take(.discarded(id(1)))
        #expect(index.count(of: "p") == 1)
        #expect(index.add(id(1), plugin: "p") == nil)
        #expect(index.add(id(3), plugin: "p") == id(2))
        #expect(index.add(id(4), plugin: "p") == id(1))
    }

    @Test func whatComesAndGoesLeavesNothing() {
        var index = DeadLetterIndex(limit: 3)
        for number in 0..<100_000 as Range<UInt64> {
            #expect(index.add(id(number), plugin: "p") == nil)
            _ = index.take(.discarded(id(number)))
        }
        #expect(index.count(of: "p") == 0 && index.dropped.isEmpty)
    }
}
