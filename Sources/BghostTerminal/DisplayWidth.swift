// SPDX-License-Identifier: Apache-2.0

/// Computes the width of text on a terminal, columns.
package enum DisplayWidth {
    /// The width of a text without control characters.
    package static func of(_ text: String) -> Int {
        // Fast path for ASCII, which nearly all texts are.
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.utf8.count }
        return text.reduce(0) { $0 + width(of: $1) }
    }

    /// The text, padded with spaces to a width; a longer text is unchanged.
    package static func padded(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - of(text)))
    }

    private static func width(of character: Character) -> Int {
        var result = 0
        for scalar in character.unicodeScalars {
            // The selector requests an emoji; a flag is one character of two letters.
            if scalar.value == 0xFE0F { return 2 }
            result = max(result, width(of: scalar))
        }
        return result
    }

    private static func width(of scalar: Unicode.Scalar) -> Int {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format, .control: return 0
        default: break
        }
        return wideRanges.contains { $0.contains(scalar.value) } ? 2 : 1
    }

    // The wide and full-width blocks of East Asian Width, joined where only unassigned code points lie
    // between them.
    private static let wideRanges: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x231A...0x231B, 0x23E9...0x23EC, 0x23F0...0x23F0, 0x23F3...0x23F3,
        0x25FD...0x25FE, 0x2614...0x2615, 0x2648...0x2653, 0x26A1...0x26A1, 0x26C4...0x26C5,
        0x26D4...0x26D4, 0x2705...0x2705, 0x270A...0x270B, 0x2728...0x2728, 0x274C...0x274C,
        0x2753...0x2755, 0x2795...0x2797, 0x2B50...0x2B50, 0x2E80...0x303E, 0x3041...0x33FF,
        0x3400...0x4DBF, 0x4E00...0x9FFF, 0xA000...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3,
        0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x18CFF,
        0x1AFF0...0x1B2FF, 0x1F004...0x1F004, 0x1F0CF...0x1F0CF, 0x1F18E...0x1F18E,
        0x1F191...0x1F19A, 0x1F1E6...0x1F320, 0x1F32D...0x1F335, 0x1F337...0x1F37C,
        0x1F37E...0x1F393, 0x1F3A0...0x1F3CA, 0x1F3E0...0x1F3F0, 0x1F3F8...0x1F43E,
        0x1F440...0x1F4FC, 0x1F4FF...0x1F53D, 0x1F54B...0x1F567, 0x1F5FB...0x1F64F,
        0x1F680...0x1F6C5, 0x1F6D0...0x1F6DF, 0x1F6EB...0x1F6FF, 0x1F7E0...0x1F7F0,
        0x1F90C...0x1F9FF, 0x1FA70...0x1FAFF, 0x20000...0x3FFFD,
    ]
}
