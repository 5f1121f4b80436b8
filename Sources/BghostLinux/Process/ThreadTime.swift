// SPDX-License-Identifier: Apache-2.0

internal import CBghostSystem
internal import Glibc

/// Processor time of the calling thread.
package enum ThreadTime {
    /// Nanoseconds since the thread began.
    package static var now: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
