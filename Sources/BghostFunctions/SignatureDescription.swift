// SPDX-License-Identifier: Apache-2.0

// The canonical form: parsing it again gives an equal value.

extension FunctionSignature: CustomStringConvertible {
    package var description: String {
        var parts = arguments.map(\.description)
        if let fixedArguments { parts.insert("...", at: fixedArguments) }
        let condition = success.map { " " + $0.description } ?? ""
        return (result?.description ?? "void") + "(" + parts.joined(separator: ", ") + ")"
            + condition
    }
}

extension FunctionArgument: CustomStringConvertible {
    package var description: String {
        (name.map { $0 + ": " } ?? "") + passing.description
            + (preset.map { " = " + $0.description } ?? "")
    }
}

extension FunctionArgument.Passing: CustomStringConvertible {
    package var description: String {
        switch self {
        case .value(let type): type.description
        case .bytes: "bytes"
        case .reference(let type, let given): (given ? "inout " : "out ") + type.description
        case .buffer(let buffer): buffer.description
        case .done(let text): text ? "done(string)" : "done"
        case .cancelled: "cancelled"
        }
    }
}

extension OutputBuffer: CustomStringConvertible {
    package var description: String {
        let extent =
            switch filled {
            case .whole: ""
            case .result: ", result"
            case .argument(let name): ", " + name
            }
        return (given ? "inout " : "out ") + (text ? "string" : "bytes") + "(\(capacity)\(extent))"
    }
}

extension FunctionArgument.Preset: CustomStringConvertible {
    package var description: String {
        switch self {
        case .null: "null"
        case .boolean(let value): value ? "true" : "false"
        case .integer(let value): String(value)
        case .number(let value): String(value)
        case .text(let text): Self.quoted(text)
        case .lengthOf(let name): "lengthOf(\(name))"
        case .capacityOf(let name): "capacityOf(\(name))"
        }
    }

    private static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": quoted += "\\" + String(scalar)
            case "\n": quoted += "\\n"
            case "\t": quoted += "\\t"
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}

extension SuccessCondition: CustomStringConvertible {
    package var description: String {
        let operand =
            switch operand {
            case .null: "null"
            case .boolean(let flag): flag ? "true" : "false"
            case .integer(let number): String(number)
            }
        return comparison.rawValue + " " + operand
    }
}
