// SPDX-License-Identifier: Apache-2.0

package import BghostBase
internal import CBghostSystem

/// The clock for limits: `CLOCK_MONOTONIC` in nanoseconds, which stops while the machine sleeps.
package enum Monotonic {
    package static var now: MonotonicInstant { MonotonicInstant(nanoseconds: bgs_monotonic_ns()) }
}

/// The clock for dates: Unix time in nanoseconds.
package enum WallClock {
    package static var now: Int64 { bgs_realtime_ns() }
}
