// SPDX-License-Identifier: Apache-2.0

/// How a C function is called, read from text such as `ulong(ulong, bytes, uint)`.
///
/// The language is described in `docs/FUNCTIONS.md`. A value made by `init(parsing:)` is consistent:
/// names are unique, what refers to an argument finds one that fits, and every limit is kept.
package struct FunctionSignature: Equatable, Sendable {
    /// `nil` is `void`.
    package var result: ForeignType?
    package var arguments: [FunctionArgument]
    /// How many arguments stand before `...`; `nil` if the function is not variadic.
    package var fixedArguments: Int?
    /// What the result must be for the run to have succeeded; `nil` takes any.
    package var success: SuccessCondition?

    init(
        result: ForeignType?,
        arguments: [FunctionArgument],
        fixedArguments: Int? = nil,
        success: SuccessCondition? = nil
    ) {
        self.result = result
        self.arguments = arguments
        self.fixedArguments = fixedArguments
        self.success = success
    }

    /// Reads a signature.
    /// - Throws: What is wrong, in which column, and what would be right.
    package init(parsing text: String) throws(SignatureError) {
        var parser = try SignatureParser(text)
        self = try parser.signature()
    }

    /// What is wrong with a signature, in one line for people; `nil` if nothing is.
    package static func problem(in text: String) -> String? {
        do throws(SignatureError) {
            _ = try FunctionSignature(parsing: text)
            return nil
        } catch {
            return error.description
        }
    }

    /// Whether the function ends its run by calling `done`, not by returning.
    package var endsByCallback: Bool {
        arguments.contains { argument in
            if case .done = argument.passing { true } else { false }
        }
    }

    /// Where an argument of that name stands.
    package func index(ofArgument name: String) -> Int? {
        arguments.firstIndex { $0.name == name }
    }
}

/// What a signature may not exceed.
package enum SignatureLimits {
    package static let textLength = 4096
    package static let arguments = 64
    package static let structureFields = 64
    package static let structureDepth = 8
    /// The capacity of an output buffer that names none, bytes.
    package static let bufferBytesDefault = 64 << 10
    /// What the output buffers of one call may take together, and any one input, bytes.
    package static let bufferBytesMax = 16 << 20
}

/// A comparison of the result, as in `int(string, int) >= 0` or `pointer(size) != null`.
package struct SuccessCondition: Equatable, Sendable {
    package enum Comparison: String, CaseIterable, Equatable, Sendable {
        case equal = "=="
        case notEqual = "!="
        case lessOrEqual = "<="
        case greaterOrEqual = ">="
        case less = "<"
        case greater = ">"
    }

    package enum Operand: Equatable, Sendable {
        case null
        case boolean(Bool)
        case integer(Int128)
    }

    package var comparison: Comparison
    package var operand: Operand

    package init(_ comparison: Comparison, _ operand: Operand) {
        self.comparison = comparison
        self.operand = operand
    }

    /// Whether a result fulfils it: the whole number, or of a `bool` 0 or 1, of a pointer its
    /// address.
    package func holds(for value: Int128) -> Bool {
        let (value, operand): (Int128, Int128) =
            switch operand {
            case .null: (value, 0)
            // C promises 0 or 1, but a wrong signature may show anything.
            case .boolean(let flag): (value == 0 ? 0 : 1, flag ? 1 : 0)
            case .integer(let operand): (value, operand)
            }
        return switch comparison {
        case .equal: value == operand
        case .notEqual: value != operand
        case .lessOrEqual: value <= operand
        case .greaterOrEqual: value >= operand
        case .less: value < operand
        case .greater: value > operand
        }
    }
}
