// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

/// A place where parameters do not fit their schema.
package struct SchemaFault: Equatable, Sendable, CustomStringConvertible {
    /// The place in the parameters, a JSON pointer; "" for the whole object.
    package let pointer: String
    /// What is there and what is wanted, one sentence without a full stop.
    ///
    /// It quotes numbers but no texts of the parameters, which may be secret.
    package let message: String

    package init(pointer: String, message: String) {
        self.pointer = pointer
        self.message = message
    }

    package var description: String {
        pointer.isEmpty ? "parameters: \(message)" : "parameters \(pointer): \(message)"
    }

    /// A short text for a message.
    static func brief(_ text: String) -> String {
        let shown = text.unicodeScalars.prefix(40)
        let isCut = shown.endIndex != text.unicodeScalars.endIndex
        return PrintableText.escaped(String(shown)) + (isCut ? "…" : "")
    }

    /// What a value is, for a message.
    static func describe(_ node: JSONNode) -> String {
        switch node.value {
        case .number(let text): brief(text)
        default: node.typeName
        }
    }
}
