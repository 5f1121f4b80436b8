// SPDX-License-Identifier: Apache-2.0

/// Base64 (RFC 4648 §4), with padding.
package enum Base64 {
    /// Encodes bytes.
    package static func encode(_ bytes: some Collection<UInt8>) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        var bits: UInt32 = 0
        var count = 0
        for byte in bytes {
            bits = bits << 8 | UInt32(byte)
            count += 1
            guard count == 3 else { continue }
            for shift in [18, 12, 6, 0] { text.append(alphabet[Int(bits >> UInt32(shift) & 63)]) }
            (bits, count) = (0, 0)
        }
        if count > 0 {
            bits <<= UInt32(8 * (3 - count))
            for place in 0...3 {
                let digit = alphabet[Int(bits >> UInt32(18 - 6 * place) & 63)]
                text.append(place <= count ? digit : padding)
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Decodes a text; `nil` if the text is not the exact result of `encode`.
    package static func decode(_ text: String) -> [UInt8]? {
        let digits = Array(text.utf8)
        guard digits.count.isMultiple(of: 4) else { return nil }
        let padded = digits.reversed().prefix { $0 == padding }.count
        guard padded <= 2 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count / 4 * 3)
        var bits: UInt32 = 0
        for (index, digit) in digits.enumerated() {
            let isPadding = index >= digits.count - padded
            guard let value = isPadding ? 0 : values[Int(digit)] else { return nil }
            bits = bits << 6 | UInt32(value)
            guard index & 3 == 3 else { continue }
            bytes.append(UInt8(truncatingIfNeeded: bits >> 16))
            bytes.append(UInt8(truncatingIfNeeded: bits >> 8))
            bytes.append(UInt8(truncatingIfNeeded: bits))
            if isPadding {
                // Nonzero leftover bits would permit two texts for the same bytes.
                guard bytes.suffix(padded).allSatisfy({ $0 == 0 }) else { return nil }
                bytes.removeLast(padded)
            }
            bits = 0
        }
        return bytes
    }

    private static let padding = UInt8(ascii: "=")
    private static let alphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8
    )
    private static let values: [UInt8?] = {
        var values = [UInt8?](repeating: nil, count: 256)
        for (value, digit) in alphabet.enumerated() { values[Int(digit)] = UInt8(value) }
        return values
    }()
}
