// SPDX-License-Identifier: Apache-2.0

/// One instant on both clocks: limits use the monotonic clock, dates use the wall clock, which may be set at
/// any time.
package struct Moment: Equatable, Codable, Sendable {
    package var monotonic: MonotonicInstant
    /// Unix nanoseconds.
    package var unix: Int64
    /// How long the machine has been suspended since boot, nanoseconds; the monotonic clock does not run
    /// during that time.
    @usableFromInline var slept: UInt64

    @inlinable
    package init(monotonic: MonotonicInstant, unix: Int64, slept: UInt64 = 0) {
        self.monotonic = monotonic
        self.unix = unix
        self.slept = slept
    }

    /// Decodes a moment, also from journals of versions without `slept`.
    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        monotonic = try values.decode(MonotonicInstant.self, forKey: .monotonic)
        unix = try values.decode(Int64.self, forKey: .unix)
        slept = try values.decodeIfPresent(UInt64.self, forKey: .slept) ?? 0
    }

    /// The time since boot, suspended or not, in which leases are counted.
    package var sinceBoot: MonotonicInstant { monotonic + slept }

    /// The difference between the wall clock and the time since boot, nanoseconds; constant unless the wall
    /// clock is set.
    package var wallOffset: Int64 {
        unix.subtractingClamped(Int64(clamping: (monotonic + slept).nanoseconds))
    }
}
