// SPDX-License-Identifier: Apache-2.0

internal import CBghostSystem
internal import Glibc

/// Tells when somebody sets the wall clock, which moves every date nearer or further away.
///
/// Slewing the clock, as time daemons do, is no such thing. It belongs to one thread.
package struct ClockWatch: ~Copyable {
    /// Readable once the clock was set.
    package let fd: Int32

    package init() throws(SystemError) {
        fd = try checked(bgs_clock_watch(), "watch the clock")
    }

    deinit { close(fd) }

    /// Waits for the next time; to be called whenever the descriptor is readable.
    package func rearm() {
        _ = bgs_clock_watch_arm(fd)
    }
}
