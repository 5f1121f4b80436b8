// SPDX-License-Identifier: Apache-2.0

/// Parses a signature by recursive descent; only structs recurse, and their depth is limited.
///
///     signature  = result "(" [ "void" | argument { "," argument } ] ")" [ condition ]
///     argument   = "..." | "cancelled" | "done" [ "(" "string" ")" ]
///                | [ name ":" ] [ "out" | "inout" ] type [ "(" extent ")" ] [ "=" preset ]
struct SignatureParser {
    var tokens: [SignatureToken]
    /// The error at the end of the tokens, if that is not the end of the text.
    let fault: SignatureError?
    var position = 0
    /// The start column of each argument so far, for later checks.
    var columns: [Int] = []

    init(_ text: String) throws(SignatureError) {
        var scanner = try SignatureScanner(text)
        (tokens, fault) = scanner.tokens()
    }

    /// The next token, which is not consumed; there is always one, since the end is never consumed.
    var next: SignatureToken { tokens[position] }

    mutating func signature() throws(SignatureError) -> FunctionSignature {
        let signature: FunctionSignature
        do throws(SignatureError) {
            signature = try wholeSignature()
        } catch {
            throw fault.map { $0.column <= error.column ? $0 : error } ?? error
        }
        if let fault { throw fault }
        return signature
    }

    private mutating func wholeSignature() throws(SignatureError) -> FunctionSignature {
        guard next.kind != .end else {
            throw SignatureError(1, "the signature is empty; write `int(string)`, for example")
        }
        var signature = FunctionSignature(result: try result(), arguments: [])
        try expect("(", "after the result type")
        try arguments(into: &signature)
        if next.kind != .end { signature.success = try condition(on: signature.result) }
        guard next.kind == .end else {
            throw SignatureError(next.column, "the signature should end before \(next.shown)")
        }
        try SignatureCheck(signature: signature, columns: columns).run()
        return signature
    }

    private mutating func result() throws(SignatureError) -> ForeignType? {
        if next.isWord("void") {
            position += 1
            return nil
        }
        guard !next.isWord("bytes") else {
            throw SignatureError(
                next.column,
                "a result has no length, so it cannot be `bytes`; take `string` for text or "
                    + "`pointer` for a handle"
            )
        }
        return try type(depth: 0)
    }

    // MARK: - Arguments

    private mutating func arguments(into signature: inout FunctionSignature) throws(SignatureError)
    {
        if next.isWord("void"), tokens[position + 1].isMark(")") { position += 1 }
        guard !next.isMark(")") else {
            position += 1
            return
        }
        repeat {
            if next.isMark("...") {
                try variadic(in: &signature)
                continue
            }
            guard signature.arguments.count < SignatureLimits.arguments else {
                throw SignatureError(
                    next.column,
                    "there are more than \(SignatureLimits.arguments) arguments"
                )
            }
            columns.append(next.column)
            signature.arguments.append(try argument())
        } while consume(",")
        try expect(")", "or `,` after an argument")
    }

    private mutating func variadic(in signature: inout FunctionSignature) throws(SignatureError) {
        guard signature.fixedArguments == nil, !signature.arguments.isEmpty else {
            throw SignatureError(
                next.column,
                "`...` stands once, between the fixed arguments and the others"
            )
        }
        signature.fixedArguments = signature.arguments.count
        position += 1
    }

    private mutating func argument() throws(SignatureError) -> FunctionArgument {
        let name = try argumentName()
        let column = next.column
        if consume(word: "cancelled") { return FunctionArgument(name: name, passing: .cancelled) }
        if consume(word: "done") {
            guard consume("(") else {
                return FunctionArgument(name: name, passing: .done(text: false))
            }
            guard consume(word: "string") else {
                throw SignatureError(
                    next.column,
                    "`done` takes nothing or `string`, not \(next.shown)"
                )
            }
            try expect(")", "after `done(string`")
            return FunctionArgument(name: name, passing: .done(text: true))
        }
        var argument = FunctionArgument(name: name, passing: try passing())
        guard consume("=") else { return argument }
        guard argument.isGiven else {
            throw SignatureError(
                column,
                "an `out` argument starts with zeros; write `inout` to give it a value"
            )
        }
        argument.preset = try preset(for: argument.passing)
        return argument
    }

    private mutating func argumentName() throws(SignatureError) -> String? {
        guard case .word(let name) = next.kind, tokens[position + 1].isMark(":") else { return nil }
        guard name != "arguments", name != "result" else {
            throw SignatureError(
                next.column,
                "`\(name)` has a meaning of its own; name it otherwise"
            )
        }
        position += 2
        return name
    }

    private mutating func passing() throws(SignatureError) -> FunctionArgument.Passing {
        let column = next.column
        let given = next.isWord("inout")
        let isReference = consume(word: "out") || consume(word: "inout")
        guard isReference else {
            if consume(word: "bytes") {
                guard !next.isMark("(") else {
                    throw SignatureError(
                        column,
                        "`bytes` takes the length of what it is given; a buffer that the "
                            + "function writes to is `out bytes(4096)`"
                    )
                }
                return .bytes
            }
            return .value(try type(depth: 0))
        }
        if consume(word: "bytes") {
            return .buffer(try buffer(text: false, given: given))
        }
        if next.isWord("string"), tokens[position + 1].isMark("(") {
            position += 1
            return .buffer(try buffer(text: true, given: given))
        }
        guard !next.isWord("void") else {
            throw SignatureError(
                next.column,
                "`void` has no value; a `void **` is written `out pointer`"
            )
        }
        return .reference(try type(depth: 0), given: given)
    }

    private mutating func buffer(
        text: Bool,
        given: Bool
    ) throws(SignatureError) -> OutputBuffer {
        var buffer = OutputBuffer(
            capacity: SignatureLimits.bufferBytesDefault,
            text: text,
            given: given
        )
        guard consume("(") else { return buffer }
        buffer.capacity = try capacity()
        if consume(",") {
            guard !text, case .word(let name) = next.kind else {
                throw SignatureError(
                    next.column,
                    text
                        ? "text ends at its NUL; only `bytes` can name an argument with its length"
                        : "after the capacity stands `result` or the argument with the length"
                )
            }
            position += 1
            buffer.filled = name == "result" ? .result : .argument(name)
        }
        try expect(")", "after the capacity")
        return buffer
    }

    private mutating func capacity() throws(SignatureError) -> Int {
        let column = next.column
        guard case .number(let digits) = next.kind, var bytes = Int(digits), bytes > 0 else {
            throw SignatureError(
                column,
                "a capacity in bytes is needed, such as 4096 or 64KiB, not \(next.shown)"
            )
        }
        position += 1
        if case .word(let unit) = next.kind {
            guard let factor = ["KiB": 1 << 10, "MiB": 1 << 20][unit] else {
                throw SignatureError(next.column, "the units are KiB and MiB, not `\(unit)`")
            }
            position += 1
            let (product, overflow) = bytes.multipliedReportingOverflow(by: factor)
            bytes = overflow ? .max : product
        }
        guard bytes <= SignatureLimits.bufferBytesMax else {
            throw SignatureError(column, "a buffer can have at most 16MiB")
        }
        return bytes
    }
}
