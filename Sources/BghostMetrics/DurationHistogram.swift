// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

/// Durations, counted by upper bound as in a histogram of Prometheus.
package struct DurationHistogram: Equatable, Sendable {
    /// The upper bounds of the buckets, nanoseconds: 1 ms to 1 h.
    static let bounds: [UInt64] = [
        1_000_000, 5_000_000, 25_000_000, 100_000_000, 500_000_000, 1_000_000_000, 5_000_000_000,
        10_000_000_000, 30_000_000_000, 60_000_000_000, 300_000_000_000, 900_000_000_000,
        3_600_000_000_000,
    ]

    /// The number of durations in each bucket, not cumulative; longer ones than the last bound are at the end.
    private(set) var counts = [UInt64](repeating: 0, count: bounds.count + 1)
    /// The sum of all durations, nanoseconds; it stops at 584 years.
    package private(set) var sum: UInt64 = 0

    package init() {}

    /// The number of durations.
    package var count: UInt64 { counts.reduce(0, +) }

    /// - Parameter duration: nanoseconds.
    package mutating func record(_ duration: UInt64) {
        let bucket = Self.bounds.firstIndex { duration <= $0 } ?? Self.bounds.count
        counts[bucket] += 1
        sum = sum.addingClamped(duration)
    }
}
