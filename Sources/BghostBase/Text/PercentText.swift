// SPDX-License-Identifier: Apache-2.0

/// Percent-encodes a component of a URL.
package enum PercentText {
    /// Encodes all but the unreserved characters of RFC 3986.
    ///
    /// - Parameter keepsDots: whether dots and tildes stay. A segment of a path that others choose must not be
    ///   `..`.
    package static func encoded(_ text: String, keepsDots: Bool = true) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            if isPlain(byte)
                || keepsDots && (byte == UInt8(ascii: ".") || byte == UInt8(ascii: "~"))
            {
                bytes.append(byte)
            } else {
                bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
