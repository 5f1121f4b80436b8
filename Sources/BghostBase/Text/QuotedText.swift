// SPDX-License-Identifier: Apache-2.0

extension String {
    /// The text with control characters and line breaks escaped.
    package var escapedForMessage: String {
        var result = ""
        for scalar in unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator:
                result += "\\u{\(String(scalar.value, radix: 16))}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// The text for messages: in backticks, on one line, shortened if it is long, without control characters.
    package var quoted: String {
        let scalars = unicodeScalars.prefix(80)
        let isCut = scalars.endIndex < unicodeScalars.endIndex
        return "`" + String(scalars).escapedForMessage + (isCut ? "…" : "") + "`"
    }
}
