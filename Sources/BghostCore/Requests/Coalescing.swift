// SPDX-License-Identifier: Apache-2.0

/// Has requests that are in no hurry begin together, so that the machine is woken once for many.
package enum Coalescing {
    /// The longest tolerance, nanoseconds: 30 days.
    package static let toleranceMax: Int64 = 30 * 86_400_000_000_000

    /// The instant within a window at which everybody meets whose window has it: the multiple of the
    /// largest power of two seconds since 1970.
    ///
    /// Nobody need know of the others: of two windows that both have that instant, it is the choice
    /// of both. A window without a whole second, or before 1970, begins at its beginning.
    ///
    /// - Parameters:
    ///   - earliest: the beginning of the window, Unix nanoseconds.
    ///   - tolerance: its length, nanoseconds.
    package static func instant(notBefore earliest: Int64, tolerance: Int64) -> Int64 {
        let second: Int64 = 1_000_000_000
        guard tolerance > 0, earliest > 0 else { return earliest }
        let first = (earliest - 1) / second + 1
        let last = earliest.addingClamped(tolerance) / second
        guard first <= last else { return earliest }
        // What `last` has in common with the second before the window stays, and below the highest
        // bit in which they differ all is 0: so the fewest bits are left, and it is in the window.
        let differing = UInt64((first - 1) ^ last)
        let below = Int64(1) << (63 - Int64(differing.leadingZeroBitCount)) - 1
        return (last & ~below) * second
    }
}

extension Request {
    /// Not before this time, with what its tolerance makes of it, Unix nanoseconds; `nil` if it has
    /// no date.
    var begin: Int64? {
        guard tolerance > 0 else { return earliestBegin }
        // A retry has a date of its own.
        if let aim, !isRetry { return aim }
        let window = window
        return Coalescing.instant(notBefore: window.earliest, tolerance: window.tolerance)
    }

    /// Between which times it may begin, without what has been chosen of it.
    private var window: (earliest: Int64, tolerance: Int64) {
        let earliest = earliestBegin ?? submittedAt
        let room = (latestBegin ?? .max).subtractingClamped(earliest)
        return (earliest, min(tolerance, max(0, room)))
    }

    /// Chooses the moment of its window that a habit speaks for, if one does.
    mutating func aim(at habit: UsePattern.Habit) {
        let window = window
        aim = habit.aim(notBefore: window.earliest, tolerance: window.tolerance)
    }
}
