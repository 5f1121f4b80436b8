// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostSchemas
import Testing

/// Random schemas and values: the compiled schema agrees with an evaluator that reads the schema's text
/// anew for each value and knows nothing of indices, steps or messages.
@Suite struct SchemaPropertyTests {
    @Test(.timeLimit(.minutes(5)), arguments: 0..<20 as Range<UInt64>)
    func `A compiled schema decides as a simple reading of its text`(seed: UInt64) throws {
        var random = RandomSchemas(seed: seed)
        var fitting = 0
        for _ in 0..<500 {
            let text = random.document()
            let schema = try ParameterSchema(text)
            let root = try JSONReader.parse(text)
            for _ in 0..<5 {
                let value = "{" + random.members(3) + "}"
                let node = try JSONReader.parse(value)
                let fits = NaiveSchema(root: root).fits(node, root)
                let faults = schema.faults(in: value)
                #expect(faults.isEmpty == fits, "\(text)\n\(value)\n\(faults)")
                fitting += fits ? 1 : 0
                guard faults.isEmpty == fits else { return }
            }
        }
        // Both answers must be frequent, or the test shows nothing.
        #expect((250..<2250).contains(fitting), "\(fitting)")
    }
}

/// Reads a schema as the specification says it, value by value.
private struct NaiveSchema {
    let root: JSONNode

    func fits(_ value: JSONNode, _ schema: JSONNode) -> Bool {
        if let flag = schema.bool { return flag }
        return (schema.object ?? []).allSatisfy { fits(value, $0.key, $0.value, schema) }
    }

    private func fits(
        _ value: JSONNode,
        _ keyword: String,
        _ rule: JSONNode,
        _ schema: JSONNode
    ) -> Bool {
        let number = value.double
        let elements = value.array
        let members = value.object
        switch keyword {
        case "type": return (rule.array ?? [rule]).contains { isOf(value, $0.string ?? "") }
        case "enum": return rule.array?.contains { same($0, value) } == true
        case "minimum": return number.map { $0 >= rule.double ?? 0 } ?? true
        case "maximum": return number.map { $0 <= rule.double ?? 0 } ?? true
        case "minLength": return value.string.map { $0.count >= Int(rule.int64 ?? 0) } ?? true
        case "minItems": return elements.map { $0.count >= Int(rule.int64 ?? 0) } ?? true
        case "uniqueItems":
            guard let elements else { return true }
            return elements.indices.allSatisfy { index in
                !elements[..<index].contains { same($0, elements[index]) }
            }
        case "items":
            let skipped = schema["prefixItems"]?.array?.count ?? 0
            return elements?.dropFirst(skipped).allSatisfy { fits($0, rule) } ?? true
        case "prefixItems":
            return zip(elements ?? [], rule.array ?? []).allSatisfy { fits($0, $1) }
        case "required":
            return members == nil || (rule.array ?? []).allSatisfy { value[$0.string ?? ""] != nil }
        case "properties":
            return (members ?? []).allSatisfy { member in
                rule[member.key].map { fits(member.value, $0) } ?? true
            }
        case "additionalProperties":
            return (members ?? []).allSatisfy { member in
                schema["properties"]?[member.key] != nil || fits(member.value, rule)
            }
        case "allOf": return rule.array?.allSatisfy { fits(value, $0) } == true
        case "anyOf": return rule.array?.contains { fits(value, $0) } == true
        case "oneOf": return rule.array?.count { fits(value, $0) } == 1
        case "not": return !fits(value, rule)
        case "$ref":
            let name = String((rule.string ?? "").dropFirst("#/$defs/".count))
            return root["$defs"]?[name].map { fits(value, $0) } ?? false
        default: return true
        }
    }

    private func isOf(_ value: JSONNode, _ type: String) -> Bool {
        switch type {
        case "null": value.isNull
        case "boolean": value.bool != nil
        case "number": value.double != nil
        case "integer": value.double.map { $0 == $0.rounded() } ?? false
        case "string": value.string != nil
        case "array": value.array != nil
        default: value.object != nil
        }
    }

    private func same(_ a: JSONNode, _ b: JSONNode) -> Bool {
        if let x = a.double, let y = b.double { return x == y }
        if let x = a.array, let y = b.array {
            return x.count == y.count && zip(x, y).allSatisfy(same)
        }
        if let x = a.object, let y = b.object {
            return x.count == y.count
                && x.allSatisfy { member in b[member.key].map { same(member.value, $0) } ?? false }
        }
        return a == b
    }
}

/// Small schemas and values over few keys, so that they meet.
private struct RandomSchemas {
    private var random: SplitMix64

    init(seed: UInt64) { random = SplitMix64(seed: seed) }

    private mutating func below(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }

    private mutating func pick(_ texts: [String]) -> String { texts[below(texts.count)] }

    private let keys = ["a", "b", "c"]

    mutating func document() -> String {
        let definitions = (0..<2).map { "\"d\($0)\":" + schema(2) }.joined(separator: ",")
        let inner = schema(3).dropFirst()
        guard inner.first == "\"" || inner.first == "}" else { return document() }
        return "{\"$defs\":{\(definitions)}" + (inner == "}" ? "" : ",") + inner
    }

    mutating func schema(_ depth: Int) -> String {
        if below(12) == 0 { return pick(["true", "false"]) }
        var parts: [String: String] = [:]
        for _ in 0..<(1 + below(3)) {
            let (key, value) = keyword(depth)
            parts[key] = value
        }
        return "{"
            + parts.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.value)" }
            .joined(separator: ",") + "}"
    }

    private mutating func keyword(_ depth: Int) -> (String, String) {
        let types = ["null", "boolean", "integer", "number", "string", "array", "object"]
        switch below(depth > 0 ? 16 : 7) {
        case 0: return ("type", "[\"\(pick(types))\",\"\(pick(types))\"]")
        case 1: return ("enum", "[" + value(1) + "," + value(1) + "]")
        case 2: return ("minimum", pick(["0", "1", "1.5", "2e0"]))
        case 3: return ("maximum", pick(["0", "1", "1.5", "2.0"]))
        case 4: return ("minLength", pick(["0", "1", "2"]))
        case 5: return (pick(["minItems"]), pick(["0", "1", "2"]))
        case 6: return (pick(["required"]), "[\"\(pick(keys))\"]")
        case 7: return ("uniqueItems", pick(["true", "false"]))
        case 8: return ("items", schema(depth - 1))
        case 9: return ("prefixItems", "[" + schema(depth - 1) + "]")
        case 10: return ("additionalProperties", schema(depth - 1))
        case 11: return ("not", schema(depth - 1))
        case 12:
            let pair = schema(depth - 1) + "," + schema(depth - 1)
            return (pick(["allOf", "anyOf", "oneOf"]), "[\(pair)]")
        // Only from the document, so that no definition refers to itself for the same value.
        case 13 where depth == 3: return ("$ref", "\"#/$defs/" + pick(["d0", "d1"]) + "\"")
        default:
            let first = pick(keys)
            return ("properties", "{\"\(first)\":" + schema(depth - 1) + "}")
        }
    }

    mutating func value(_ depth: Int) -> String {
        switch below(depth > 0 ? 8 : 6) {
        case 0: "null"
        case 1: pick(["true", "false"])
        case 2, 3: pick(["0", "1", "1.0", "1.5", "2", "2e0"])
        case 4, 5: pick(["\"\"", "\"a\"", "\"ab\""])
        case 6: "[" + (0..<below(3)).map { _ in value(depth - 1) }.joined(separator: ",") + "]"
        default: "{" + members(depth) + "}"
        }
    }

    mutating func members(_ depth: Int) -> String {
        var result: [String] = []
        for key in keys where below(2) == 0 { result.append("\"\(key)\":" + value(depth - 1)) }
        return result.joined(separator: ",")
    }
}
