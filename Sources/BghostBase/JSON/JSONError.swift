// SPDX-License-Identifier: Apache-2.0

/// The error for a text that is not JSON, with its place.
package struct JSONError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The kind of the error.
    package enum Kind: Equatable, Sendable {
        /// The text contains only white space.
        case empty
        case byteOrderMark
        case notUTF8
        /// The text ends too early, inside the value that was opened at this place, if there is one.
        case unexpectedEnd(opened: ByteSpan?)
        case unexpected(found: String, expected: String)
        case controlCharacterInString(UInt8)
        case badEscape
        case loneSurrogate
        case badNumber(reason: String)
        case duplicateKey(String, first: ByteSpan)
        case tooDeep(max: Int)
        case commentInStrictText
        case trailingCommaInStrictText
        case textAfterValue
        case tooLarge
        /// The text is valid but not an object.
        case notAnObject
    }

    package var kind: Kind
    package var span: ByteSpan

    package init(_ kind: Kind, at span: ByteSpan) {
        self.kind = kind
        self.span = span
    }

    /// The start of the error, bytes.
    var offset: Int { Int(span.start) }

    /// One sentence with the error, without its place.
    package var message: String {
        switch kind {
        case .empty: "the text is empty where a JSON value is needed"
        case .byteOrderMark: "the text begins with a byte order mark, which JSON does not allow"
        case .notUTF8: "these bytes are not UTF-8"
        case .unexpectedEnd: "the text ends before its value is complete"
        case .unexpected(let found, let expected): "found \(found) where \(expected) is needed"
        case .controlCharacterInString(let byte):
            "a string contains the raw control character \(Self.hex(byte)), which must be escaped"
        case .badEscape: "this is not one of the escapes that JSON has"
        case .loneSurrogate: "half of a surrogate pair stands without its other half"
        case .badNumber(let reason): "this number is malformed: \(reason)"
        case .duplicateKey(let key, _): "the key `\(key)` stands twice in one object"
        case .tooDeep(let max): "values are nested deeper than \(max) levels"
        case .commentInStrictText: "comments are not allowed here"
        case .trailingCommaInStrictText: "a comma stands after the last element"
        case .textAfterValue: "something follows the end of the value"
        case .tooLarge: "the text is 4 GiB or larger"
        case .notAnObject: "the value is not an object"
        }
    }

    package var description: String { "\(message), at byte \(offset)" }

    static func hex(_ byte: UInt8) -> String {
        let digits = String(byte, radix: 16, uppercase: true)
        return "U+" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
    }
}
