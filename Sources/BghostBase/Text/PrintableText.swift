// SPDX-License-Identifier: Apache-2.0

/// Makes untrusted text safe for a terminal and for one line of a log.
package enum PrintableText {
    /// Escapes control characters, direction overrides and line separators, such as `\u{1B}`; a line break
    /// becomes `\n`.
    package static func escaped(_ text: String) -> String {
        guard !isPlain(text), text.unicodeScalars.contains(where: isUnsafe) else { return text }
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

    /// Whether a text is printable ASCII, as most log lines are.
    private static func isPlain(_ text: String) -> Bool {
        text.utf8.withContiguousStorageIfAvailable { isPlain(UnsafeRawBufferPointer($0)) }
            ?? text.utf8.allSatisfy(isPlain)
    }

    private static func isPlain(_ byte: UInt8) -> Bool { byte &- 0x20 < 0x5F }

    /// It checks eight bytes at a time, because each line of a plugin's output passes here.
    private static func isPlain(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let high = ones << 7
        var offset = 0
        while offset + 8 <= bytes.count {
            let word = bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            let isASCII = word & high == 0
            // No byte borrows from the next one, since the high bit of each is set first.
            let hasNoControl = ((word | high) &- (ones << 5)) & high == high
            let hasNoDelete = ((word & ~high) &+ ones) & high == 0
            guard isASCII, hasNoControl, hasNoDelete else { return false }
            offset += 8
        }
        return bytes[offset...].allSatisfy(isPlain)
    }

    /// Whether a scalar could move the cursor, change the terminal's state, break the line, reorder
    /// neighbouring text, or be invisible.
    package static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        // C0, DEL and C1, which some terminals also interpret as escape sequences in UTF-8.
        case 0...0x1F, 0x7F...0x9F: true
        // Marks, embeddings, overrides and isolates of direction; line and paragraph separators.
        case 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
        // Invisible: interlinear annotations, byte order marks, tags.
        case 0xFEFF, 0xFFF9...0xFFFB, 0xE0000...0xE007F: true
        default: false
        }
    }
}
