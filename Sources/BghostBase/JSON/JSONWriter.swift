// SPDX-License-Identifier: Apache-2.0

/// Writes JSON without white space, with every string escaped and every comma in its place.
///
///     var writer = JSONWriter()
///     writer.object { writer in
///         writer.member("task", "StormyNoon")
///         writer.member("runs") { writer in
///             writer.array { writer in for run in runs { writer.value(run.description) } }
///         }
///     }
///     send(writer.bytes)
///
/// The caller must write exactly one value for each key; the writer ensures everything else.
package struct JSONWriter: Sendable {
    /// The output so far.
    package private(set) var bytes: [UInt8] = []
    private var needsComma = false

    package init(reservingBytes capacity: Int = 0) {
        bytes.reserveCapacity(capacity)
    }

    /// The output so far.
    package var text: String { String(decoding: bytes, as: UTF8.self) }

    // MARK: - Containers

    /// Writes an object; the closure writes its members.
    package mutating func object<E>(_ members: (inout JSONWriter) throws(E) -> Void) throws(E) {
        begin(UInt8(ascii: "{"))
        try members(&self)
        end(UInt8(ascii: "}"))
    }

    /// Writes an array; the closure writes its elements.
    package mutating func array<E>(_ elements: (inout JSONWriter) throws(E) -> Void) throws(E) {
        begin(UInt8(ascii: "["))
        try elements(&self)
        end(UInt8(ascii: "]"))
    }

    /// Writes the key of a member; its value must follow.
    package mutating func key(_ key: String) {
        separate()
        Self.append(key, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    /// Writes a member; the closure writes its value.
    package mutating func member<E>(
        _ key: String,
        _ value: (inout JSONWriter) throws(E) -> Void
    ) throws(E) {
        self.key(key)
        try value(&self)
    }

    package mutating func member(_ key: String, _ value: String?) {
        self.key(key)
        self.value(value)
    }

    package mutating func member(_ key: String, _ value: some BinaryInteger) {
        self.key(key)
        self.value(value)
    }

    package mutating func member(_ key: String, _ value: Double) {
        self.key(key)
        self.value(value)
    }

    package mutating func member(_ key: String, _ value: Bool) {
        self.key(key)
        self.value(value)
    }

    package mutating func member(_ key: String, _ value: JSONNode) {
        self.key(key)
        self.value(value)
    }

    /// Writes a member whose value is already JSON; see `raw(_:)`.
    package mutating func member(_ key: String, raw json: String) {
        self.key(key)
        raw(json)
    }

    // MARK: - Values

    /// Writes a string, or null for `nil`.
    package mutating func value(_ text: String?) {
        separate()
        if let text { Self.append(text, to: &bytes) } else { bytes += "null".utf8 }
    }

    package mutating func value(_ number: some BinaryInteger) { raw(String(number)) }

    /// Writes the shortest text that parses to the same number; null if it is not finite, since JSON cannot
    /// express that.
    package mutating func value(_ number: Double) {
        raw(number.isFinite ? number.description : "null")
    }

    package mutating func value(_ flag: Bool) { raw(flag ? "true" : "false") }

    package mutating func null() { raw("null") }

    package mutating func value(_ node: JSONNode) {
        switch node.value {
        case .null: null()
        case .bool(let flag): value(flag)
        case .number(let text): raw(text)
        case .string(let text): value(text)
        case .array(let elements):
            array { writer in for element in elements { writer.value(element) } }
        case .object(let members):
            object { writer in
                for member in members { writer.member(member.key, member.value) }
            }
        }
    }

    /// Writes a text unchanged.
    ///
    /// It must be one JSON value, for instance one that `JSONText.isObject` has checked.
    package mutating func raw(_ json: String) {
        separate()
        bytes += json.utf8
    }

    // MARK: - Bytes

    private mutating func begin(_ bracket: UInt8) {
        separate()
        bytes.append(bracket)
        needsComma = false
    }

    private mutating func end(_ bracket: UInt8) {
        bytes.append(bracket)
        needsComma = true
    }

    private mutating func separate() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        needsComma = true
    }

    private static func append(_ text: String, to bytes: inout [UInt8]) {
        var text = text
        bytes.append(UInt8(ascii: "\""))
        text.withUTF8 { source in
            var runStart = 0
            for (index, byte) in source.enumerated() {
                guard byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") else {
                    continue
                }
                bytes += source[runStart..<index]
                appendEscape(of: byte, to: &bytes)
                runStart = index + 1
            }
            bytes += source[runStart...]
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private static func appendEscape(of byte: UInt8, to bytes: inout [UInt8]) {
        switch byte {
        case UInt8(ascii: "\""): bytes += "\\\"".utf8
        case UInt8(ascii: "\\"): bytes += "\\\\".utf8
        case 0x08: bytes += "\\b".utf8
        case 0x09: bytes += "\\t".utf8
        case 0x0A: bytes += "\\n".utf8
        case 0x0C: bytes += "\\f".utf8
        case 0x0D: bytes += "\\r".utf8
        default:
            let digits = Array("0123456789abcdef".utf8)
            bytes += "\\u00".utf8
            bytes += [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        }
    }
}

extension JSONNode {
    /// The value as JSON without white space, with the order of keys and the notation of numbers preserved.
    package var text: String {
        var writer = JSONWriter()
        writer.value(self)
        return writer.text
    }
}
