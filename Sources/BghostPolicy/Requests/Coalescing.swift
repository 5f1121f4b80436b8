// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostModel

/// Selects shared start times for requests with a tolerance, so that one wake-up serves many of them.
enum Coalescing {
    /// The longest tolerance, nanoseconds: 30 days.
    static let toleranceMax: Int64 = 30 * 86_400_000_000_000

    /// The shared instant of a window: of its whole seconds since 1970, the multiple of the largest power of
    /// two.
    ///
    /// The result depends on the window alone and needs no coordination: if each of two windows contains the
    /// instant of the other one, both have the same instant. For a window that contains no whole second, or
    /// that starts before 1970, the result is its start.
    ///
    /// - Parameters:
    ///   - earliest: the start of the window, Unix nanoseconds.
    ///   - tolerance: its length, nanoseconds.
    static func instant(notBefore earliest: Int64, tolerance: Int64) -> Int64 {
        let second: Int64 = 1_000_000_000
        guard tolerance > 0, earliest > 0 else { return earliest }
        let first = (earliest - 1) / second + 1
        let last = earliest.addingClamped(tolerance) / second
        guard first <= last else { return earliest }
        // Keep the leading bits that `last` shares with the second before the window, and the
        // highest bit in which they differ; clear all bits below. The result lies in the window and
        // has the most trailing zeros.
        let differing = UInt64((first - 1) ^ last)
        let below = Int64(1) << (63 - Int64(differing.leadingZeroBitCount)) - 1
        return (last & ~below) * second
    }
}

extension Request {
    /// The earliest time at which the request starts, with its tolerance applied, Unix nanoseconds;
    /// `nil` if it has no date.
    var begin: Int64? {
        guard tolerance > 0 else { return earliestBegin }
        // The chosen start applies to the first attempt only; a retry has its own date.
        if let chosenStart, !isRetry { return chosenStart }
        let window = window
        return Coalescing.instant(notBefore: window.earliest, tolerance: window.tolerance)
    }

    /// The window in which the request may start, regardless of its chosen start.
    private var window: (earliest: Int64, tolerance: Int64) {
        let earliest = earliestBegin ?? submittedAt
        let room = (latestBegin ?? .max).subtractingClamped(earliest)
        return (earliest, min(tolerance, max(0, room)))
    }

    /// Sets the start to the time in the window that a usage habit suggests; `nil` if it suggests none.
    mutating func chooseStart(by habit: UsePattern.Habit) {
        let window = window
        chosenStart = habit.start(notBefore: window.earliest, tolerance: window.tolerance)
    }
}
