// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

/// A JSON number without rounding: `±0.d₁d₂d₃… × 10^point`.
///
/// A `Double` would take 9007199254740993 for its neighbour, which may be on the other side of a limit.
struct DecimalNumber: Equatable, Sendable {
    /// False for zero.
    private(set) var isNegative = false
    /// The digits 0 to 9, with no zero at either end; empty for zero.
    private(set) var digits: [UInt8] = []
    /// The position of the decimal point relative to the first digit.
    private(set) var point = 0

    /// Exponents beyond this one are taken for it: no limit of a schema can lie between them.
    private static let exponentMax = 1 << 40

    /// - Parameter text: a number of JSON, as `JSONReader` accepts it.
    init(_ text: String) {
        var whole = 0
        var isFraction = false
        var exponent = 0
        var bytes = text.utf8[...]
        loop: while let byte = bytes.popFirst() {
            switch byte {
            case UInt8(ascii: "-"): isNegative = true
            case UInt8(ascii: "."): isFraction = true
            case UInt8(ascii: "e"), UInt8(ascii: "E"):
                exponent = Self.exponent(bytes)
                break loop
            default:
                let digit = byte &- UInt8(ascii: "0")
                if digits.isEmpty, digit == 0 {
                    if isFraction { whole -= 1 }
                    continue
                }
                digits.append(digit)
                if !isFraction { whole += 1 }
            }
        }
        while digits.last == 0 { digits.removeLast() }
        guard !digits.isEmpty else {
            isNegative = false
            return
        }
        point = whole + exponent
    }

    private static func exponent(_ bytes: Substring.UTF8View) -> Int {
        var value = 0
        for byte in bytes where byte >= UInt8(ascii: "0") {
            value = min(exponentMax, value * 10 + Int(byte &- UInt8(ascii: "0")))
        }
        return bytes.first == UInt8(ascii: "-") ? -value : value
    }

    var isZero: Bool { digits.isEmpty }

    /// Whether it is whole, in any notation: `1e3` and `10.0` are.
    var isWhole: Bool { digits.count <= point || isZero }

    /// Equal for equal numbers, and different for others.
    var canonicalText: String {
        let sign = isNegative ? "-" : ""
        return sign + String(decoding: digits.map { $0 + UInt8(ascii: "0") }, as: UTF8.self)
            + "e\(point)"
    }
}

extension DecimalNumber: Comparable {
    static func < (a: DecimalNumber, b: DecimalNumber) -> Bool {
        if a.isNegative != b.isNegative { return a.isNegative }
        return a.isNegative ? b.isMagnitudeLess(than: a) : a.isMagnitudeLess(than: b)
    }

    private func isMagnitudeLess(than other: DecimalNumber) -> Bool {
        if isZero || other.isZero { return isZero && !other.isZero }
        if point != other.point { return point < other.point }
        return digits.lexicographicallyPrecedes(other.digits)
    }
}

/// The value of `multipleOf`.
struct DecimalDivisor: Sendable {
    private let significand: UInt64
    private let exponent: Int

    /// `nil` unless it is above 0 and has at most 18 digits.
    init?(_ number: DecimalNumber) {
        guard !number.isZero, !number.isNegative, number.digits.count <= 18 else { return nil }
        significand = number.digits.reduce(0) { $0 * 10 + UInt64($1) }
        exponent = number.point - number.digits.count
    }

    /// Whether a number is a multiple; linear in its digits.
    func divides(_ number: DecimalNumber) -> Bool {
        guard !number.isZero else { return true }
        let shift = number.point - number.digits.count - exponent
        // Its last digit is no zero, so no power of ten divides it.
        guard shift >= 0 else { return false }
        let rest = number.digits.reduce(UInt64(0)) { product($0, 10, plus: UInt64($1)) }
        return product(rest, powerOfTen(shift)) == 0
    }

    private func powerOfTen(_ exponent: Int) -> UInt64 {
        var (result, base, rest) = (1 % significand, 10 % significand, exponent)
        while rest > 0 {
            if rest & 1 == 1 { result = product(result, base) }
            base = product(base, base)
            rest >>= 1
        }
        return result
    }

    private func product(_ a: UInt64, _ b: UInt64, plus c: UInt64 = 0) -> UInt64 {
        let wide = (a % significand).multipliedFullWidth(by: b % significand)
        let rest = significand.dividingFullWidth(wide).remainder
        // Below 2 × 10^18, so the sum fits.
        return (rest + c % significand) % significand
    }
}
