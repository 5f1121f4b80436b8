// SPDX-License-Identifier: Apache-2.0

import BghostBase
@testable import BghostModel
import BghostTestSupport
import Testing

@Suite struct CrashLoopTests {
    private static let second: UInt64 = 1_000_000_000

    private static func at(_ nanoseconds: UInt64) -> MonotonicInstant {
        MonotonicInstant(nanoseconds: nanoseconds)
    }
    private var limits: CrashLoop.Limits { CrashLoop.Limits() }

    @Test func `Each crash doubles the pause, and the fifth is the last`() {
        var loop = CrashLoop()
        var now = Self.at(7 * Self.second)
        for length in [1, 2, 4, 8] as [UInt64] {
            #expect(loop.crashed(now: now, limits) == .pause(until: now + length * Self.second))
            now += length * Self.second
        }
        #expect(loop.crashed(now: now, limits) == .quarantine)
    }

    @Test func `Workers that crash together are one crash`() {
        var loop = CrashLoop()
        let now = Self.at(100 * Self.second)
        #expect(loop.crashed(now: now, limits) == .pause(until: now + Self.second))
        for step in 0..<50 as Range<UInt64> {
            #expect(loop.crashed(now: now + step * 20_000_000 - step, limits) == .counted)
        }
        let end = now + Self.second
        #expect(loop.crashed(now: end, limits) == .pause(until: end + 2 * Self.second))
    }

    @Test func `A crash ten minutes ago no longer counts`() {
        var loop = CrashLoop()
        let window = Self.at(limits.window)
        #expect(loop.crashed(now: 0, limits) == .pause(until: Self.at(Self.second)))
        // Four more, the last of them as the first falls out of the window.
        for step in 1...3 as ClosedRange<UInt64> {
            _ = loop.crashed(now: Self.at(step * 100 * Self.second), limits)
        }
        var atTheEdge = loop
        #expect(atTheEdge.crashed(now: window - 1, limits) == .quarantine)
        #expect(loop.crashed(now: window, limits) == .pause(until: window + 8 * Self.second))
    }

    @Test func `Five crashes within ten minutes quarantine`() {
        var loop = CrashLoop()
        for step in 0..<4 as Range<UInt64> {
            guard case .pause = loop.crashed(now: Self.at(step * 140 * Self.second), limits) else {
                Issue.record("crash \(step) ends in quarantine")
                return
            }
        }
        #expect(loop.crashed(now: Self.at(4 * 140 * Self.second), limits) == .quarantine)
    }

    @Test func `No computation overflows`() {
        var loop = CrashLoop()
        var limits = limits
        limits.crashesMax = .max
        limits.pause = .max / 2
        #expect(loop.crashed(now: .never - 1, limits) == .pause(until: .never))
        limits.pause = 0
        var free = CrashLoop()
        for now in (0..<100 as Range<UInt64>).map(Self.at) {
            #expect(free.crashed(now: now, limits) == .pause(until: now))
        }
    }
}
