// SPDX-License-Identifier: Apache-2.0

/// The path and query of an API request, percent-encoded.
struct ControlPath: Equatable, Sendable {
    private(set) var text = "/v1"

    /// A path of one part that has no version.
    init(root part: String) { text = "/" + Self.encoded(part) }

    init(_ parts: String...) {
        for part in parts { text += "/" + Self.encoded(part) }
    }

    /// The same path with one more query parameter; unchanged for `nil`.
    func with(_ key: String, _ value: (some CustomStringConvertible)?) -> ControlPath {
        guard let value else { return self }
        var path = self
        path.text += (text.contains("?") ? "&" : "?") + key + "=" + Self.encoded("\(value)")
        return path
    }

    /// Encodes all but the unreserved characters of RFC 3986.
    static func encoded(_ text: String) -> String {
        let digits = Array("0123456789ABCDEF")
        var result = ""
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "_"), UInt8(ascii: "~"):
                result.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                result += "%" + String(digits[Int(byte >> 4)]) + String(digits[Int(byte & 15)])
            }
        }
        return result
    }
}
