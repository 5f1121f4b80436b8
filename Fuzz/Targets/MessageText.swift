// SPDX-License-Identifier: Apache-2.0

/// The rules for each text that people see, whatever input caused it.
package enum MessageText {
    /// Says that a message is there, is not endless, and steers no terminal.
    package static func check(
        _ text: String,
        bytesMax: Int = 4096
    ) throws(BrokenProperty) {
        try require(!text.isEmpty, "a refusal does not say why")
        try require(text.utf8.count <= bytesMax, "a message has \(text.utf8.count) bytes")
        try require(
            !text.unicodeScalars.contains(where: steersTerminal),
            "a message would steer a terminal: \(text.debugDescription)"
        )
    }

    /// Whether a terminal does something else than to show a character.
    package static func steersTerminal(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: return true
        default: break
        }
        // Marks, embeddings, overrides and isolates of direction; what cannot be seen.
        return switch scalar.value {
        case 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069, 0xFEFF: true
        case 0xFFF9...0xFFFB, 0xE0000...0xE007F: true
        default: false
        }
    }
}
