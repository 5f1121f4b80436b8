// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import CBghostSystem

extension Committer {
    static var now: MonotonicInstant { MonotonicInstant(nanoseconds: bgs_monotonic_ns()) }

    /// Unix nanoseconds.
    static var unix: Int64 { bgs_realtime_ns() }
}
