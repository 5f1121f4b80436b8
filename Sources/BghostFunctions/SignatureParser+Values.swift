// SPDX-License-Identifier: Apache-2.0

extension SignatureParser {
    /// Parses the value after `=`.
    ///
    /// Whether the named argument exists is checked after all arguments are known.
    mutating func preset(
        for passing: FunctionArgument.Passing
    ) throws(SignatureError) -> FunctionArgument.Preset {
        let token = next
        position += token.kind == .end ? 0 : 1
        switch (token.kind, passing) {
        case (.word("lengthOf"), _): return .lengthOf(try reference())
        case (.word("capacityOf"), _): return .capacityOf(try reference())
        case (.word("true"), .value(.scalar(.bool))),
            (.word("true"), .reference(.scalar(.bool), _)):
            return .boolean(true)
        case (.word("false"), .value(.scalar(.bool))),
            (.word("false"), .reference(.scalar(.bool), _)):
            return .boolean(false)
        case (.word("null"), .bytes), (.word("null"), .value(.pointer)),
            (.word("null"), .value(.string)), (.word("null"), .reference(.pointer, _)),
            (.word("null"), .reference(.string, _)):
            return .null
        case (.text(let text), .bytes), (.text(let text), .value(.string)):
            return .text(text)
        case (.text(let text), .buffer(let buffer)):
            guard text.utf8.count + (buffer.text ? 1 : 0) <= buffer.capacity else {
                throw SignatureError(token.column, "the text is larger than the buffer")
            }
            return .text(text)
        case (.number(let text), .value(.scalar(let scalar))),
            (.number(let text), .reference(.scalar(let scalar), _)):
            return try number(text, as: scalar, column: token.column)
        default:
            throw SignatureError(
                token.column,
                "\(token.shown) is no value for `\(passing.description)`"
            )
        }
    }

    private mutating func reference() throws(SignatureError) -> String {
        try expect("(", "and the name of an argument")
        guard case .word(let name) = next.kind else {
            throw SignatureError(
                next.column,
                "the name of an argument is needed, not \(next.shown); name it as in `data: bytes`"
            )
        }
        position += 1
        try expect(")", "after the name")
        return name
    }

    private func number(
        _ text: String,
        as scalar: ScalarType,
        column: Int
    ) throws(SignatureError) -> FunctionArgument.Preset {
        if scalar.isFloatingPoint, let number = Double(text), number.isFinite,
            scalar == .double || Float(number).isFinite
        {
            return .number(number)
        }
        guard let range = scalar.integerRange, let integer = Self.integer(text) else {
            throw SignatureError(column, "`\(text)` is no value for `\(scalar.rawValue)`")
        }
        guard range.contains(integer) else {
            throw SignatureError(
                column,
                "`\(scalar.rawValue)` holds \(range.lowerBound) to \(range.upperBound), not \(text)"
            )
        }
        return .integer(integer)
    }

    /// Parses decimal digits, or hexadecimal digits after `0x`.
    ///
    /// A leading zero is refused, since C interprets it as octal.
    static func integer(_ text: String) -> Int128? {
        let isNegative = text.hasPrefix("-")
        let digits = isNegative ? text.dropFirst() : text[...]
        let magnitude: Int128?
        if digits.hasPrefix("0x") || digits.hasPrefix("0X") {
            magnitude = Int128(digits.dropFirst(2), radix: 16)
        } else if digits.hasPrefix("0"), digits.utf8.count > 1 {
            magnitude = nil
        } else {
            magnitude = Int128(digits)
        }
        // The initializer would accept a second sign.
        guard let magnitude, magnitude >= 0, magnitude <= Int128(UInt64.max) else { return nil }
        return isNegative ? -magnitude : magnitude
    }

    /// Parses the condition on the result.
    mutating func condition(
        on result: ForeignType?
    ) throws(SignatureError) -> SuccessCondition {
        let column = next.column
        guard case .mark(let mark) = next.kind,
            let comparison = SuccessCondition.Comparison(rawValue: mark)
        else {
            throw SignatureError(
                column,
                "after `)` the signature ends or says what the result must be, as in `>= 0`; "
                    + "found \(next.shown)"
            )
        }
        position += 1
        let token = next
        switch (token.kind, result) {
        case (.word("null"), .pointer), (.word("null"), .string),
            (.word("true"), .scalar(.bool)), (.word("false"), .scalar(.bool)):
            guard comparison == .equal || comparison == .notEqual else {
                throw SignatureError(column, "\(token.shown) is compared by `==` or `!=`")
            }
            position += 1
            guard !token.isWord("null") else { return SuccessCondition(comparison, .null) }
            return SuccessCondition(comparison, .boolean(token.isWord("true")))
        case (.number(let text), .scalar(let scalar)) where scalar.isInteger:
            guard case .integer(let operand) = try number(text, as: scalar, column: token.column)
            else { break }
            position += 1
            return SuccessCondition(comparison, .integer(operand))
        default: break
        }
        throw SignatureError(
            token.column,
            "a whole-numbered result is compared with a number, a `bool` with `true` or `false`, a "
                + "`pointer` or `string` with `null`; found \(token.shown)"
        )
    }

    // MARK: - Tokens

    /// Consumes a mark, if it is next.
    mutating func consume(_ mark: String) -> Bool {
        guard next.isMark(mark) else { return false }
        position += 1
        return true
    }

    /// Consumes a word, if it is next.
    mutating func consume(word: String) -> Bool {
        guard next.isWord(word) else { return false }
        position += 1
        return true
    }

    mutating func expect(_ mark: String, _ place: String) throws(SignatureError) {
        guard consume(mark) else {
            throw SignatureError(next.column, "`\(mark)` is needed \(place), not \(next.shown)")
        }
    }
}
