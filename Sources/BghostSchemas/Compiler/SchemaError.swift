// SPDX-License-Identifier: Apache-2.0

package import BghostBase

/// Why a text is no schema that bghost can check.
package struct SchemaError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The place in the schema, a JSON pointer; "" for the whole.
    package let pointer: String
    /// What is wrong and what to write, one sentence without a full stop.
    package let message: String
    /// The bytes of the schema's text.
    package let span: ByteSpan

    init(_ pointer: String, _ message: String, at span: ByteSpan) {
        self.pointer = pointer
        self.message = message
        self.span = span
    }

    package var description: String { pointer.isEmpty ? message : "\(pointer): \(message)" }
}
