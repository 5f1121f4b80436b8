// SPDX-License-Identifier: Apache-2.0

package import BghostBase
internal import CBghostSystem
internal import Glibc

/// The kernel's knowledge about the wall clock.
package enum KernelClock {
    /// Why the wall clock may be wrong; `nil` if there is no such indication.
    package static func doubt(unix: Int64) -> ClockDoubt? {
        // Include the time that the machine slept, since the wall clock advanced meanwhile.
        guard let uptime = UInt64(exactly: bgs_uptime_ns()) else { return nil }
        return ClockDoubt(unix: unix, uptime: uptime, isSynchronised: isSynchronised)
    }

    /// How long the machine has slept since boot, nanoseconds; 0 if the kernel does not report it.
    package static var slept: UInt64 {
        // A thread that is preempted between the two readings measures too much; the least of
        // several attempts is the most accurate.
        var least = UInt64.max
        for _ in 0..<3 {
            let before = bgs_monotonic_ns()
            guard let up = UInt64(exactly: bgs_uptime_ns()) else { return 0 }
            least = min(least, up > before ? up - before : 0)
        }
        return least < 1_000_000 ? 0 : least
    }

    /// Whether a time service keeps the clock synchronised; `nil` if the kernel does not report it,
    /// as in some sandboxes.
    static var isSynchronised: Bool? {
        let answer = bgs_clock_is_kept()
        return answer < 0 ? nil : answer == 1
    }
}
