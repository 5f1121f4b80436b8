// SPDX-License-Identifier: Apache-2.0

package import BghostCore
internal import CBghostSystem
internal import Glibc

/// What the kernel knows of its wall clock.
package enum KernelClock {
    /// Why what it shows may be wrong; `nil` if nothing says so.
    package static func doubt(unix: Int64) -> ClockDoubt? {
        var time = timespec()
        // The time that the machine slept counts: its clock went on meanwhile.
        guard clock_gettime(CLOCK_BOOTTIME, &time) == 0 else { return nil }
        let uptime = UInt64(max(0, time.tv_sec)) * 1_000_000_000 + UInt64(max(0, time.tv_nsec))
        return ClockDoubt(unix: unix, uptime: uptime, isSynchronised: isSynchronised)
    }

    /// Whether somebody keeps it right; `nil` if the kernel does not tell, as in some sandboxes.
    package static var isSynchronised: Bool? {
        let answer = bgs_clock_is_kept()
        return answer < 0 ? nil : answer == 1
    }
}
