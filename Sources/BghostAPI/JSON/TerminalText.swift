// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

/// Makes text that others wrote safe to show on a terminal.
package enum TerminalText {
    /// The text with everything escaped that could move the cursor, change the terminal's state,
    /// break the line or reorder what stands beside it.
    package static func escaped(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isUnsafe) else { return text }
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case _ where isUnsafe(scalar):
                result += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// JSON that says the same without a scalar that a terminal would act on.
    ///
    /// Outside of strings JSON has none of them but white space, so an escape is right wherever one
    /// is found.
    package static func escapedJSON(_ json: String) -> String {
        guard json.unicodeScalars.contains(where: { isUnsafe($0) && $0 != "\n" }) else {
            return json
        }
        var result = ""
        for scalar in json.unicodeScalars {
            if isUnsafe(scalar), !["\n", "\r", "\t"].contains(scalar) {
                for unit in UTF16.encode(scalar) ?? .init() {
                    let digits = String(unit, radix: 16)
                    result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
                }
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    private static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
        PrintableText.isUnsafe(scalar)
    }
}
