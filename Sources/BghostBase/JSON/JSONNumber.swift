// SPDX-License-Identifier: Apache-2.0

extension JSONNode {
    /// The number, if it is whole and fits exactly into 64 bits, in any notation: `1e3` and `10.0` are whole.
    package var int64: Int64? {
        guard let whole = wholeNumber else { return nil }
        if !whole.isNegative { return Int64(exactly: whole.magnitude) }
        let negated = Int64(truncatingIfNeeded: 0 &- whole.magnitude)
        return whole.magnitude <= 1 << 63 ? negated : nil
    }

    /// The number, if it is whole, not negative, and fits exactly into 64 bits.
    package var uint64: UInt64? {
        guard let whole = wholeNumber, !whole.isNegative || whole.magnitude == 0 else { return nil }
        return whole.magnitude
    }

    /// The nearest `Double`; `nil` if the number is too large.
    package var double: Double? {
        guard case .number(let text) = value, let number = Double(text), number.isFinite else {
            return nil
        }
        return number
    }

    private var wholeNumber: (isNegative: Bool, magnitude: UInt64)? {
        guard case .number(let text) = value else { return nil }
        var magnitude: UInt64 = 0
        // Count zeros until a later digit needs them, so that those of `10.00` do not matter.
        var zeros = 0
        var fractionDigits = 0
        var isFraction = false
        var exponent = 0
        var bytes = text.utf8[...]
        while let byte = bytes.popFirst() {
            switch byte {
            case UInt8(ascii: "-"): break
            case UInt8(ascii: "."): isFraction = true
            case UInt8(ascii: "e"), UInt8(ascii: "E"):
                // With an exponent beyond a machine word, only zero fits.
                exponent = Int(Substring(bytes)) ?? (bytes.first == UInt8(ascii: "-") ? .min : .max)
                bytes = bytes[bytes.endIndex...]
            case UInt8(ascii: "0"):
                zeros += 1
                fractionDigits += isFraction ? 1 : 0
            default:
                guard let scaled = Self.scale(magnitude, byPowerOfTen: zeros + 1) else {
                    return nil
                }
                let (sum, overflow) = scaled.addingReportingOverflow(
                    UInt64(byte &- UInt8(ascii: "0"))
                )
                guard !overflow else { return nil }
                magnitude = sum
                zeros = 0
                fractionDigits += isFraction ? 1 : 0
            }
        }
        let isNegative = text.utf8.first == UInt8(ascii: "-")
        guard magnitude > 0 else { return (isNegative, 0) }
        let (power, overflow) = (zeros - fractionDigits).addingReportingOverflow(exponent)
        guard !overflow, power >= 0,
            let result = Self.scale(magnitude, byPowerOfTen: power)
        else { return nil }
        return (isNegative, result)
    }

    private static func scale(_ magnitude: UInt64, byPowerOfTen power: Int) -> UInt64? {
        guard magnitude > 0 else { return 0 }
        guard power < 20 else { return nil }
        var result = magnitude
        for _ in 0..<power {
            let (product, overflow) = result.multipliedReportingOverflow(by: 10)
            guard !overflow else { return nil }
            result = product
        }
        return result
    }
}
