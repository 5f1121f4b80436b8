// SPDX-License-Identifier: Apache-2.0

internal import CBghostSystem
internal import Glibc

/// Reports when the wall clock is set, which changes the time until every date.
///
/// Slewing the clock, as time daemons do, is not reported. Use it on one thread.
package struct ClockWatch: ~Copyable {
    /// A descriptor that is readable once the clock was set.
    package let fd: Int32

    package init() throws(SystemError) {
        fd = try checked(bgs_clock_watch(), "watch the clock")
    }

    deinit { close(fd) }

    /// Waits for the next change; call it each time the descriptor is readable.
    package func rearm() {
        // The same call succeeded in `init`. If it failed, a clock step would be noticed at the
        // next date.
        _ = bgs_clock_watch_arm(fd)
    }
}
