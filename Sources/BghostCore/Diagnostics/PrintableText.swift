// SPDX-License-Identifier: Apache-2.0

/// Text from a stranger, made safe for a terminal and for one line of a log.
package enum PrintableText {
    /// Control characters, direction overrides and line separators become escapes such as `\u{1B}`;
    /// a line break becomes `\n`.
    package static func escaped(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: mustEscape) else { return text }
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\n": result += "\\n"
            case "\t": result += " "
            case "\r": result += "\\r"
            case _ where mustEscape(scalar):
                result += "\\u{" + String(scalar.value, radix: 16, uppercase: true) + "}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    private static func mustEscape(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F..<0xA0: true
        // Separators and direction overrides, which would let a line look like another.
        case 0x2028...0x202E, 0x2066...0x2069, 0x200E, 0x200F, 0x061C, 0xFEFF: true
        default: false
        }
    }
}
