// SPDX-License-Identifier: Apache-2.0

/// Why a text is no signature.
package struct SignatureError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The Unicode scalar at which it is wrong; the first is 1.
    package var column: Int
    /// What is wrong, and what would be right.
    package var message: String

    /// The message may quote the signature, which is anybody's: what steers a terminal is escaped.
    init(_ column: Int, _ message: String) {
        self.column = column
        self.message = PrintableText.escaped(message)
    }

    package var description: String { "column \(column): \(message)" }
}
