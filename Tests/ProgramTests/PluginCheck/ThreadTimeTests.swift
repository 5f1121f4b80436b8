// SPDX-License-Identifier: Apache-2.0

@testable import BghostCheck
import Testing

/// What threads of Go want in a window, also on a machine that has no processor for them.
@Suite struct ThreadTimeTests {
    private func time(_ nanoseconds: UInt64, _ isReady: Bool = false) -> [Int32: ThreadTime] {
        [7: ThreadTime(nanoseconds: nanoseconds, isReady: isReady)]
    }

    private func wanted(
        _ before: [Int32: ThreadTime],
        _ end: [Int32: ThreadTime],
        _ later: [Int32: ThreadTime]
    ) -> UInt64 { ThreadTime.wanted(before, end, later, window: 200) }

    @Test func `A thread that rests wants nothing`() {
        #expect(wanted(time(50), time(50), time(50)) == 0)
        #expect(!ThreadTime.hasWaiting(time(50), time(50)))
        // What it does after the window does not count.
        #expect(wanted(time(50), time(53), time(90)) == 3)
    }

    @Test func `A thread that waited for the whole window wants what it is counted later`() {
        // The kernel has counted nothing yet.
        #expect(ThreadTime.hasWaiting(time(50, true), time(50, true)))
        #expect(!ThreadTime.hasWaiting(time(50, true), time(350, true)))
        #expect(wanted(time(50, true), time(50, true), time(350, true)) == 300)
        #expect(wanted(time(50, true), time(50, true), time(350)) == 300)
    }

    @Test func `A thread that never gets a processor wants the window`() {
        #expect(wanted(time(50, true), time(50, true), time(50, true)) == 200)
    }

    @Test func `A thread that begins in the window or ends after it counts`() {
        #expect(wanted([:], time(30), time(30)) == 30)
        #expect(!ThreadTime.hasWaiting(time(50, true), [:]))
        // How long it waited is not known any more.
        #expect(wanted(time(50), time(60, true), [:]) == 200)
    }

    @Test func `The threads of a plugin are added up`() {
        let before: [Int32: ThreadTime] = [
            1: ThreadTime(nanoseconds: 10, isReady: true),
            2: ThreadTime(nanoseconds: 5, isReady: false),
        ]
        let end: [Int32: ThreadTime] = [
            1: ThreadTime(nanoseconds: 40, isReady: false),
            2: ThreadTime(nanoseconds: 6, isReady: true),
        ]
        var later = end
        later[2]?.nanoseconds = 8
        #expect(wanted(before, end, later) == 30 + 3)
    }
}
