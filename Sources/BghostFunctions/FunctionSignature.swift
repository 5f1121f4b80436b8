// SPDX-License-Identifier: Apache-2.0

/// The signature of a C function, parsed from text such as `ulong(ulong, bytes, uint)`.
///
/// `docs/FUNCTIONS.md` describes the language. A value that was created by `init(parsing:)` is consistent:
/// names are unique, references to arguments are valid, and all limits are met.
package struct FunctionSignature: Equatable, Sendable {
    /// `nil` is `void`.
    package var result: ForeignType?
    package var arguments: [FunctionArgument]
    /// The number of arguments before `...`; `nil` if the function is not variadic.
    package var fixedArguments: Int?
    /// The condition that the result of a successful run meets; `nil` accepts any result.
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

    /// Parses a signature.
    /// - Throws: the error with its column, and what is valid.
    package init(parsing text: String) throws(SignatureError) {
        var parser = try SignatureParser(text)
        self = try parser.signature()
    }

    /// The error in a signature, in one line for people; `nil` if it is valid.
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

    /// The index of the argument with a name.
    package func index(ofArgument name: String) -> Int? {
        arguments.firstIndex { $0.name == name }
    }
}

/// The limits of a signature.
package enum SignatureLimits {
    static let textLength = 4096
    package static let arguments = 64
    static let structureFields = 64
    static let structureDepth = 8
    /// The capacity of an output buffer without one in the signature, bytes.
    static let bufferBytesDefault = 64 << 10
    /// The maximum total size of a call's output buffers, and the maximum size of an input, bytes.
    package static let bufferBytesMax = 16 << 20
}

/// A condition on the result, as in `int(string, int) >= 0` or `pointer(size) != null`.
package struct SuccessCondition: Equatable, Sendable {
    enum Comparison: String, CaseIterable, Equatable, Sendable {
        case equal = "=="
        case notEqual = "!="
        case lessOrEqual = "<="
        case greaterOrEqual = ">="
        case less = "<"
        case greater = ">"
    }

    enum Operand: Equatable, Sendable {
        case null
        case boolean(Bool)
        case integer(Int128)
    }

    var comparison: Comparison
    var operand: Operand

    init(_ comparison: Comparison, _ operand: Operand) {
        self.comparison = comparison
        self.operand = operand
    }

    /// Whether a result meets the condition.
    ///
    /// - Parameter value: the integer; 0 or 1 for a `bool`; the address for a pointer.
    package func holds(for value: Int128) -> Bool {
        let (value, operand): (Int128, Int128) =
            switch operand {
            case .null: (value, 0)
            // C guarantees 0 or 1, but with a wrong signature the value may be different.
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
