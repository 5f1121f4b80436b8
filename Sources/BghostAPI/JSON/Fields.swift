// SPDX-License-Identifier: Apache-2.0

// A daemon and a client of different versions must understand each other. Therefore a property without
// which a value has no meaning is plain or `Formatted`, and every other one has a lenient wrapper: if its
// key is absent, or its value is something that this version does not know, it has its default, and the
// rest of the object is read.

/// A wrapper of a property of an API type.
///
/// `KeyedEncodingContainer` and `KeyedDecodingContainer` below convert it without a container of its own,
/// which halves the time of an answer.
package protocol Field: Codable, Equatable, Sendable {
    associatedtype JSON: Codable

    /// What to write; `nil` for null.
    var json: JSON? { get }
    /// Whether the object does not have the key instead of null.
    static var isOmitted: Bool { get }
    /// - Throws: `DecodingError` if the value has no meaning for this field.
    init(json: JSON) throws
}

extension Field {
    package static var isOmitted: Bool { false }

    package init(from decoder: any Decoder) throws {
        try self.init(json: decoder.singleValueContainer().decode(JSON.self))
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if let json { try container.encode(json) } else { try container.encodeNil() }
    }
}

/// A field that does not make its object unreadable.
package protocol LenientField: Field {
    /// The field of an object that does not have it.
    static var absent: Self { get }
}

extension KeyedDecodingContainer {
    func decode<Value: Field>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try Value(json: decode(Value.JSON.self, forKey: key))
    }

    func decode<Value: LenientField>(_ type: Value.Type, forKey key: Key) throws -> Value {
        // See above: a value that this version does not know counts as absent.
        guard let json = try? decodeIfPresent(Value.JSON.self, forKey: key),
            let value = try? Value(json: json)
        else { return .absent }
        return value
    }
}

extension KeyedEncodingContainer {
    mutating func encode<Value: Field>(_ field: Value, forKey key: Key) throws {
        switch field.json {
        // The generic call would make a container for each of these.
        case let text as String: try encode(text, forKey: key)
        case let number as Int: try encode(number, forKey: key)
        case let number as Double: try encode(number, forKey: key)
        case let flag as Bool: try encode(flag, forKey: key)
        case let json?: try encode(json, forKey: key)
        case nil: if !Value.isOmitted { try encodeNil(forKey: key) }
        }
    }
}

/// A value, or null.
@propertyWrapper
package struct OrNull<Value: Codable & Equatable & Sendable>: LenientField {
    package var wrappedValue: Value?

    package init(wrappedValue: Value?) { self.wrappedValue = wrappedValue }

    package static var absent: OrNull { OrNull(wrappedValue: nil) }
    package var json: Value? { wrappedValue }
    package init(json: Value) { wrappedValue = json }
}

/// A value; the object does not have the key if there is none.
@propertyWrapper
package struct OrAbsent<Value: Codable & Equatable & Sendable>: LenientField {
    package var wrappedValue: Value?

    package init(wrappedValue: Value?) { self.wrappedValue = wrappedValue }

    package static var absent: OrAbsent { OrAbsent(wrappedValue: nil) }
    package static var isOmitted: Bool { true }
    package var json: Value? { wrappedValue }
    package init(json: Value) { wrappedValue = json }
}

/// A value that has a default: "", 0, false.
@propertyWrapper
package struct OrDefault<Value: DefaultValue>: LenientField {
    package var wrappedValue: Value

    package init(wrappedValue: Value) { self.wrappedValue = wrappedValue }

    package static var absent: OrDefault { OrDefault(wrappedValue: Value.defaultValue) }
    package var json: Value? { wrappedValue }
    package init(json: Value) { wrappedValue = json }
}

/// A type that has a natural default.
package protocol DefaultValue: Codable, Equatable, Sendable {
    static var defaultValue: Self { get }
}

extension String: DefaultValue {
    package static var defaultValue: String { "" }
}

extension Bool: DefaultValue {
    package static var defaultValue: Bool { false }
}

extension Int: DefaultValue {
    package static var defaultValue: Int { 0 }
}

extension Int64: DefaultValue {
    package static var defaultValue: Int64 { 0 }
}

extension UInt64: DefaultValue {
    package static var defaultValue: UInt64 { 0 }
}

/// A text; "" is written as null.
@propertyWrapper
package struct EmptyAsNull: LenientField {
    package var wrappedValue: String

    package init(wrappedValue: String) { self.wrappedValue = wrappedValue }

    package static var absent: EmptyAsNull { EmptyAsNull(wrappedValue: "") }
    package var json: String? { wrappedValue.isEmpty ? nil : wrappedValue }
    package init(json: String) { wrappedValue = json }
}

/// An array that must be there; elements that this version does not know are skipped.
@propertyWrapper
package struct Elements<Element: Codable & Equatable & Sendable>: Field {
    package var wrappedValue: [Element]

    package init(wrappedValue: [Element]) { self.wrappedValue = wrappedValue }

    package var json: KnownElements<Element>? { KnownElements(elements: wrappedValue) }
    package init(json: KnownElements<Element>) { wrappedValue = json.elements }
}

/// An array that is empty if it is absent; elements that this version does not know are skipped.
@propertyWrapper
package struct ElementsOrEmpty<Element: Codable & Equatable & Sendable>: LenientField {
    package var wrappedValue: [Element]

    package init(wrappedValue: [Element]) { self.wrappedValue = wrappedValue }

    package static var absent: ElementsOrEmpty { ElementsOrEmpty(wrappedValue: []) }
    package var json: KnownElements<Element>? { KnownElements(elements: wrappedValue) }
    package init(json: KnownElements<Element>) { wrappedValue = json.elements }
}

/// The elements of an array that can be read.
package struct KnownElements<Element: Codable>: Codable {
    var elements: [Element]

    init(elements: [Element]) { self.elements = elements }

    package init(from decoder: any Decoder) throws {
        elements = try [Attempt](from: decoder).compactMap(\.value)
    }

    package func encode(to encoder: any Encoder) throws { try elements.encode(to: encoder) }

    /// An element, or `nil` if it cannot be read.
    private struct Attempt: Decodable {
        let value: Element?

        init(from decoder: any Decoder) {
            // See the top of this file.
            value = try? Element(from: decoder)
        }
    }
}
