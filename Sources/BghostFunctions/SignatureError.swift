// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

/// The error for an invalid signature.
package struct SignatureError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The position of the error, in Unicode scalars; the first is 1.
    package var column: Int
    /// The error, and what is valid.
    var message: String

    /// The message may quote the signature, which is untrusted input, so control characters are escaped.
    init(_ column: Int, _ message: String) {
        self.column = column
        self.message = PrintableText.escaped(message)
    }

    package var description: String { "column \(column): \(message)" }
}
