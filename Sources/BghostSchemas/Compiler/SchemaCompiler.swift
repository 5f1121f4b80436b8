// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

/// Compiles a schema: the subset of JSON Schema 2020-12 that docs/HANDLERS.md lists.
///
/// The specification lets a program ignore a keyword that it does not know. This one refuses it, since
/// the author meant a rule that would silently not hold.
struct SchemaCompiler {
    static let rulesMax = 4096
    /// The most bytes of the place of a schema, since each schema holds its own while they are compiled.
    private static let pointerBytesMax = 4096
    private static let definitions = "$defs"

    private(set) var rules: [SchemaRule] = []
    private var budget: SchemaBudget
    /// The rules that `$ref` can name, by their pointers.
    private var targets: [String: Int] = [:]
    private var references: [(rule: Int, target: String, pointer: String, span: ByteSpan)] = []
    /// Where each rule stands, for errors.
    private var places: [(pointer: String, span: ByteSpan)] = []

    /// Compiles a schema; subtracts what it holds from a budget, also if it is refused.
    static func compile(
        _ root: JSONNode,
        within budget: inout SchemaBudget
    ) throws(SchemaError) -> [SchemaRule] {
        var compiler = SchemaCompiler(budget: budget)
        // One reference at a time, so that the patterns are not copied.
        budget = SchemaBudget()
        defer { swap(&budget, &compiler.budget) }
        _ = try compiler.rule(root, "", isTarget: true)
        try compiler.resolve()
        try compiler.refuseLoops()
        return compiler.rules
    }

    // MARK: Rules

    mutating func rule(
        _ node: JSONNode,
        _ pointer: String,
        isTarget: Bool = false
    ) throws(SchemaError) -> Int {
        guard rules.count < Self.rulesMax else {
            throw SchemaError(pointer, "it has more than \(Self.rulesMax) schemas", at: node.span)
        }
        try require(node, pointer)
        let index = rules.count
        rules.append(SchemaRule())
        places.append((pointer, node.span))
        if isTarget { targets["#" + pointer] = index }
        if let flag = node.bool {
            rules[index].isNever = !flag
            return index
        }
        guard let members = node.object else {
            throw SchemaError(
                pointer,
                "a schema is an object, true or false, not \(node.typeName)",
                at: node.span
            )
        }
        var rule = SchemaRule()
        for member in members {
            let place = pointer + "/" + SchemaPointer.escaped(member.key)
            try read(member, into: &rule, index, place)
        }
        rules[index] = rule
        return index
    }

    private mutating func require(_ node: JSONNode, _ pointer: String) throws(SchemaError) {
        guard budget.addRule() else {
            throw SchemaError(
                pointer,
                "the schemas of the plugin have more than \(SchemaBudget.rulesMax) schemas in them",
                at: node.span
            )
        }
        guard pointer.utf8.count <= Self.pointerBytesMax else {
            let start = String(pointer.unicodeScalars.prefix(128)) + "…"
            throw SchemaError(
                start,
                "the keys above this schema have more than \(Self.pointerBytesMax) bytes",
                at: node.span
            )
        }
    }

    private mutating func read(
        _ member: JSONMember,
        into rule: inout SchemaRule,
        _ index: Int,
        _ place: String
    ) throws(SchemaError) {
        if Self.isAnnotation(member.key) { return }
        let reader = KeywordReader(member: member, place: place)
        if try reader.readPlain(into: &rule, &budget) { return }
        let value = member.value
        switch member.key {
        case "properties":
            var properties = rule.objects?.properties ?? [:]
            for child in try reader.object() {
                let inner = place + "/" + SchemaPointer.escaped(child.key)
                properties[Array(child.key.utf8)] = try self.rule(child.value, inner)
            }
            rule.objects = rule.objects ?? ObjectRule()
            rule.objects?.properties = properties
        case "additionalProperties":
            let additional = try self.rule(value, place)
            rule.objects = rule.objects ?? ObjectRule()
            rule.objects?.additional = additional
            rule.objects?.isClosed = value.bool == false
        case "items":
            let rest = try self.rule(value, place)
            rule.arrays = rule.arrays ?? ArrayRule()
            rule.arrays?.rest = rest
        case "prefixItems":
            let first = try list(reader, place)
            rule.arrays = rule.arrays ?? ArrayRule()
            rule.arrays?.first = first
        case "allOf": rule.all += try list(reader, place)
        case "anyOf": rule.any.append(try list(reader, place))
        case "oneOf": rule.one.append(try list(reader, place))
        case "not": rule.not = try self.rule(value, place)
        case Self.definitions:
            for child in try reader.object() {
                let inner = place + "/" + SchemaPointer.escaped(child.key)
                _ = try self.rule(child.value, inner, isTarget: true)
            }
        case "$ref":
            references.append((index, try reader.text(), place, value.span))
            // Replaced when all targets are known; the rule itself is not read before.
            rule.reference = index
        default: throw reader.unknown()
        }
    }

    private mutating func list(
        _ reader: KeywordReader,
        _ place: String
    ) throws(SchemaError) -> [Int] {
        let elements = try reader.array()
        guard !elements.isEmpty else { throw reader.error("it has no schema in it") }
        var result: [Int] = []
        for (index, element) in elements.enumerated() {
            result.append(try rule(element, "\(place)/\(index)"))
        }
        return result
    }

    /// Whether a keyword says nothing about which values fit.
    private static func isAnnotation(_ keyword: String) -> Bool {
        switch keyword {
        case "$schema", "$id", "$comment", "title", "description", "default", "examples",
            "deprecated", "readOnly", "writeOnly", "contentEncoding", "contentMediaType":
            true
        default: keyword.hasPrefix("x-")
        }
    }

    // MARK: References

    private mutating func resolve() throws(SchemaError) {
        for reference in references {
            guard let target = targets[reference.target] else {
                throw SchemaError(
                    reference.pointer,
                    "\(reference.target.debugDescription) is neither `#` nor `#/$defs/NAME` of this"
                        + " schema; other documents are not read",
                    at: reference.span
                )
            }
            rules[reference.rule].reference = target
        }
    }

    /// Refuses schemas that refer to themselves for the same value, which would never come to an end.
    private func refuseLoops() throws(SchemaError) {
        // 0: not seen, 1: under way, 2: done. No recursion, since a chain can be as long as the schema.
        var states = [UInt8](repeating: 0, count: rules.count)
        for start in rules.indices where states[start] == 0 {
            var stack = [(rule: start, children: rules[start].inPlace, next: 0)]
            states[start] = 1
            while let top = stack.last {
                guard top.next < top.children.count else {
                    states[top.rule] = 2
                    stack.removeLast()
                    continue
                }
                stack[stack.count - 1].next += 1
                let child = top.children[top.next]
                if states[child] == 1 {
                    let place = places[top.rule]
                    throw SchemaError(
                        place.pointer,
                        "it refers to itself for the same value",
                        at: place.span
                    )
                }
                guard states[child] == 0 else { continue }
                states[child] = 1
                stack.append((child, rules[child].inPlace, 0))
            }
        }
    }
}

/// Parts of JSON pointers.
enum SchemaPointer {
    static func escaped(_ key: String) -> String {
        guard key.utf8.contains(where: { $0 == UInt8(ascii: "~") || $0 == UInt8(ascii: "/") })
        else { return key }
        var result: [UInt8] = []
        for byte in key.utf8 {
            switch byte {
            case UInt8(ascii: "~"): result += "~0".utf8
            case UInt8(ascii: "/"): result += "~1".utf8
            default: result.append(byte)
            }
        }
        return String(decoding: result, as: UTF8.self)
    }
}
