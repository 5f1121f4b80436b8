// SPDX-License-Identifier: Apache-2.0

import BghostLinux
import BghostTestSupport
import Glibc
import Testing

@Suite(.ownThreads) struct ClockWatchTests {
    /// Sets the clock to what it shows, which is to set it all the same.
    private static func setClock() -> Bool {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return clock_settime(CLOCK_REALTIME, &now) == 0
    }

    private func isReady(_ watch: Int32, within milliseconds: Int32) -> Bool {
        var wanted = pollfd(fd: watch, events: Int16(POLLIN), revents: 0)
        return poll(&wanted, 1, milliseconds) == 1
    }

    @Test func `No event without a clock step`() throws {
        let watch = try ClockWatch()
        let fd = watch.fd
        #expect(!isReady(fd, within: 0))
        watch.rearm()
        #expect(!isReady(fd, within: 0))
        extendLifetime(watch)
    }

    // Only who has CAP_SYS_TIME may, which root has not in every container.
    @Test(.enabled(if: Self.setClock(), "setting the clock needs CAP_SYS_TIME"))
    func `Each clock step is reported`() throws {
        let watch = try ClockWatch()
        let fd = watch.fd
        #expect(Self.setClock())
        #expect(isReady(fd, within: 5_000))
        watch.rearm()
        #expect(!isReady(fd, within: 0))
        #expect(Self.setClock())
        #expect(isReady(fd, within: 5_000))
        extendLifetime(watch)
    }
}
