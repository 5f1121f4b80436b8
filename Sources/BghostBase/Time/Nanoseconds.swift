// SPDX-License-Identifier: Apache-2.0

extension Duration {
    /// The whole nanoseconds, at least 0 and at most about 292 years.
    @inlinable
    package var clampedNanoseconds: UInt64 {
        let (seconds, attoseconds) = components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        guard seconds < 9_000_000_000 else { return UInt64(Int64.max) }
        return UInt64(seconds) * 1_000_000_000 + UInt64(attoseconds) / 1_000_000_000
    }

    /// Creates a duration of a number of nanoseconds, at most about 292 years.
    @inlinable
    package init(nanoseconds: UInt64) {
        self = .nanoseconds(Int64(clamping: nanoseconds))
    }
}
