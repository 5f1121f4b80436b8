// SPDX-License-Identifier: Apache-2.0

import BghostLinux
import BghostTestSupport
import Glibc
import Testing

// One after the other: a step is one for all watches.
@Suite(.ownThreads, .serialized) struct ClockWatchTests {
    /// Sets the clock forward by a nanosecond.
    ///
    /// To read it and to set it to that would set it back by what passes in between, also for the tests
    /// in other processes.
    private static func setClock() -> Bool {
        // The importer knows neither `clock_adjtime` nor its `struct timex`, of 64-bit fields.
        typealias Adjust = @convention(c) (Int32, UnsafeMutablePointer<Int>) -> Int32
        guard let symbol = dlsym(nil, "clock_adjtime") else { return false }
        var fields = [Int](repeating: 0, count: 32)
        let (modes, nanoseconds) = (0, 10)
        // ADJ_SETOFFSET and ADJ_NANO.
        fields[modes] = 0x0100 | 0x2000
        fields[nanoseconds] = 1
        return unsafeBitCast(symbol, to: Adjust.self)(CLOCK_REALTIME, &fields) >= 0
    }

    private func isReady(_ watch: Int32, within milliseconds: Int32) -> Bool {
        var wanted = pollfd(fd: watch, events: Int16(POLLIN), revents: 0)
        return poll(&wanted, 1, milliseconds) == 1
    }

    @Test func `No event without a clock step`() throws {
        var events: [Bool] = []
        try ClockWitness.look {
            let watch = try ClockWatch()
            let fd = watch.fd
            events = [isReady(fd, within: 0)]
            watch.rearm()
            events.append(isReady(fd, within: 0))
            extendLifetime(watch)
        }
        #expect(events == [false, false])
    }

    // Only who has CAP_SYS_TIME may, which root has not in every container.
    @Test(.enabled(if: Self.setClock(), "setting the clock needs CAP_SYS_TIME"))
    func `Each clock step is reported`() throws {
        let watch = try ClockWatch()
        let fd = watch.fd
        #expect(Self.setClock())
        #expect(isReady(fd, within: 60_000))
        var isReadyAgain = true
        try ClockWitness.look {
            watch.rearm()
            isReadyAgain = isReady(fd, within: 0)
        }
        #expect(!isReadyAgain)
        #expect(Self.setClock())
        #expect(isReady(fd, within: 60_000))
        extendLifetime(watch)
    }
}
