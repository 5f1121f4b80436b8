// SPDX-License-Identifier: Apache-2.0

/// The expected hash of a whole file, as sent by a server (`Repr-Digest`, RFC 9530).
package struct ContentDigest: Hashable, Sendable {
    /// The hash algorithms that are strong enough to verify a whole file.
    package enum Algorithm: String, Sendable, CaseIterable {
        case sha256 = "sha-256"
        case sha512 = "sha-512"

        /// The length of its values, bytes.
        package var byteCount: Int { self == .sha256 ? 32 : 64 }
    }

    package var algorithm: Algorithm
    package var bytes: [UInt8]

    /// Creates a digest; `nil` if the length is wrong for the algorithm.
    package init?(_ algorithm: Algorithm, _ bytes: [UInt8]) {
        guard bytes.count == algorithm.byteCount else { return nil }
        self.algorithm = algorithm
        self.bytes = bytes
    }

    /// Parses `sha-256=:…:`, also in a list with other algorithms; `nil` if the list has no usable digest.
    ///
    /// The first digest with a known algorithm counts: all digests of the list describe the same bytes.
    package init?(field: String) {
        for member in field.split(separator: ",") {
            let text = member.drop { $0 == " " || $0 == "\t" }
            guard let equals = text.firstIndex(of: "="),
                let algorithm = Algorithm(rawValue: text[..<equals].lowercased())
            else { continue }
            let value = text[text.index(after: equals)...].prefix { $0 != ";" && $0 != " " }
            guard value.utf8.count > 2, value.hasPrefix(":"), value.hasSuffix(":"),
                let bytes = Self.decode(value.dropFirst().dropLast()),
                let digest = ContentDigest(algorithm, bytes)
            else { continue }
            self = digest
            return
        }
        return nil
    }

    /// The digest in the format of the header field.
    package var field: String { "\(algorithm.rawValue)=:\(Self.encode(bytes)):" }

    private static let alphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8
    )

    /// Encodes bytes as base64 with padding.
    package static func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let bits = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
            for position in 0..<4 {
                let sextet = bits >> (18 - 6 * position) & 63
                text.append(position <= group.count ? alphabet[sextet] : UInt8(ascii: "="))
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static func decode(_ text: Substring) -> [UInt8]? {
        let digits = text.utf8.prefix { $0 != UInt8(ascii: "=") }
        let padding = text.utf8.count - digits.count
        guard text.utf8.count % 4 == 0, padding <= 2,
            text.utf8.suffix(padding).allSatisfy({ $0 == UInt8(ascii: "=") })
        else { return nil }
        var bytes: [UInt8] = []
        var bits = 0
        var count = 0
        for digit in digits {
            guard let value = alphabet.firstIndex(of: digit) else { return nil }
            bits = (bits << 6 | value) & 0xFFFF
            count += 6
            guard count >= 8 else { continue }
            count -= 8
            bytes.append(UInt8(truncatingIfNeeded: bits >> count))
        }
        return bytes
    }
}
