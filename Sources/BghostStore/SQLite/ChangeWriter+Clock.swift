// SPDX-License-Identifier: Apache-2.0

internal import Glibc

extension ChangeWriter {
    /// The time of the wall clock, Unix nanoseconds.
    static func now() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        let (seconds, overflow) = Int64(time.tv_sec).multipliedReportingOverflow(by: 1_000_000_000)
        return overflow ? .max : seconds &+ Int64(time.tv_nsec)
    }
}
