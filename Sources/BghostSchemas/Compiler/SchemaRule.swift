// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

/// One schema of a document: a rule for one value.
///
/// Other rules are named by their indices in the compiled schema, so that `$ref` can refer to any.
struct SchemaRule: Sendable {
    /// Whether no value fits: the schema `false`.
    var isNever = false
    /// The allowed types; empty for all.
    var types: JSONTypes = []
    /// The values of `enum` and `const`.
    var allowed: [AllowedValues] = []

    var numbers: NumberRule?
    var texts: TextRule?
    var arrays: ArrayRule?
    var objects: ObjectRule?

    var all: [Int] = []
    var any: [[Int]] = []
    var one: [[Int]] = []
    var not: Int?
    var reference: Int?

    /// The rules for the same value.
    var inPlace: [Int] {
        all + any.flatMap(\.self) + one.flatMap(\.self) + [not, reference].compactMap(\.self)
    }
}

/// The types of JSON Schema.
struct JSONTypes: OptionSet, Sendable {
    let rawValue: UInt8

    static let null = JSONTypes(rawValue: 1)
    static let boolean = JSONTypes(rawValue: 2)
    static let object = JSONTypes(rawValue: 4)
    static let array = JSONTypes(rawValue: 8)
    static let number = JSONTypes(rawValue: 16)
    static let string = JSONTypes(rawValue: 32)
    static let integer = JSONTypes(rawValue: 64)

    static let named: [(name: String, type: JSONTypes, phrase: String)] = [
        ("null", .null, "null"), ("boolean", .boolean, "true or false"),
        ("object", .object, "an object"), ("array", .array, "an array"),
        ("number", .number, "a number"), ("string", .string, "a string"),
        ("integer", .integer, "an integer"),
    ]

    init(rawValue: UInt8) { self.rawValue = rawValue }

    init?(name: String) {
        guard let known = Self.named.first(where: { $0.name == name }) else { return nil }
        self = known.type
    }

    /// The types with their articles: "a string or null".
    var phrase: String {
        Self.named.filter { contains($0.type) }.map(\.phrase).reversed().joined(separator: " or ")
    }

    func allows(_ node: JSONNode) -> Bool {
        switch node.value {
        case .null: contains(.null)
        case .bool: contains(.boolean)
        case .object: contains(.object)
        case .array: contains(.array)
        case .string: contains(.string)
        case .number(let text):
            contains(.number) || contains(.integer) && DecimalNumber(text).isWhole
        }
    }
}

/// The values of one `enum` or `const`.
struct AllowedValues: Sendable {
    /// In canonical notation.
    var values: Set<[UInt8]>
    /// The values for messages, cut off.
    var phrase: String
}

struct NumberRule: Sendable {
    /// A limit with its text in the schema.
    struct Limit: Sendable {
        var value: DecimalNumber
        var text: String
    }

    var minimum: Limit?
    var maximum: Limit?
    var exclusiveMinimum: Limit?
    var exclusiveMaximum: Limit?
    var multiple: (divisor: DecimalDivisor, text: String)?
}

struct TextRule: Sendable {
    var least = 0
    var most = Int.max
    var pattern: (compiled: LinearPattern, text: String)?
    var format: TextFormatRule?
}

struct ArrayRule: Sendable {
    var first: [Int] = []
    var rest: Int?
    var least = 0
    var most = Int.max
    var isUnique = false
}

struct ObjectRule: Sendable {
    var properties: [[UInt8]: Int] = [:]
    var required: [String] = []
    var additional: Int?
    /// Whether `additionalProperties` is `false`, for the message.
    var isClosed = false
    var least = 0
    var most = Int.max
}
