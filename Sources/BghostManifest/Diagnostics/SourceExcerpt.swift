// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

/// A line of a source text, made safe for a terminal, with a marked part.
struct SourceExcerpt: Equatable, Sendable {
    /// The printable text: a tab is four spaces, other control characters are U+FFFD, a long line is
    /// shortened.
    var text: String
    /// The number of terminal cells before the part.
    var indent: Int
    /// The number of terminal cells of the part, at least 1.
    var width: Int

    private static let charactersBefore = 60
    private static let charactersMax = 120

    /// Creates the excerpt of the line on which a span starts.
    init(of span: ByteSpan, in source: SourceText) {
        let line = source.lineRange(at: Int(span.start))
        let start = max(line.lowerBound, min(Int(span.start), line.upperBound))
        let end = max(start, min(Int(span.end), line.upperBound))
        let before = Self.scalars(source.bytes[line.lowerBound..<start])
        let part = Self.scalars(source.bytes[start..<end])
        let after = Self.scalars(source.bytes[end..<line.upperBound])

        let isCutBefore = before.count > Self.charactersBefore
        let shownBefore = before.suffix(isCutBefore ? Self.charactersBefore - 1 : before.count)
        var room = Self.charactersMax - shownBefore.count
        let shownPart = part.prefix(room)
        room -= shownPart.count
        let shownAfter = after.prefix(room)
        let isCutAfter = part.count + after.count > shownPart.count + shownAfter.count

        let prefix = (isCutBefore ? "…" : "") + Self.printable(shownBefore)
        let middle = Self.printable(shownPart)
        text = prefix + middle + Self.printable(shownAfter) + (isCutAfter ? "…" : "")
        indent = Self.cells(prefix)
        width = max(1, Self.cells(middle))
    }

    /// The scalars that can be shown; a line of a mebibyte is not decoded for 120 characters.
    private static func scalars(_ bytes: ArraySlice<UInt8>) -> [Unicode.Scalar] {
        let most = 4 * charactersMax
        guard bytes.count > 2 * most else {
            return Array(String(decoding: bytes, as: UTF8.self).unicodeScalars)
        }
        return Array(String(decoding: bytes.prefix(most), as: UTF8.self).unicodeScalars)
            + Array(String(decoding: bytes.suffix(most), as: UTF8.self).unicodeScalars)
    }

    private static func printable(_ scalars: some Sequence<Unicode.Scalar>) -> String {
        var text = ""
        for scalar in scalars {
            switch scalar.properties.generalCategory {
            case .control: text += scalar == "\t" ? "    " : "\u{FFFD}"
            case .format, .lineSeparator, .paragraphSeparator: text += "\u{FFFD}"
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }

    private static func cells(_ text: String) -> Int {
        text.unicodeScalars.reduce(0) { $0 + cells($1) }
    }

    /// The width of a scalar: 0 for combining marks, 2 for wide scripts and symbols.
    private static func cells(_ scalar: Unicode.Scalar) -> Int {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark: return 0
        default: break
        }
        switch scalar.value {
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF,
            0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F,
            0x1F900...0x1F9FF, 0x20000...0x3FFFD:
            return 2
        default: return 1
        }
    }
}
