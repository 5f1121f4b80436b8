// SPDX-License-Identifier: Apache-2.0

@testable import BghostAPI
import BghostBase
import BghostTestSupport

/// The JSON Schemas of the API's types, read off the properties of examples.
///
/// The type of a property says what it may be, and its wrapper whether it may be null or absent; the sources
/// say its key and its meaning.
struct TypeSchemas {
    /// The schema of each type that had an example, by its name.
    private(set) var components: [String: JSONNode] = [:]
    /// The names of the types that a schema refers to.
    private(set) var referenced: Set<String> = []
    private let sources: TypeSources

    init() throws { sources = try Self.read.get() }

    /// Read once: to parse them takes half a second.
    private static let read = Result { try TypeSources() }

    /// The schema of a type, which refers to its component if it is an object.
    mutating func schema(of type: Any.Type) -> JSONNode {
        if let known = Self.scalars[ObjectIdentifier(type)] { return Self.object(known) }
        switch type {
        case let list as any AnyList.Type:
            return Self.object([("type", .text("array")), ("items", schema(of: list.element))])
        case let optional as any AnyOptional.Type: return orNull(schema(of: optional.wrapped))
        case let field as any Field.Type: return schema(of: field)
        default: break
        }
        let names = Self.cases(of: type)
        if !names.isEmpty {
            return Self.object([
                ("type", .text("string")), ("enum", JSONNode(.array(names.map(JSONNode.text)))),
            ])
        }
        if let raw = Self.rawType(of: type) { return schema(of: raw) }
        let name = Self.name(of: type)
        referenced.insert(name)
        return Self.object([("$ref", .text("#/components/schemas/\(name)"))])
    }

    private mutating func schema(of field: any Field.Type) -> JSONNode {
        let form = (field as? any AnyForm.Type).flatMap { Self.forms[ObjectIdentifier($0.form)] }
        var schema = form.map(Self.object) ?? schema(of: Self.jsonType(of: field))
        if let list = field as? any AnyForms.Type,
            let form = Self.forms[ObjectIdentifier(list.form)]
        {
            schema = Self.object([("type", .text("array")), ("items", Self.object(form))])
        }
        return field is any MayBeNull.Type ? orNull(schema) : schema
    }

    private func orNull(_ schema: JSONNode) -> JSONNode {
        guard schema["type"]?.string != nil, schema["enum"] == nil else {
            guard schema.object?.isEmpty != true else { return schema }
            let null = Self.object([("type", .text("null"))])
            return Self.object([("anyOf", JSONNode(.array([schema, null])))])
        }
        return Self.object(
            (schema.object ?? []).map { member in
                guard member.key == "type" else { return (member.key, member.value) }
                return ("type", JSONNode(.array([member.value, .text("null")])))
            }
        )
    }

    /// Adds the types of a value, and of all that it contains.
    mutating func add(_ value: Any) {
        let mirror = Mirror(reflecting: value)
        let type = type(of: value)
        if let field = value as? any Field {
            // What is written, which for a form is another type than that of the value.
            if let json = field.json as Any? { add(json) }
            return
        }
        if type is any AnyOptional.Type || type is any AnyList.Type {
            for child in mirror.children { add(child.value) }
            return
        }
        guard mirror.displayStyle == .struct, !(value is JSONPart), sources.has(Self.name(of: type))
        else { return }
        let name = Self.name(of: type)
        if components[name] == nil {
            components[name] = JSONNode(.null)
            components[name] = object(name, mirror)
        }
        for child in mirror.children { add(child.value) }
    }

    private mutating func object(_ name: String, _ mirror: Mirror) -> JSONNode {
        var properties: [(String, JSONNode)] = []
        var required: [JSONNode] = []
        for child in mirror.children {
            guard let label = child.label else { continue }
            let property = label.hasPrefix("_") ? String(label.dropFirst()) : label
            let type = type(of: child.value)
            let key = sources.key(of: property, in: name)
            // A type may leave a plain optional property out.
            let isPlainOptional = type is any AnyOptional.Type
            var schema =
                (type as? any AnyOptional.Type).map { self.schema(of: $0.wrapped) }
                ?? self.schema(of: type)
            if let text = sources.comment(of: property, in: name) {
                schema = Self.object(
                    (schema.object ?? []).map { ($0.key, $0.value) } + [
                        ("description", .text(text))
                    ]
                )
            }
            properties.append((key, schema))
            let isOmitted = (type as? any Field.Type)?.isOmitted ?? isPlainOptional
            if !isOmitted { required.append(.text(key)) }
        }
        var members: [(String, JSONNode)] = [("type", .text("object"))]
        if let text = sources.comment(of: nil, in: name) {
            members.append(("description", .text(text)))
        }
        members.append(("properties", Self.object(properties)))
        if !required.isEmpty { members.append(("required", JSONNode(.array(required)))) }
        return Self.object(members)
    }

    // MARK: Types

    /// Such as `Run`, or `UseStatus.Usual`.
    static func name(of type: Any.Type) -> String {
        var words = String(reflecting: type).split(separator: ".").dropFirst().map(String.init)
        if words.count > 1, words[0] == "API" { words.removeFirst() }
        return words.joined(separator: ".")
    }

    private static func jsonType<Value: Field>(of field: Value.Type) -> Any.Type { Value.JSON.self }

    private static func cases(of type: Any.Type) -> [String] {
        func names<Value: CaseIterable>(_ type: Value.Type) -> [String] {
            Value.allCases.compactMap { ($0 as? any RawRepresentable)?.rawValue as? String }
        }
        return (type as? any CaseIterable.Type).map { names($0) } ?? []
    }

    private static func rawType(of type: Any.Type) -> Any.Type? {
        func raw<Value: RawRepresentable>(_ type: Value.Type) -> Any.Type { Value.RawValue.self }
        return (type as? any RawRepresentable.Type).map { raw($0) }
    }

    static func object(_ members: [(String, JSONNode)]) -> JSONNode {
        JSONNode(.object(members.map { JSONMember(key: $0.0, value: $0.1) }))
    }

    private typealias Members = [(String, JSONNode)]

    private static let scalars: [ObjectIdentifier: Members] = {
        let integer: Members = [("type", .text("integer"))]
        return [
            ObjectIdentifier(String.self): [("type", .text("string"))],
            ObjectIdentifier(Bool.self): [("type", .text("boolean"))],
            ObjectIdentifier(Double.self): [("type", .text("number"))],
            ObjectIdentifier(Int.self): integer, ObjectIdentifier(Int32.self): integer,
            ObjectIdentifier(Int64.self): integer, ObjectIdentifier(UInt32.self): integer,
            ObjectIdentifier(UInt64.self): integer,
            ObjectIdentifier(UInt8.self): integer,
            // Any JSON.
            ObjectIdentifier(JSONPart.self): [],
            ObjectIdentifier(API.PossibleTime.self): [
                ("type", JSONNode(.array([.text("string"), .text("null")]))),
                ("format", .text("date-time")),
            ],
        ]
    }()

    private static let forms: [ObjectIdentifier: Members] = [
        ObjectIdentifier(RFC3339.self): [
            ("type", .text("string")), ("format", .text("date-time")),
        ],
        ObjectIdentifier(DateText.self): [
            ("type", .text("string")), ("format", .text("date")),
        ],
        ObjectIdentifier(ULID.self): [
            ("type", .text("string")), ("pattern", .text("^[0-7][0-9A-HJKMNP-TV-Z]{25}$")),
        ],
    ]
}

extension JSONNode {
    static func text(_ text: String) -> JSONNode { JSONNode(.string(text)) }
}

// What the wrappers and containers say of themselves.

private protocol AnyOptional {
    static var wrapped: Any.Type { get }
}

extension Optional: AnyOptional {
    fileprivate static var wrapped: Any.Type { Wrapped.self }
}

private protocol AnyList {
    associatedtype Element
}

extension AnyList {
    fileprivate static var element: Any.Type { Element.self }
}

extension Array: AnyList {}
extension KnownElements: AnyList {}

/// A wrapper of a value in a form.
private protocol AnyForm {
    associatedtype Form
}

/// A wrapper of an array of such values.
private protocol AnyForms {
    associatedtype Form
}

extension AnyForm {
    fileprivate static var form: Any.Type { Form.self }
}

extension AnyForms {
    fileprivate static var form: Any.Type { Form.self }
}

extension Formatted: AnyForm {}
extension FormOrNull: AnyForm {}
extension FormOrAbsent: AnyForm {}
extension FormOrDefault: AnyForm {}
extension FormElements: AnyForms {}

private protocol MayBeNull {}

extension OrNull: MayBeNull {}
extension EmptyAsNull: MayBeNull {}
extension FormOrNull: MayBeNull {}
