// SPDX-License-Identifier: Apache-2.0

package import FoundationEssentials

extension Duration {
    /// Whole milliseconds, rounded up, clamped to the range of the ABI; 0 if negative.
    var wholeMilliseconds: Int64 {
        guard self > .zero else { return 0 }
        let (seconds, attoseconds) = components
        let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        let fraction = (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
        let (sum, overflowsToo) = scaled.addingReportingOverflow(fraction)
        return overflow || overflowsToo ? .max : sum
    }
}

extension Duration {
    /// Whole nanoseconds, rounded up, clamped to the range of the ABI.
    var wholeNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let isUneven = attoseconds > 0 && attoseconds % 1_000_000_000 != 0
        let fraction = attoseconds / 1_000_000_000 + (isUneven ? 1 : 0)
        let (sum, overflowsToo) = scaled.addingReportingOverflow(fraction)
        guard overflow || overflowsToo else { return sum }
        return seconds < 0 ? .min : .max
    }
}

extension Date {
    /// Whole milliseconds since 1970, from 0, which means "at once", to the last that the host accepts,
    /// whose nanoseconds are in the range of `Int64`: `Date.distantFuture` is beyond that.
    package var unixMilliseconds: Int64 {
        let value = (timeIntervalSince1970 * 1000).rounded()
        guard value > 0 else { return 0 }
        let last = Int64.max / 1_000_000
        return min(Int64(exactly: value) ?? last, last)
    }

    /// Converts seconds and their fraction separately: nanoseconds since 1970 exceed the precision
    /// of a `Double`.
    init(unixNanoseconds: Int64) {
        let (seconds, rest) = unixNanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        self.init(timeIntervalSince1970: Double(seconds) + Double(rest) / 1_000_000_000)
    }

    package init(unixMilliseconds: Int64) {
        self.init(timeIntervalSince1970: Double(unixMilliseconds) / 1000)
    }
}
