// SPDX-License-Identifier: Apache-2.0

/// The public id of a run or a request: a ULID of 48 bits of milliseconds and 80 random bits.
///
/// Ids sort by time; their text has 26 characters.
package struct RunID: Hashable, Codable, Sendable, Comparable, CustomStringConvertible {
    package let high: UInt64
    package let low: UInt64

    @inlinable
    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    @inlinable
    package static func < (a: RunID, b: RunID) -> Bool {
        (a.high, a.low) < (b.high, b.low)
    }

    private static let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)

    package var description: String {
        String(unsafeUninitializedCapacity: 26) { buffer in
            var high = high
            var low = low
            for index in stride(from: 25, through: 0, by: -1) {
                buffer[index] = Self.alphabet[Int(low & 31)]
                low = low >> 5 | high << 59
                high >>= 5
            }
            return 26
        }
    }

    /// Parses 26 characters of Crockford's base 32; `nil` for any other text.
    package init?(_ text: some StringProtocol) {
        guard text.utf8.count == 26 else { return nil }
        var high: UInt64 = 0
        var low: UInt64 = 0
        for (index, byte) in text.utf8.enumerated() {
            let upper = byte >= UInt8(ascii: "a") ? byte & 0xDF : byte
            guard let digit = Self.alphabet.firstIndex(of: upper), index > 0 || digit < 8 else {
                return nil
            }
            high = high << 5 | low >> 59
            low = low << 5 | UInt64(digit)
        }
        self.init(high: high, low: low)
    }

    /// The range of all ids whose text has a prefix, in any case; `nil` if there are none.
    package static func range(ofPrefix prefix: some StringProtocol) -> ClosedRange<RunID>? {
        let rest = 26 - prefix.utf8.count
        guard (0..<26).contains(rest),
            let first = RunID(String(prefix) + String(repeating: "0", count: rest)),
            let last = RunID(String(prefix) + String(repeating: "Z", count: rest))
        else { return nil }
        return first...last
    }
}

/// Creates strictly increasing run ids, even within one millisecond and after the clock was set back.
package struct RunIDSource: Sendable {
    private var last = RunID(high: 0, low: 0)

    package init() {}

    /// - Parameters:
    ///   - unixMilliseconds: the wall clock; only its lower 48 bits are used.
    ///   - random: supplies the 80 random bits.
    package mutating func next(
        unixMilliseconds: UInt64,
        random: () -> UInt64
    ) -> RunID {
        let stamp = unixMilliseconds & 0xFFFF_FFFF_FFFF
        if stamp <= last.high >> 16 {
            let (low, overflow) = last.low.addingReportingOverflow(1)
            last = RunID(high: last.high &+ (overflow ? 1 : 0), low: low)
        } else {
            last = RunID(high: stamp << 16 | random() & 0xFFFF, low: random())
        }
        return last
    }
}
