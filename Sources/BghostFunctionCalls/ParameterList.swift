// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostFunctions
import BghostPlugin

/// The parameters of a run, assigned to the arguments of a function.
///
/// They name the arguments, `{"crc": 0, "data": "hello"}`, or list those without a preset in their
/// order, `{"arguments": [0, "hello"]}`.
struct ParameterList {
    /// The value for each argument of the signature; `nil` if it is preset or missing.
    private(set) var values: [JSONNode?]

    /// - Parameter isComplete: whether an argument without a value is an error.
    init(
        _ text: String,
        for signature: FunctionSignature,
        isComplete: Bool = true
    ) throws(FunctionError) {
        values = Array(repeating: nil, count: signature.arguments.count)
        let members = try Self.members(text)
        if let listed = members.first(where: { $0.key == "arguments" }) {
            if let other = members.first(where: { $0.key != "arguments" }) {
                throw .badParameters(
                    argument: nil,
                    reason:
                        "hold both `arguments` and `\(other.key)`; give either the list or names"
                )
            }
            try assign(list: listed.value, in: signature)
        } else {
            for member in members { try assign(member, in: signature) }
        }
        guard isComplete else { return }
        for (index, argument) in signature.arguments.enumerated()
        where argument.isGiven && argument.preset == nil && values[index] == nil {
            throw .badParameters(
                argument: signature.label(ofArgument: index),
                reason: argument.name.map { "is missing: give `\"\($0)\"`" }
                    ?? "is missing; it has no name, so list it in `\"arguments\": [...]`"
            )
        }
    }

    private static func members(_ text: String) throws(FunctionError) -> [JSONMember] {
        do throws(JSONError) {
            guard let members = try JSONReader.parse(text, dialect: .strict).object else {
                throw JSONError(.notAnObject, at: ByteSpan(start: 0, end: 0))
            }
            return members
        } catch {
            throw .badParameters(argument: nil, reason: "are no JSON object: \(error.description)")
        }
    }

    private mutating func assign(
        list: JSONNode,
        in signature: FunctionSignature
    ) throws(FunctionError) {
        guard let elements = list.array else {
            throw .badParameters(
                argument: nil,
                reason: "need a list at `arguments`, not \(list.typeName)"
            )
        }
        let places = signature.arguments.indices.filter { signature.arguments[$0].isGiven }
        guard elements.count <= places.count else {
            throw .badParameters(
                argument: nil,
                reason: "list \(elements.count) arguments; `\(signature)` takes \(places.count)"
            )
        }
        for (place, element) in zip(places, elements) { values[place] = element }
    }

    private mutating func assign(
        _ member: JSONMember,
        in signature: FunctionSignature
    ) throws(FunctionError) {
        guard let index = signature.index(ofArgument: member.key) else {
            let names = signature.arguments.filter(\.isGiven).compactMap(\.name)
            let meant = Spelling.nearest(to: member.key, among: names)
            let advice =
                meant.map { "did you mean `\($0)`?" }
                ?? (names.isEmpty
                    ? "its arguments have no names; list them in `\"arguments\": [...]`"
                    : "it takes " + names.map { "`\($0)`" }.joined(separator: ", "))
            throw .badParameters(
                argument: nil,
                reason: "name `\(member.key)`, which the function has not; \(advice)"
            )
        }
        guard signature.arguments[index].isGiven else {
            throw .badParameters(
                argument: signature.label(ofArgument: index),
                reason: "takes no value: it is `\(signature.arguments[index].passing)`"
            )
        }
        values[index] = member.value
    }
}

extension FunctionSignature {
    /// The name of an argument in messages: its own name, otherwise its position and type.
    func label(ofArgument index: Int) -> String {
        arguments[index].name.map { "`\($0)`" } ?? "\(index + 1) (`\(arguments[index].passing)`)"
    }
}

extension FunctionArgument.Preset {
    /// The value as JSON; `nil` for a length, which depends on other arguments.
    var node: JSONNode? {
        switch self {
        case .null: JSONNode(.null)
        case .boolean(let flag): JSONNode(.bool(flag))
        case .integer(let number): JSONNode(.number(String(number)))
        case .number(let number): JSONNode(.number(String(number)))
        case .text(let text): JSONNode(.string(text))
        case .lengthOf, .capacityOf: nil
        }
    }
}
