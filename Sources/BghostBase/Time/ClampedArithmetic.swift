// SPDX-License-Identifier: Apache-2.0

extension FixedWidthInteger {
    /// The sum, clamped to the type's range.
    @inlinable
    package func addingClamped(_ other: Self) -> Self {
        let (sum, overflow) = addingReportingOverflow(other)
        guard overflow else { return sum }
        return other < 0 ? .min : .max
    }

    /// The product of two numbers that are not negative, clamped to the type's range.
    @inlinable
    package func multipliedClamped(by factor: Self) -> Self {
        let (product, overflow) = multipliedReportingOverflow(by: factor)
        return overflow ? .max : product
    }

    /// The difference, clamped to the type's range.
    @inlinable
    package func subtractingClamped(_ other: Self) -> Self {
        let (difference, overflow) = subtractingReportingOverflow(other)
        guard overflow else { return difference }
        return other < 0 ? .max : .min
    }
}
