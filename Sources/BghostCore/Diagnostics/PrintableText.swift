// SPDX-License-Identifier: Apache-2.0

/// Text from a stranger, made safe for a terminal and for one line of a log.
package enum PrintableText {
    /// Control characters, direction overrides and line separators become escapes such as `\u{1B}`;
    /// a line break becomes `\n`.
    package static func escaped(_ text: String) -> String {
        // Most of what is logged is plain ASCII, which its bytes show.
        guard !text.utf8.allSatisfy({ $0 &- 0x20 < 0x5F }),
            text.unicodeScalars.contains(where: isUnsafe)
        else { return text }
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\n": result += "\\n"
            case "\t": result += " "
            case "\r": result += "\\r"
            case _ where isUnsafe(scalar):
                result += "\\u{" + String(scalar.value, radix: 16, uppercase: true) + "}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// Whether a scalar could move the cursor, change the terminal's state, break the line, reorder what
    /// stands beside it, or hide.
    package static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        // C0, DEL and C1, which some terminals take for escape sequences in UTF-8 too.
        case 0...0x1F, 0x7F...0x9F: true
        // Marks, embeddings, overrides and isolates of direction; line and paragraph separators.
        case 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
        // Invisible: interlinear annotations, byte order marks, tags.
        case 0xFEFF, 0xFFF9...0xFFFB, 0xE0000...0xE007F: true
        default: false
        }
    }
}
