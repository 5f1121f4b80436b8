// SPDX-License-Identifier: Apache-2.0

internal import CBghostSystem

/// The clock of limits: `CLOCK_MONOTONIC` in nanoseconds, which stands still while the machine sleeps.
package enum Monotonic {
    package static var now: UInt64 { bgs_monotonic_ns() }
}

/// The clock of dates: Unix time in nanoseconds.
package enum WallClock {
    package static var now: Int64 { bgs_realtime_ns() }
}
