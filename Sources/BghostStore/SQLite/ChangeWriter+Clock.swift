// SPDX-License-Identifier: Apache-2.0

internal import CBghostSystem

extension ChangeWriter {
    /// The time of the wall clock, Unix nanoseconds.
    static func now() -> Int64 { bgs_realtime_ns() }
}
