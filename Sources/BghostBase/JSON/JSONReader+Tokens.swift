// SPDX-License-Identifier: Apache-2.0

extension JSONReader {
    // MARK: - Space

    /// Skips white space, and comments if the dialect permits them.
    mutating func skipSpace() throws(JSONError) {
        while let byte = peek() {
            switch byte {
            case 0x20, 0x09, 0x0A, 0x0D: index += 1
            case UInt8(ascii: "/"): try skipComment()
            default: return
            }
        }
    }

    private mutating func skipComment() throws(JSONError) {
        let start = index
        let second = index + 1 < bytes.count ? bytes[index + 1] : 0
        guard second == UInt8(ascii: "/") || second == UInt8(ascii: "*") else {
            throw index + 1 < bytes.count
                ? unexpected("a value, a comment or the end") : unexpectedEnd()
        }
        guard dialect == .commented else {
            throw JSONError(.commentInStrictText, at: ByteSpan(start..<start + 2))
        }
        index += 2
        if second == UInt8(ascii: "/") {
            while let byte = peek(), byte != 0x0A { index += 1 }
            return
        }
        while index + 1 < bytes.count {
            if bytes[index] == UInt8(ascii: "*"), bytes[index + 1] == UInt8(ascii: "/") {
                index += 2
                return
            }
            index += 1
        }
        throw JSONError(
            .unexpectedEnd(opened: ByteSpan(start..<start + 2)),
            at: ByteSpan(bytes.count..<bytes.count)
        )
    }

    // MARK: - Words

    mutating func parseWord(expected: String) throws(JSONError) -> JSONValue {
        for (word, value) in Self.words where bytes[index...].starts(with: word) {
            let end = index + word.count
            // `nullify` is not `null` followed by other text.
            guard end == bytes.count || !Self.isWordByte(bytes[end]) else { break }
            index = end
            return value
        }
        // A text that ends inside `tru` is truncated, not misspelled.
        let rest = bytes[index...]
        let isCutOff = Self.words.contains { $0.0.count > rest.count && $0.0.starts(with: rest) }
        throw isCutOff ? unexpectedEnd() : unexpected(expected)
    }

    private static let words: [([UInt8], JSONValue)] = [
        (Array("true".utf8), .bool(true)),
        (Array("false".utf8), .bool(false)),
        (Array("null".utf8), .null),
    ]

    private static func isWordByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), 0x80...:
            true
        default: false
        }
    }

    // MARK: - Numbers

    mutating func parseNumber() throws(JSONError) -> String {
        let start = index
        if peek() == UInt8(ascii: "-") { index += 1 }
        let isZero = peek() == UInt8(ascii: "0")
        let wholeStart = index
        try skipDigits(from: start, after: "the sign")
        guard !isZero || index == wholeStart + 1 else {
            throw badNumber(from: start, "it begins with a zero")
        }
        if peek() == UInt8(ascii: ".") {
            index += 1
            try skipDigits(from: start, after: "the point")
        }
        if let byte = peek(), byte == UInt8(ascii: "e") || byte == UInt8(ascii: "E") {
            index += 1
            if let sign = peek(), sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") {
                index += 1
            }
            try skipDigits(from: start, after: "the exponent's sign")
        }
        if let byte = peek(), Self.isWordByte(byte) || byte == UInt8(ascii: ".") {
            throw badNumber(from: start, "a digit is needed in this place")
        }
        return String(decoding: bytes[start..<index], as: UTF8.self)
    }

    private mutating func skipDigits(from start: Int, after part: String) throws(JSONError) {
        let first = index
        while let byte = peek(), (UInt8(ascii: "0")...UInt8(ascii: "9")) ~= byte { index += 1 }
        guard index > first else {
            throw index == bytes.count
                ? unexpectedEnd() : badNumber(from: start, "no digit follows \(part)")
        }
    }

    private func badNumber(from start: Int, _ reason: String) -> JSONError {
        var end = index
        while end < bytes.count, Self.isWordByte(bytes[end]) || bytes[end] == UInt8(ascii: ".") {
            end += 1
        }
        return JSONError(.badNumber(reason: reason), at: ByteSpan(start..<max(end, start + 1)))
    }

    // MARK: - Strings

    /// Parses a string from its opening quotation mark.
    mutating func parseString() throws(JSONError) -> String {
        let start = index
        index += 1
        var runStart = index
        var decoded: [UInt8] = []
        while let byte = peek() {
            switch byte {
            case UInt8(ascii: "\""):
                let run = bytes[runStart..<index]
                index += 1
                guard !decoded.isEmpty else { return String(decoding: run, as: UTF8.self) }
                decoded += run
                return String(decoding: decoded, as: UTF8.self)
            case UInt8(ascii: "\\"):
                decoded += bytes[runStart..<index]
                try parseEscape(into: &decoded)
                runStart = index
            case 0..<0x20:
                throw JSONError(
                    .controlCharacterInString(byte),
                    at: ByteSpan(index..<index + 1)
                )
            default: index += 1
            }
        }
        throw JSONError(
            .unexpectedEnd(opened: ByteSpan(start..<start + 1)),
            at: ByteSpan(bytes.count..<bytes.count)
        )
    }

    private mutating func parseEscape(into decoded: inout [UInt8]) throws(JSONError) {
        let start = index
        guard index + 1 < bytes.count else { throw unexpectedEnd() }
        index += 2
        switch bytes[start + 1] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"):
            decoded.append(bytes[start + 1])
        case UInt8(ascii: "b"): decoded.append(0x08)
        case UInt8(ascii: "f"): decoded.append(0x0C)
        case UInt8(ascii: "n"): decoded.append(0x0A)
        case UInt8(ascii: "r"): decoded.append(0x0D)
        case UInt8(ascii: "t"): decoded.append(0x09)
        case UInt8(ascii: "u"):
            let scalar = try parseScalar(from: start)
            decoded += Array(String(scalar).utf8)
        default:
            // Include the whole character after the backslash, not only its first byte.
            while let byte = peek(), byte & 0xC0 == 0x80 { index += 1 }
            throw JSONError(.badEscape, at: ByteSpan(start..<index))
        }
    }

    /// Parses the digits after `\u`, and the second half of a surrogate pair.
    private mutating func parseScalar(from start: Int) throws(JSONError) -> Unicode.Scalar {
        let first = try parseHex(from: start)
        if let scalar = Unicode.Scalar(first) { return scalar }
        let isPair =
            first < 0xDC00 && index + 1 < bytes.count && bytes[index] == UInt8(ascii: "\\")
            && bytes[index + 1] == UInt8(ascii: "u")
        guard isPair else {
            // A text that ends where the second half may follow is truncated.
            let isCutOff =
                first < 0xDC00
                && (index == bytes.count
                    || index + 1 == bytes.count && bytes[index] == UInt8(ascii: "\\"))
            throw isCutOff
                ? unexpectedEnd() : JSONError(.loneSurrogate, at: ByteSpan(start..<index))
        }
        index += 2
        let second = try parseHex(from: start)
        guard (0xDC00...0xDFFF).contains(second),
            let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
        else { throw JSONError(.loneSurrogate, at: ByteSpan(start..<index)) }
        return scalar
    }

    private mutating func parseHex(from start: Int) throws(JSONError) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = peek() else { throw unexpectedEnd() }
            let digit: UInt8
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = byte - UInt8(ascii: "a") + 10
            case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = byte - UInt8(ascii: "A") + 10
            default: throw JSONError(.badEscape, at: ByteSpan(start..<index))
            }
            value = value << 4 | UInt32(digit)
            index += 1
        }
        return value
    }
}
