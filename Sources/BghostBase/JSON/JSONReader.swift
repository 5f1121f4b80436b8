// SPDX-License-Identifier: Apache-2.0

/// A JSON parser that records the place of each value.
///
/// No input causes a trap, and the time is linear in the length of the input.
package struct JSONReader {
    /// The accepted syntax.
    package enum Dialect: Equatable, Sendable {
        /// RFC 8259, without duplicate keys in an object.
        case strict
        /// The same, with `//` and `/* */` comments and a comma after the last element.
        case commented
    }

    /// The maximum nesting depth of arrays and objects, unless the caller permits more.
    package static let depthMax = 64

    let bytes: [UInt8]
    var index = 0
    let dialect: Dialect
    private let keepsDuplicateKeys: Bool
    private let depthMax: Int
    private var opened: [Int] = []

    private init(bytes: [UInt8], dialect: Dialect, keepsDuplicateKeys: Bool, depthMax: Int) {
        self.bytes = bytes
        self.dialect = dialect
        self.keepsDuplicateKeys = keepsDuplicateKeys
        self.depthMax = depthMax
    }

    /// Parses a text that contains one value.
    ///
    /// - Parameters:
    ///   - keepsDuplicateKeys: whether to accept duplicate keys, so that the caller can report each of them,
    ///     instead of throwing at the first.
    ///   - depthMax: the maximum nesting depth of arrays and objects. The parser recurses: a thread with a
    ///     stack of 512 KiB has room for some hundred levels.
    package static func parse(
        _ bytes: [UInt8],
        dialect: Dialect = .strict,
        keepsDuplicateKeys: Bool = false,
        depthMax: Int = depthMax
    ) throws(JSONError) -> JSONNode {
        var reader = JSONReader(
            bytes: bytes,
            dialect: dialect,
            keepsDuplicateKeys: keepsDuplicateKeys,
            depthMax: depthMax
        )
        return try reader.parseText()
    }

    /// Parses a text that contains one value; for buffers and the `utf8` of strings.
    ///
    /// The text is copied once.
    package static func parse(
        _ bytes: some Collection<UInt8>,
        dialect: Dialect = .strict
    ) throws(JSONError) -> JSONNode {
        try parse(Array(bytes), dialect: dialect)
    }

    /// Parses a text that contains one value.
    ///
    /// The text is copied once.
    static func parse(
        _ bytes: RawSpan,
        dialect: Dialect = .strict
    ) throws(JSONError) -> JSONNode {
        try parse(bytes.withUnsafeBytes { Array($0) }, dialect: dialect)
    }

    /// Parses a text that contains one value.
    package static func parse(
        _ text: String,
        dialect: Dialect = .strict
    ) throws(JSONError) -> JSONNode {
        try parse(Array(text.utf8), dialect: dialect)
    }

    // MARK: - The whole

    private mutating func parseText() throws(JSONError) -> JSONNode {
        guard bytes.count < Int(UInt32.max) else { throw JSONError(.tooLarge, at: ByteSpan(0..<0)) }
        guard !bytes.starts(with: [0xEF, 0xBB, 0xBF]) else {
            throw JSONError(.byteOrderMark, at: ByteSpan(0..<3))
        }
        if let fault = UTF8Validation.firstFault(in: bytes) {
            throw JSONError(
                fault.isCutOff ? .unexpectedEnd(opened: nil) : .notUTF8,
                at: ByteSpan(fault.range)
            )
        }
        try skipSpace()
        guard index < bytes.count else { throw JSONError(.empty, at: ByteSpan(0..<0)) }
        let node = try parseValue(expected: "a value")
        try skipSpace()
        guard index == bytes.count else { throw error(.textAfterValue) }
        return node
    }

    private mutating func parseValue(expected: String) throws(JSONError) -> JSONNode {
        guard let byte = peek() else { throw unexpectedEnd() }
        let start = index
        switch byte {
        case UInt8(ascii: "{"): return try parseObject()
        case UInt8(ascii: "["): return try parseArray()
        case UInt8(ascii: "\""):
            let text = try parseString()
            return JSONNode(.string(text), span: ByteSpan(start..<index))
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            let text = try parseNumber()
            return JSONNode(.number(text), span: ByteSpan(start..<index))
        default:
            let value = try parseWord(expected: expected)
            return JSONNode(value, span: ByteSpan(start..<index))
        }
    }

    private mutating func parseArray() throws(JSONError) -> JSONNode {
        let start = try open()
        var elements: [JSONNode] = []
        while try !close(UInt8(ascii: "]"), isFirst: elements.isEmpty) {
            elements.append(try parseValue(expected: "a value"))
        }
        return JSONNode(.array(elements), span: ByteSpan(start..<index))
    }

    private mutating func parseObject() throws(JSONError) -> JSONNode {
        let start = try open()
        var members: [JSONMember] = []
        var keys = KeySet()
        while try !close(UInt8(ascii: "}"), isFirst: members.isEmpty) {
            let keyStart = index
            guard peek() == UInt8(ascii: "\"") else {
                throw unexpected("a key in double quotation marks")
            }
            let key = try parseString()
            let keySpan = ByteSpan(keyStart..<index)
            if !keepsDuplicateKeys, let first = keys.insert(key, at: keySpan) {
                throw JSONError(.duplicateKey(key, first: first), at: keySpan)
            }
            try skipSpace()
            guard peek() == UInt8(ascii: ":") else { throw unexpected("`:` after the key") }
            index += 1
            try skipSpace()
            let value = try parseValue(expected: "a value")
            members.append(JSONMember(key: key, keySpan: keySpan, value: value))
        }
        return JSONNode(.object(members), span: ByteSpan(start..<index))
    }

    // MARK: - Brackets

    private mutating func open() throws(JSONError) -> Int {
        guard opened.count < depthMax else { throw error(.tooDeep(max: depthMax)) }
        opened.append(index)
        index += 1
        return opened[opened.count - 1]
    }

    /// Consumes the separator before the next element, or the closing bracket.
    private mutating func close(_ bracket: UInt8, isFirst: Bool) throws(JSONError) -> Bool {
        try skipSpace()
        if !isFirst, peek() != bracket {
            guard peek() == UInt8(ascii: ",") else {
                throw unexpected("`,` or `\(Unicode.Scalar(bracket))`")
            }
            let comma = index
            index += 1
            try skipSpace()
            if peek() == bracket, dialect == .strict {
                throw JSONError(.trailingCommaInStrictText, at: ByteSpan(comma..<comma + 1))
            }
        }
        guard peek() == bracket else { return false }
        index += 1
        opened.removeLast()
        return true
    }

    // MARK: - Errors

    func peek() -> UInt8? { index < bytes.count ? bytes[index] : nil }

    /// Creates an error for the character at the index.
    func error(_ kind: JSONError.Kind) -> JSONError {
        JSONError(kind, at: ByteSpan(index..<min(index + found.utf8.count, bytes.count)))
    }

    func unexpected(_ expected: String) -> JSONError {
        guard index < bytes.count else { return unexpectedEnd() }
        return error(.unexpected(found: "`\(found.escapedForMessage)`", expected: expected))
    }

    func unexpectedEnd() -> JSONError {
        let opened = opened.last.map { ByteSpan($0..<$0 + 1) }
        return JSONError(.unexpectedEnd(opened: opened), at: ByteSpan(bytes.count..<bytes.count))
    }

    /// The word or character at the index.
    private var found: String {
        let word = bytes[index...].prefix(24).prefix {
            switch $0 {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
        guard word.isEmpty else { return String(decoding: word, as: UTF8.self) }
        // The text was validated as UTF-8, so its next character has at most four bytes.
        let next = String(decoding: bytes[index...].prefix(4), as: UTF8.self)
        return next.unicodeScalars.first.map(String.init) ?? ""
    }
}

/// The keys of an object, with the place of their first occurrence.
private struct KeySet {
    private struct Key: Hashable {
        var text: String

        static func == (a: Key, b: Key) -> Bool { a.text.isSameText(as: b.text) }

        func hash(into hasher: inout Hasher) {
            for byte in text.utf8 { hasher.combine(byte) }
        }
    }

    private var few: [(key: String, span: ByteSpan)] = []
    private var many: [Key: ByteSpan] = [:]

    /// Adds a key.
    ///
    /// - Returns: the span of the same key, if it was already present.
    mutating func insert(_ key: String, at span: ByteSpan) -> ByteSpan? {
        // Most objects are small, and comparing a few keys is cheaper than hashing them.
        guard few.count == 8 else {
            if let first = few.first(where: { $0.key.isSameText(as: key) }) { return first.span }
            few.append((key, span))
            return nil
        }
        if many.isEmpty {
            for (key, span) in few { many[Key(text: key)] = span }
        }
        if let first = many[Key(text: key)] { return first }
        many[Key(text: key)] = span
        return nil
    }
}
