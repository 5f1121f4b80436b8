// SPDX-License-Identifier: Apache-2.0

/// A word, number, string or mark of a signature.
struct SignatureToken: Equatable {
    enum Kind: Equatable {
        case word(String)
        case number(String)
        case text(String)
        case mark(String)
        case end
    }

    var kind: Kind
    var column: Int

    /// The token in messages.
    var shown: String {
        switch kind {
        case .word(let text), .number(let text), .mark(let text): "`\(text)`"
        case .text: "a string"
        case .end: "the end"
        }
    }

    func isMark(_ mark: String) -> Bool { kind == .mark(mark) }

    func isWord(_ word: String) -> Bool { kind == .word(word) }

    static func isIdentifier(_ text: String) -> Bool {
        guard let first = text.unicodeScalars.first, isLetter(first) else { return false }
        return text.unicodeScalars.allSatisfy { isLetter($0) || isDigit($0) }
    }

    static func isLetter(_ scalar: Unicode.Scalar) -> Bool {
        ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar) || scalar == "_"
    }

    static func isDigit(_ scalar: Unicode.Scalar) -> Bool { ("0"..."9").contains(scalar) }
}

/// Splits a signature into tokens.
struct SignatureScanner {
    private let scalars: [Unicode.Scalar]
    private var position = 0

    init(_ text: String) throws(SignatureError) {
        scalars = Array(text.unicodeScalars)
        guard scalars.count <= SignatureLimits.textLength else {
            throw SignatureError(
                SignatureLimits.textLength + 1,
                "the signature is longer than \(SignatureLimits.textLength) characters"
            )
        }
    }

    /// Returns the tokens up to the first invalid text; the last one is `.end`.
    ///
    /// The error is returned and not thrown, because the parser may find one further left.
    mutating func tokens() -> ([SignatureToken], fault: SignatureError?) {
        var tokens: [SignatureToken] = []
        while true {
            skip { $0 == " " || $0 == "\t" || $0 == "\n" || $0 == "\r" }
            let column = position + 1
            guard position < scalars.count else {
                tokens.append(SignatureToken(kind: .end, column: column))
                return (tokens, nil)
            }
            do throws(SignatureError) {
                tokens.append(SignatureToken(kind: try token(scalars[position]), column: column))
            } catch {
                tokens.append(SignatureToken(kind: .end, column: error.column))
                return (tokens, error)
            }
        }
    }

    private mutating func token(
        _ first: Unicode.Scalar
    ) throws(SignatureError) -> SignatureToken.Kind {
        if SignatureToken.isLetter(first) {
            return .word(consume { SignatureToken.isLetter($0) || SignatureToken.isDigit($0) })
        }
        if SignatureToken.isDigit(first) || first == "-" { return .number(number()) }
        if first == "\"" { return .text(try text()) }
        for mark in ["...", "==", "!=", "<=", ">="] where follows(mark) {
            position += mark.unicodeScalars.count
            return .mark(mark)
        }
        guard let hint = Self.marks[first] else {
            throw SignatureError(position + 1, "`\(first)` has no meaning here")
        }
        guard hint.isEmpty else { throw SignatureError(position + 1, hint) }
        position += 1
        return .mark(String(first))
    }

    /// The marks of the language, and marks of C with the replacement that a message suggests.
    private static let marks: [Unicode.Scalar: String] = [
        "(": "", ")": "", "{": "", "}": "", ",": "", ":": "", "=": "", "<": "", ">": "",
        "*": "pointers have words here: `string`, `bytes`, `out int`, or `pointer` for a handle",
        "&": "a pointer to a value is written `out int` or `inout int`",
        "[": "arrays are not supported; pass their bytes as `bytes` or `inout bytes(64)`",
        ";": "a signature ends without `;`",
    ]

    /// Reads a number: a sign, digits, and parts such as in `0x1F`, `1.5`, `2e-3`.
    private mutating func number() -> String {
        let start = position
        position += 1
        while position < scalars.count {
            let isExponent = ["e", "E"].contains(scalars[position - 1])
            let isHexadecimal = scalars[start..<position].contains { $0 == "x" || $0 == "X" }
            let isSign =
                isExponent && !isHexadecimal && "+-".unicodeScalars.contains(scalars[position])
            // A unit such as KiB is a separate word.
            let isUnit = "KMGkmgBi".unicodeScalars.contains(scalars[position]) && !isHexadecimal
            let isPart =
                SignatureToken.isLetter(scalars[position]) && !isUnit
                || SignatureToken.isDigit(scalars[position]) || scalars[position] == "." || isSign
            guard isPart, !follows("...") else { break }
            position += 1
        }
        return string(from: start)
    }

    private mutating func text() throws(SignatureError) -> String {
        let start = position
        position += 1
        var text = String.UnicodeScalarView()
        while position < scalars.count {
            let scalar = scalars[position]
            position += 1
            switch scalar {
            case "\"": return String(text)
            case "\\":
                let escapes: [Unicode.Scalar: Unicode.Scalar] = [
                    "\"": "\"", "\\": "\\", "n": "\n", "t": "\t",
                ]
                guard position < scalars.count, let meant = escapes[scalars[position]] else {
                    throw SignatureError(
                        position,
                        "the escapes of a string are \\\", \\\\, \\n and \\t"
                    )
                }
                position += 1
                text.append(meant)
            case "\0":
                throw SignatureError(position, "a string of C cannot contain a NUL")
            default: text.append(scalar)
            }
        }
        throw SignatureError(start + 1, "the string is not closed; add `\"`")
    }

    private func follows(_ mark: String) -> Bool {
        scalars[position...].starts(with: mark.unicodeScalars)
    }

    private mutating func consume(while belongs: (Unicode.Scalar) -> Bool) -> String {
        let start = position
        skip(while: belongs)
        return string(from: start)
    }

    private mutating func skip(while belongs: (Unicode.Scalar) -> Bool) {
        while position < scalars.count, belongs(scalars[position]) { position += 1 }
    }

    private func string(from start: Int) -> String {
        String(String.UnicodeScalarView(scalars[start..<position]))
    }
}
