// SPDX-License-Identifier: Apache-2.0

/// A change of the daemon's wall clock by an operator, such as `+6h`.
package enum SimulatedClock: Equatable, Sendable {
    /// Move it by this many nanoseconds; negative values move it back.
    case by(Int64)
    /// Set it to this time, Unix nanoseconds.
    case to(Int64)
    /// Reset it to the machine's clock.
    case real

    /// The largest step, nanoseconds: a century.
    package static let stepMax: Int64 = 36_500 * 86_400_000_000_000
    /// The permitted times, Unix nanoseconds: 1970 to the end of 2199.
    package static let range: ClosedRange<Int64> = 0...7_258_118_399_999_999_999

    /// The error for an invalid text.
    package enum Failure: Error, Equatable, Sendable, CustomStringConvertible {
        case notAStep(String)
        case notATime(String)
        case outOfRange

        package var description: String {
            switch self {
            case .notAStep(let text):
                "`\(text)` is no step such as +6h or -30m; its units are d, h, m, s and ms"
            case .notATime(let text):
                "`\(text)` is no time; use +6h, -30m, 2026-12-24T12:00:00Z, or real to end the"
                    + " simulation"
            case .outOfRange: "the clock can show the years 1970 to 2199"
            }
        }
    }

    /// Parses `+6h`, `-1h30m`, `2026-12-24T12:00:00Z` or `real`.
    package init(_ text: some StringProtocol) throws(Failure) {
        let shown = PrintableText.escaped(String(text.prefix(60)))
        switch text.first {
        case "+", "-":
            guard let step = Self.step(text.dropFirst()) else { throw .notAStep(shown) }
            self = .by(text.first == "-" ? -step : step)
        case _ where text == "real": self = .real
        default:
            guard let time = Timestamp.unixNanoseconds(text) else { throw .notATime(shown) }
            guard Self.range.contains(time) else { throw .outOfRange }
            self = .to(time)
        }
    }

    /// The new offset of the daemon's clock.
    ///
    /// - Parameters:
    ///   - machine: the time of the machine's clock, Unix nanoseconds.
    ///   - offset: the current offset, nanoseconds.
    package func offset(machine: Int64, offset: Int64) throws(Failure) -> Int64 {
        let wanted: Int64
        switch self {
        case .real: return 0
        case .to(let time): wanted = time
        case .by(let step):
            let (shown, isOver) = machine.addingReportingOverflow(offset)
            let (sum, carry) = shown.addingReportingOverflow(step)
            guard !isOver, !carry else { throw .outOfRange }
            wanted = sum
        }
        let (difference, overflow) = wanted.subtractingReportingOverflow(machine)
        guard Self.range.contains(wanted), !overflow else { throw .outOfRange }
        return difference
    }

    private static let units: [String: Int64] = [
        "ms": 1_000_000, "s": 1_000_000_000, "m": 60_000_000_000, "h": 3_600_000_000_000,
        "d": 86_400_000_000_000,
    ]

    private static func step(_ text: some StringProtocol) -> Int64? {
        var rest = String(text)[...]
        var total: Int64 = 0
        guard !rest.isEmpty else { return nil }
        while !rest.isEmpty {
            let digits = rest.prefix { "0"..."9" ~= $0 }
            rest = rest.dropFirst(digits.count)
            let unit = rest.prefix { !("0"..."9" ~= $0) }
            rest = rest.dropFirst(unit.count)
            guard let number = Int64(digits), let length = units[String(unit)] else { return nil }
            let (part, overflow) = number.multipliedReportingOverflow(by: length)
            let (sum, carry) = total.addingReportingOverflow(part)
            guard !overflow, !carry, sum <= stepMax else { return nil }
            total = sum
        }
        return total
    }
}
