// SPDX-License-Identifier: Apache-2.0

/// Parses the part of ECMA-262's regular expressions that can be matched in linear time.
///
/// Look-around, references back to groups, `\b` and `\p` are refused by name.
struct PatternParser {
    private static let depthMax = 32
    private static let repetitionsMax = 1000

    private let scalars: [Unicode.Scalar]
    private var index = 0
    private var depth = 0

    private init(_ text: String) { scalars = Array(text.unicodeScalars) }

    static func parse(_ text: String) throws(PatternFault) -> PatternNode {
        var parser = PatternParser(text)
        let node = try parser.choice()
        guard parser.index == parser.scalars.count else {
            throw PatternFault("`)` closes no group")
        }
        return node
    }

    private func peek() -> Unicode.Scalar? { index < scalars.count ? scalars[index] : nil }

    private mutating func accept(_ wanted: Unicode.Scalar) -> Bool {
        guard peek() == wanted else { return false }
        index += 1
        return true
    }

    private mutating func next() throws(PatternFault) -> Unicode.Scalar {
        guard let scalar = peek() else { throw PatternFault("it ends too early") }
        index += 1
        return scalar
    }

    // MARK: Structure

    private mutating func choice() throws(PatternFault) -> PatternNode {
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.depthMax else {
            throw PatternFault("groups are nested deeper than \(Self.depthMax) levels")
        }
        var branches = [try sequence()]
        while accept("|") { branches.append(try sequence()) }
        return branches.count == 1 ? branches[0] : .choice(branches)
    }

    private mutating func sequence() throws(PatternFault) -> PatternNode {
        var parts: [PatternNode] = []
        while let scalar = peek(), scalar != "|", scalar != ")" {
            parts.append(try repeated(try atom()))
        }
        return parts.count == 1 ? parts[0] : .sequence(parts)
    }

    private mutating func repeated(_ node: PatternNode) throws(PatternFault) -> PatternNode {
        let bounds: (least: Int, most: Int?)
        switch peek() {
        case "*": bounds = (0, nil)
        case "+": bounds = (1, nil)
        case "?": bounds = (0, 1)
        case "{": bounds = try counts()
        default: return node
        }
        index += 1
        guard node != .start, node != .end else { throw PatternFault("`^` and `$` cannot repeat") }
        // Lazy or not, the same texts match.
        _ = accept("?")
        if let follower = peek(), ["*", "+", "?", "{"].contains(follower) {
            throw PatternFault("two repetitions follow each other")
        }
        return .repetition(node, least: bounds.least, most: bounds.most)
    }

    /// The bounds of `{n}`, `{n,}` or `{n,m}`; the index is then at the closing brace.
    private mutating func counts() throws(PatternFault) -> (least: Int, most: Int?) {
        let fault = PatternFault(
            "`{` begins no repetition of at most \(Self.repetitionsMax); write `\\{` for the brace"
        )
        index += 1
        guard let least = number() else { throw fault }
        var most: Int? = least
        if accept(",") { most = peek() == "}" ? nil : number() ?? -1 }
        guard peek() == "}", least <= most ?? least, max(least, most ?? 0) <= Self.repetitionsMax
        else { throw fault }
        return (least, most)
    }

    private mutating func number() -> Int? {
        var value: Int?
        while let scalar = peek(), ScalarSet.digits.contains(scalar.value) {
            value = min(Self.repetitionsMax + 1, (value ?? 0) * 10 + Int(scalar.value - 0x30))
            index += 1
        }
        return value
    }

    // MARK: Atoms

    private mutating func atom() throws(PatternFault) -> PatternNode {
        let scalar = try next()
        switch scalar {
        case "^": return .start
        case "$": return .end
        case ".": return .set(.notLineEnd)
        case "(": return try group()
        case "[": return .set(try characterClass())
        case "\\": return .set(try escape(inClass: false))
        case "*", "+", "?": throw PatternFault("`\(scalar)` has nothing to repeat")
        case "{", "}", "]": throw PatternFault("write `\\\(scalar)` for the character `\(scalar)`")
        default: return .set(ScalarSet(scalar))
        }
    }

    private mutating func group() throws(PatternFault) -> PatternNode {
        if accept("?") {
            guard accept(":") else {
                throw PatternFault("look-around and named groups are not supported")
            }
        }
        let node = try choice()
        guard accept(")") else { throw PatternFault("a group is not closed") }
        return node
    }

    private mutating func characterClass() throws(PatternFault) -> ScalarSet {
        let isNegated = accept("^")
        var ranges: [ClosedRange<UInt32>] = []
        while !accept("]") {
            let first = try classMember()
            guard peek() == "-", index + 1 < scalars.count, scalars[index + 1] != "]" else {
                ranges += first.positiveRanges
                continue
            }
            index += 1
            let last = try classMember()
            guard let low = first.single, let high = last.single, low <= high else {
                throw PatternFault("a range of a class is not from one character to a later one")
            }
            ranges.append(low...high)
        }
        return ScalarSet(ranges, isNegated: isNegated)
    }

    private mutating func classMember() throws(PatternFault) -> ScalarSet {
        guard peek() != nil else { throw PatternFault("a class is not closed") }
        let scalar = try next()
        return scalar == "\\" ? try escape(inClass: true) : ScalarSet(scalar)
    }

    private mutating func escape(inClass: Bool) throws(PatternFault) -> ScalarSet {
        let scalar = try next()
        switch scalar {
        case "d": return .digits
        case "D": return ScalarSet.digits.negated
        case "w": return .word
        case "W": return ScalarSet.word.negated
        case "s": return .space
        case "S": return ScalarSet.space.negated
        case "n": return ScalarSet("\n")
        case "r": return ScalarSet("\r")
        case "t": return ScalarSet("\t")
        case "f": return ScalarSet("\u{0C}")
        case "v": return ScalarSet("\u{0B}")
        case "x": return try code(digits: 2)
        case "u": return try code(digits: 4)
        case "b" where !inClass, "B": throw PatternFault("`\\\(scalar)` is not supported")
        case "p", "P", "k": throw PatternFault("`\\\(scalar)` is not supported")
        case "1"..."9": throw PatternFault("references back to groups are not supported")
        case "a"..."z", "A"..."Z", "0": throw PatternFault("`\\\(scalar)` is not an escape")
        default: return ScalarSet(scalar)
        }
    }

    private mutating func code(digits: Int) throws(PatternFault) -> ScalarSet {
        var value: UInt32 = 0
        for _ in 0..<digits {
            guard let digit = UInt32(String(try next()), radix: 16) else {
                throw PatternFault("`\\u` has four hexadecimal digits, `\\x` two")
            }
            value = value << 4 | digit
        }
        guard let scalar = Unicode.Scalar(value) else {
            throw PatternFault("halves of surrogate pairs are not supported")
        }
        return ScalarSet(scalar)
    }
}

extension ScalarSet {
    /// The only scalar in the set; `nil` if there are others.
    fileprivate var single: UInt32? {
        guard !isNegated, ranges.count == 1, ranges[0].count == 1 else { return nil }
        return ranges[0].lowerBound
    }
}
