// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

/// Why a text is not a quantity, and what the user may have meant.
struct QuantityFault: Error, Equatable {
    /// A clause such as "it has no unit".
    var reason: String
    var suggestion: String?

    init(_ reason: String, suggestion: String? = nil) {
        self.reason = reason
        self.suggestion = suggestion
    }
}

/// A notation for quantities: a whole number directly followed by a unit.
struct QuantityNotation: Sendable {
    struct Unit: Sendable {
        var name: String
        /// The size of this unit in the smallest unit.
        var factor: UInt64
    }

    /// The units, the smallest first.
    var units: [Unit]
    /// Names that other notations use for a unit, in lower case.
    var synonyms: [String: String]
    /// The unit that a number without a unit most likely has.
    var usualUnit: String
    /// The kind of quantity, for messages: "a size".
    var noun: String
    var example: String

    /// In milliseconds.
    static let duration = QuantityNotation(
        units: [
            Unit(name: "ms", factor: 1), Unit(name: "s", factor: 1000),
            Unit(name: "m", factor: 60_000), Unit(name: "h", factor: 3_600_000),
            Unit(name: "d", factor: 86_400_000),
        ],
        synonyms: [
            "msec": "ms", "millis": "ms", "milliseconds": "ms", "sec": "s", "secs": "s",
            "second": "s", "seconds": "s", "min": "m", "mins": "m", "minute": "m", "minutes": "m",
            "hr": "h", "hour": "h", "hours": "h", "day": "d", "days": "d",
        ],
        usualUnit: "s",
        noun: "a duration",
        example: "30s"
    )

    /// In bytes.
    static let size = QuantityNotation(
        units: [
            Unit(name: "B", factor: 1), Unit(name: "kB", factor: 1000),
            Unit(name: "KiB", factor: 1 << 10), Unit(name: "MB", factor: 1_000_000),
            Unit(name: "MiB", factor: 1 << 20), Unit(name: "GB", factor: 1_000_000_000),
            Unit(name: "GiB", factor: 1 << 30),
        ],
        synonyms: [
            "k": "KiB", "ki": "KiB", "m": "MiB", "mi": "MiB", "g": "GiB", "gi": "GiB",
            "byte": "B", "bytes": "B",
        ],
        usualUnit: "B",
        noun: "a size",
        example: "128MiB"
    )

    /// In hundredths.
    static let share = QuantityNotation(
        units: [Unit(name: "%", factor: 1)],
        synonyms: ["percent": "%"],
        usualUnit: "%",
        noun: "a share",
        example: "50%"
    )

    /// Parses a quantity; returns it in the smallest unit.
    func parse(_ text: String) throws(QuantityFault) -> UInt64 {
        let digits = text.utf8.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")) ~= $0 }
        let rest = String(text.utf8.dropFirst(digits.count)) ?? ""
        guard !digits.isEmpty else {
            throw QuantityFault("it does not begin with a number")
        }
        guard let unit = units.first(where: { $0.name == rest }) else {
            throw fault(digits: String(digits) ?? "", rest: rest)
        }
        let number = UInt64(String(digits) ?? "")
        guard let number, case let (amount, overflow) = unit.product(with: number), !overflow else {
            throw QuantityFault("the number is too large")
        }
        return amount
    }

    private func fault(digits: String, rest: String) -> QuantityFault {
        guard !rest.isEmpty else {
            return QuantityFault("it has no unit", suggestion: digits + usualUnit)
        }
        let word = rest.drop { $0 == " " }
        if rest.hasPrefix("."), let whole = wholeAmount(digits + rest) {
            return QuantityFault("the number is not whole", suggestion: whole)
        }
        guard let unit = unitName(like: String(word)) else {
            let names = units.map(\.name).joined(separator: ", ")
            return QuantityFault("\(String(word).quoted) is no unit; there are \(names)")
        }
        let reason = rest.hasPrefix(" ") ? "a space stands before the unit" : nil
        return QuantityFault(
            reason ?? "\(String(word).quoted) is not how the unit is written",
            suggestion: digits + unit
        )
    }

    private func unitName(like word: String) -> String? {
        if let unit = units.first(where: { $0.name == word }) { return unit.name }
        let lowered = word.lowercased()
        return synonyms[lowered] ?? units.first { $0.name.lowercased() == lowered }?.name
    }

    /// Rewrites "1.5h" as "90m": the same quantity as a whole number of a smaller unit.
    private func wholeAmount(_ text: String) -> String? {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let whole = UInt64(parts[0]) else { return nil }
        let fraction = parts[1].prefix { $0.isASCII && $0.isNumber }
        let name = String(parts[1].dropFirst(fraction.count))
        guard (1...3).contains(fraction.count), let numerator = UInt64(fraction),
            let unit = units.first(where: { $0.name == name })
        else { return nil }
        let denominator: UInt64 = [10, 100, 1000][fraction.count - 1]
        let (scaled, overflow) = whole.multipliedReportingOverflow(by: denominator)
        guard !overflow, case let (sum, tooLarge) = scaled.addingReportingOverflow(numerator),
            !tooLarge, case let (product, overflow) = unit.product(with: sum), !overflow,
            product % denominator == 0
        else { return nil }
        return describe(product / denominator)
    }

    /// Formats a quantity in the largest unit that needs no fraction.
    func describe(_ amount: UInt64) -> String {
        let unit = units.last { amount >= $0.factor && amount % $0.factor == 0 } ?? units[0]
        return String(amount / unit.factor) + unit.name
    }

    /// A regular expression for the accepted texts; it does not check for overflow.
    var pattern: String { "^[0-9]+(" + units.map(\.name).joined(separator: "|") + ")$" }
}

extension QuantityNotation.Unit {
    fileprivate func product(with number: UInt64) -> (UInt64, Bool) {
        let (partialValue, overflow) = factor.multipliedReportingOverflow(by: number)
        return (partialValue, overflow)
    }
}
