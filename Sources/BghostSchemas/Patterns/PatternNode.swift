// SPDX-License-Identifier: Apache-2.0

/// The syntax tree of a pattern.
indirect enum PatternNode: Equatable, Sendable {
    case empty
    case set(ScalarSet)
    case sequence([PatternNode])
    case choice([PatternNode])
    /// `most` is `nil` for no limit.
    case repetition(PatternNode, least: Int, most: Int?)
    case start
    case end
}

/// A set of Unicode scalars.
struct ScalarSet: Equatable, Sendable {
    var ranges: [ClosedRange<UInt32>]
    var isNegated = false

    func contains(_ scalar: UInt32) -> Bool {
        ranges.contains { $0.contains(scalar) } != isNegated
    }

    init(_ ranges: [ClosedRange<UInt32>], isNegated: Bool = false) {
        self.ranges = ranges
        self.isNegated = isNegated
    }

    init(_ scalar: Unicode.Scalar) { self.init([scalar.value...scalar.value]) }

    static let digits = ScalarSet([0x30...0x39])
    static let word = ScalarSet([0x30...0x39, 0x41...0x5A, 0x5F...0x5F, 0x61...0x7A])
    /// White space and line ends of ECMA-262.
    static let space = ScalarSet([
        0x09...0x0D, 0x20...0x20, 0xA0...0xA0, 0x1680...0x1680, 0x2000...0x200A, 0x2028...0x2029,
        0x202F...0x202F, 0x205F...0x205F, 0x3000...0x3000, 0xFEFF...0xFEFF,
    ])
    /// All but line ends, which `.` stands for.
    static let notLineEnd = ScalarSet(
        [0x0A...0x0A, 0x0D...0x0D, 0x2028...0x2029],
        isNegated: true
    )

    var negated: ScalarSet { ScalarSet(ranges, isNegated: !isNegated) }

    /// The ranges of the set, also of a negated one.
    var positiveRanges: [ClosedRange<UInt32>] {
        guard isNegated else { return ranges }
        var result: [ClosedRange<UInt32>] = []
        var next: UInt32 = 0
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if range.lowerBound > next { result.append(next...range.lowerBound - 1) }
            next = max(next, range.upperBound + 1)
        }
        if next <= 0x10FFFF { result.append(next...0x10FFFF) }
        return result
    }
}

/// Why a pattern is refused, as the second half of a sentence.
struct PatternFault: Error, Equatable {
    var reason: String

    init(_ reason: String) { self.reason = reason }
}
