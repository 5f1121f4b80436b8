// SPDX-License-Identifier: Apache-2.0

/// A task identifier of the manifest: an exact one, or a family with a trailing `.*`.
package struct IdentifierPattern: Equatable, Hashable, Sendable, CustomStringConvertible {
    /// The maximum length of an identifier, UTF-8 bytes.
    package static let bytesMax = 128

    /// The text; for a family without the trailing `*`, so that it ends in a dot.
    private let stem: String
    /// Whether the pattern matches every identifier that starts with the stem.
    package let isFamily: Bool

    /// Parses a pattern; `nil` if it is invalid.
    package init?(_ text: String) {
        let isFamily = text.hasSuffix(".*")
        let stem = isFamily ? String(text.dropLast()) : text
        guard Self.isValid(isFamily ? String(stem.dropLast()) : stem) else { return nil }
        self.stem = stem
        self.isFamily = isFamily
    }

    /// Whether a text is a valid task identifier.
    ///
    /// It has 1 to 128 of the characters `A-Z a-z 0-9 . _ -`, starts with a letter or a digit, and has no
    /// empty part.
    package static func isValid(_ text: String) -> Bool {
        let bytes = text.utf8
        guard (1...bytesMax).contains(bytes.count) else { return false }
        var previous = UInt8(ascii: ".")
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                break
            case UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."):
                guard previous != UInt8(ascii: ".") else { return false }
            default: return false
            }
            previous = byte
        }
        return previous != UInt8(ascii: ".")
    }

    /// Whether an identifier equals this pattern or belongs to its family.
    ///
    /// The comparison is case-sensitive. A family matches only valid identifiers, because the
    /// submitter chooses its members freely.
    package func matches(_ identifier: String) -> Bool {
        guard isFamily else { return identifier == stem }
        return identifier.utf8.count > stem.utf8.count && identifier.utf8.starts(with: stem.utf8)
            && Self.isValid(identifier)
    }

    package var description: String { isFamily ? stem + "*" : stem }
}
