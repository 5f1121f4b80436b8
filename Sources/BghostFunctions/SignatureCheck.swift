// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

/// Checks of a signature that require all of it.
struct SignatureCheck {
    var signature: FunctionSignature
    /// The start column of each argument.
    var columns: [Int]

    func run() throws(SignatureError) {
        var names: Set<String> = []
        var bufferBytes = 0
        var callbacks: Set<String> = []
        for (argument, column) in zip(signature.arguments, columns) {
            if let name = argument.name, !names.insert(name).inserted {
                throw SignatureError(column, "there are two arguments named `\(name)`")
            }
            switch argument.passing {
            case .done, .cancelled:
                let word = if case .cancelled = argument.passing { "cancelled" } else { "done" }
                guard callbacks.insert(word).inserted else {
                    throw SignatureError(column, "`\(word)` can stand once only")
                }
            case .buffer(let buffer):
                // Each capacity is at most 16 MiB and there are at most 64, so this cannot overflow.
                bufferBytes += buffer.capacity
                guard bufferBytes <= SignatureLimits.bufferBytesMax else {
                    throw SignatureError(column, "all buffers together can have at most 16MiB")
                }
                try check(buffer.filled, column: column)
            case .value(.string(owned: true)), .reference(.string(owned: true), given: true):
                throw SignatureError(
                    column,
                    "`owned` is for what the function answers: a result or an `out string`"
                )
            case .value, .bytes, .reference: break
            }
            if let preset = argument.preset { try check(preset, of: argument, column: column) }
        }
        try checkVariadic()
    }

    private func check(
        _ filled: OutputBuffer.Filled,
        column: Int
    ) throws(SignatureError) {
        switch filled {
        case .whole: break
        case .result:
            guard signature.result?.integer != nil else {
                throw SignatureError(
                    column,
                    "the result is no whole number, so it cannot say how much was written"
                )
            }
        case .argument(let name):
            let argument = try find(name, column: column)
            guard case .reference(let type, _) = argument.passing, type.integer != nil else {
                throw SignatureError(
                    column,
                    "`\(name)` must be a whole number that the function sets, such as `out size`"
                )
            }
        }
    }

    private func check(
        _ preset: FunctionArgument.Preset,
        of argument: FunctionArgument,
        column: Int
    ) throws(SignatureError) {
        let name: String
        let isLength: Bool
        switch preset {
        case .lengthOf(let other): (name, isLength) = (other, true)
        case .capacityOf(let other): (name, isLength) = (other, false)
        default: return
        }
        switch argument.passing {
        case .value(let type) where type.integer != nil: break
        case .reference(let type, _) where type.integer != nil: break
        default: throw SignatureError(column, "only a whole number can be a length")
        }
        switch try find(name, column: column).passing {
        case .bytes, .value(.string):
            guard isLength else {
                throw SignatureError(column, "`\(name)` is read only; write `lengthOf(\(name))`")
            }
        case .buffer(let buffer):
            guard !isLength || buffer.given else {
                throw SignatureError(
                    column,
                    "nothing is given for `\(name)`; write `capacityOf(\(name))`"
                )
            }
        default:
            throw SignatureError(
                column,
                "`\(name)` has no length: it is no string, bytes or buffer"
            )
        }
    }

    private func find(_ name: String, column: Int) throws(SignatureError) -> FunctionArgument {
        let found = signature.arguments.first { $0.name == name }
        if let found { return found }
        let meant = Spelling.nearest(to: name, among: signature.arguments.compactMap(\.name))
        let hint = meant.map { "; did you mean `\($0)`?" } ?? "; name it as in `\(name): bytes`"
        throw SignatureError(column, "no argument is named `\(name)`" + hint)
    }

    /// C promotes small types after `...`, so a callee never receives one there.
    private func checkVariadic() throws(SignatureError) {
        guard let fixed = signature.fixedArguments else { return }
        for (argument, column) in zip(signature.arguments, columns).dropFirst(fixed) {
            guard case .value(.scalar(let scalar)) = argument.passing, !scalar.survivesPromotion
            else { continue }
            let wide = scalar.isFloatingPoint ? "double" : "int"
            throw SignatureError(
                column,
                "after `...` C passes `\(scalar.rawValue)` as `\(wide)`; write `\(wide)`"
            )
        }
    }
}
