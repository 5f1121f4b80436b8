// SPDX-License-Identifier: Apache-2.0

/// A task identifier of the manifest: exact, or a family written with a trailing `.*`.
package struct IdentifierPattern: Equatable, Hashable, Sendable, CustomStringConvertible {
    /// The most UTF-8 bytes that an identifier may have.
    package static let bytesMax = 128

    /// Without the trailing `*` if this is a family, so that it ends in a dot.
    private let stem: String
    /// Whether this stands for every identifier that begins with the stem.
    package let isFamily: Bool

    /// Reads a pattern; `nil` if it is not a valid one.
    package init?(_ text: String) {
        let isFamily = text.hasSuffix(".*")
        let stem = isFamily ? String(text.dropLast()) : text
        guard Self.isValid(isFamily ? String(stem.dropLast()) : stem) else { return nil }
        self.stem = stem
        self.isFamily = isFamily
    }

    /// Whether the text can be the identifier of a task: 1 to 128 of `A-Z a-z 0-9 . _ -`, beginning
    /// with a letter or a digit and without an empty part.
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

    /// Whether an identifier is this one or of this family.
    ///
    /// Case matters. What is no identifier at all is of no family: members are made up by whoever
    /// submits them.
    package func matches(_ identifier: String) -> Bool {
        guard isFamily else { return identifier == stem }
        return identifier.utf8.count > stem.utf8.count && identifier.utf8.starts(with: stem.utf8)
            && Self.isValid(identifier)
    }

    package var description: String { isFamily ? stem + "*" : stem }
}
