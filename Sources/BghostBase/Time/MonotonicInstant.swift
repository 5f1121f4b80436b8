// SPDX-License-Identifier: Apache-2.0

/// An instant of the machine's monotonic clock, in nanoseconds since the machine started.
///
/// It is a type of its own, so that the compiler refuses it where a date of the wall clock, which is an
/// `Int64` of Unix nanoseconds, or a length, which is a `UInt64` of nanoseconds, belongs. It means nothing
/// on another machine or after a restart of this one, so the store has none; recordings of decisions have
/// them, since a replay takes its clock from the recording.
///
/// ```swift
/// let deadline = now + limit
/// if now >= deadline { kill() }
/// let late = now.since(deadline)
/// ```
@frozen
package struct MonotonicInstant: Comparable, Hashable, Sendable {
    package let nanoseconds: UInt64

    @inlinable
    package init(nanoseconds: UInt64) { self.nanoseconds = nanoseconds }

    /// The start of the machine, before every other instant.
    @inlinable
    package static var zero: MonotonicInstant { MonotonicInstant(nanoseconds: 0) }

    /// An instant that does not come, after every other instant.
    @inlinable
    package static var never: MonotonicInstant { MonotonicInstant(nanoseconds: .max) }

    @inlinable
    package static func < (left: MonotonicInstant, right: MonotonicInstant) -> Bool {
        left.nanoseconds < right.nanoseconds
    }

    /// The instant that many nanoseconds later, at most `never`.
    @inlinable
    package static func + (instant: MonotonicInstant, nanoseconds: UInt64) -> MonotonicInstant {
        MonotonicInstant(nanoseconds: instant.nanoseconds.addingClamped(nanoseconds))
    }

    @inlinable
    package static func += (instant: inout MonotonicInstant, nanoseconds: UInt64) {
        instant = instant + nanoseconds
    }

    /// The instant that many nanoseconds earlier, at least `zero`.
    @inlinable
    package static func - (instant: MonotonicInstant, nanoseconds: UInt64) -> MonotonicInstant {
        MonotonicInstant(nanoseconds: instant.nanoseconds.subtractingClamped(nanoseconds))
    }

    /// The nanoseconds from an earlier instant to this one; 0 if the other one is later.
    @inlinable
    package func since(_ earlier: MonotonicInstant) -> UInt64 {
        nanoseconds.subtractingClamped(earlier.nanoseconds)
    }
}

extension MonotonicInstant: Codable {
    /// Decodes the number of nanoseconds, as recorded decisions contain it.
    package init(from decoder: any Decoder) throws {
        nanoseconds = try decoder.singleValueContainer().decode(UInt64.self)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(nanoseconds)
    }
}
