// SPDX-License-Identifier: Apache-2.0

/// A range of bytes in a source text.
///
/// 32 bits suffice: `JSONReader` rejects larger texts.
package struct ByteSpan: Equatable, Hashable, Sendable {
    package var start: UInt32
    package var end: UInt32

    package init(start: UInt32, end: UInt32) {
        self.start = start
        self.end = end
    }

    /// Creates a span; the text must be shorter than 4 GiB.
    package init(_ range: Range<Int>) {
        self.init(
            start: UInt32(clamping: range.lowerBound),
            end: UInt32(clamping: range.upperBound)
        )
    }

    package var range: Range<Int> { Int(start)..<max(Int(start), Int(end)) }
}

/// A JSON value with its place in the text.
///
/// Two nodes are equal if their values are equal, independently of their places.
package struct JSONNode: Sendable {
    package var value: JSONValue
    /// Empty at 0 for a node that was created in code.
    package var span: ByteSpan

    package init(_ value: JSONValue, span: ByteSpan = ByteSpan(start: 0, end: 0)) {
        self.value = value
        self.span = span
    }
}

/// A JSON value.
package enum JSONValue: Sendable {
    case null
    case bool(Bool)
    /// The number as written, since neither 64 bits nor a `Double` can represent all numbers.
    case number(String)
    case string(String)
    case array([JSONNode])
    /// In the order of the text.
    case object([JSONMember])
}

/// A member of an object: a key with its value.
package struct JSONMember: Sendable {
    package var key: String
    /// The span includes the quotation marks.
    package var keySpan: ByteSpan
    package var value: JSONNode

    package init(
        key: String,
        keySpan: ByteSpan = ByteSpan(start: 0, end: 0),
        value: JSONNode
    ) {
        self.key = key
        self.keySpan = keySpan
        self.value = value
    }
}

extension JSONNode: Equatable {
    package static func == (a: JSONNode, b: JSONNode) -> Bool { a.value == b.value }
}

extension JSONMember: Equatable {
    package static func == (a: JSONMember, b: JSONMember) -> Bool {
        a.key.isSameText(as: b.key) && a.value == b.value
    }
}

extension JSONValue: Equatable {
    package static func == (a: JSONValue, b: JSONValue) -> Bool {
        switch (a, b) {
        case (.null, .null): true
        case (.bool(let a), .bool(let b)): a == b
        case (.number(let a), .number(let b)): a == b
        case (.string(let a), .string(let b)): a.isSameText(as: b)
        case (.array(let a), .array(let b)): a == b
        case (.object(let a), .object(let b)): a == b
        default: false
        }
    }
}

extension String {
    /// Compares texts by code units, as in RFC 8259.
    ///
    /// `==` would treat two keys as equal if only the composition of an accent differs, so that one could
    /// hide the other.
    package func isSameText(as other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}

extension JSONNode {
    /// The string; `nil` for other values.
    package var string: String? {
        if case .string(let text) = value { text } else { nil }
    }

    package var bool: Bool? {
        if case .bool(let flag) = value { flag } else { nil }
    }

    package var isNull: Bool { value == .null }

    package var array: [JSONNode]? {
        if case .array(let elements) = value { elements } else { nil }
    }

    package var object: [JSONMember]? {
        if case .object(let members) = value { members } else { nil }
    }

    /// The value of the first member with a key; `nil` if there is none or this is not an object.
    package subscript(key: String) -> JSONNode? {
        object?.first { $0.key.isSameText(as: key) }?.value
    }

    /// The type with its article, for messages: "a string".
    package var typeName: String {
        switch value {
        case .null: "null"
        case .bool(let flag): flag ? "true" : "false"
        case .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }

    /// Finds a value by a JSON pointer (RFC 6901): "" is this node, `/a/0` the first element of its `a`.
    ///
    /// - Returns: `nil` if there is no such value or the pointer is malformed.
    package func find(pointer: String) -> JSONNode? {
        guard !pointer.isEmpty else { return self }
        guard pointer.utf8.first == UInt8(ascii: "/") else { return nil }
        var node = self
        for token in pointer.dropFirst().split(separator: "/", omittingEmptySubsequences: false) {
            guard let key = Self.unescape(token), let child = node.child(key) else { return nil }
            node = child
        }
        return node
    }

    private func child(_ key: String) -> JSONNode? {
        switch value {
        case .object: return self[key]
        case .array(let elements):
            let isIndex = key.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")) ~= $0 }
            guard isIndex, key == "0" || !key.hasPrefix("0"), let index = Int(key) else {
                return nil
            }
            return elements.indices.contains(index) ? elements[index] : nil
        default: return nil
        }
    }

    private static func unescape(_ token: Substring) -> String? {
        var bytes: [UInt8] = []
        var isEscaped = false
        for byte in token.utf8 {
            switch (isEscaped, byte) {
            case (true, UInt8(ascii: "0")): bytes.append(UInt8(ascii: "~"))
            case (true, UInt8(ascii: "1")): bytes.append(UInt8(ascii: "/"))
            case (true, _): return nil
            case (false, UInt8(ascii: "~")): break
            case (false, _): bytes.append(byte)
            }
            isEscaped = !isEscaped && byte == UInt8(ascii: "~")
        }
        return isEscaped ? nil : String(decoding: bytes, as: UTF8.self)
    }
}
