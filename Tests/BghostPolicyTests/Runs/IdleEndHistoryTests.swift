// SPDX-License-Identifier: Apache-2.0

import BghostModel
import BghostTestSupport
import Testing

@Suite struct IdleEndHistoryTests {
    private static let window: UInt64 = 600

    @Test func `A plugin without idle ends reports none`() {
        #expect(IdleEndHistory().news(now: 0, window: Self.window) == nil)
    }

    @Test func `An idle end is reported for as long as its crash counts`() {
        var history = IdleEndHistory()
        history.ended(for: "spun", now: 1000, wall: 10, window: Self.window)
        let first = IdleWorkerEnds(count: 1, since: 10, last: 10, reason: "spun")
        #expect(history.news(now: 1000, window: Self.window) == first)
        #expect(history.news(now: 1599, window: Self.window) == first)
        #expect(history.news(now: 1600, window: Self.window) == nil)
        // Each is news from its own time on.
        history.ended(for: "forked", now: 1599, wall: 20, window: Self.window)
        let second = IdleWorkerEnds(count: 2, since: 10, last: 20, reason: "forked")
        #expect(history.news(now: 2198, window: Self.window) == second)
        // An expired idle end does not count.
        history.ended(for: "spun", now: 2199, wall: 30, window: Self.window)
        let third = IdleWorkerEnds(count: 1, since: 30, last: 30, reason: "spun")
        #expect(history.news(now: 2199, window: Self.window) == third)
    }
}
