// SPDX-License-Identifier: Apache-2.0

@testable import BghostBase
import BghostTestSupport
import Testing

@Suite(.timeLimit(.minutes(5)))
struct JSONReaderTests {
    /// A text and the compact text that it must be read as.
    struct Good: Sendable, CustomTestStringConvertible {
        var text: String
        var compact: String
        var testDescription: String { text }

        init(_ text: String, _ compact: String? = nil) {
            self.text = text
            self.compact = compact ?? text
        }
    }

    static let good: [Good] = [
        // Every kind of value may be the whole text, with white space around it.
        Good("null"), Good("true"), Good("false"), Good("0"), Good("\"\""), Good("[]"), Good("{}"),
        Good(" \t\r\n[ ]\n", "[]"), Good("[1 , 2]", "[1,2]"), Good("{ \"a\" : { } }", "{\"a\":{}}"),
        Good("[[],[[]],{\"\":[]}]"), Good("[null,true,false]"),
        // Numbers keep their text.
        Good("-0"), Good("-1"), Good("1.5"), Good("0.0"), Good("1e5"), Good("1E+5"), Good("1e-05"),
        Good("-0.0e-0"), Good("12345678901234567890123456789"), Good("1e400"), Good("0e1"),
        // Strings.
        Good(#""\"\\\/\b\f\n\r\t""#, #""\"\\/\b\f\n\r\t""#),
        Good(#""\u0041\u00e9\u20AC""#, "\"Aé€\""), Good(#""\ud83d\ude00""#, "\"😀\""),
        Good(#""\u0000\u001f""#), Good("\"\u{7f}\u{80}\u{2028}\u{FFFF}\u{10FFFF}\""),
        Good("\"é😀\""), Good(#""a\u0062c""#, "\"abc\""), Good(#""\uDBFF\uDFFF""#, "\"\u{10FFFF}\""),
        Good("\"// no comment /* at all */\""),
        // Keys: escapes count as what they mean, and other forms of an accent are other keys.
        Good(#"{"\u0061":1,"b":2}"#, #"{"a":1,"b":2}"#),
        Good("{\"\u{E9}\":1,\"e\u{301}\":2}"), Good(#"{"a":{"a":{"a":1}}}"#),
        Good(#"{"a":1,"A":2}"#),
        // The deepest that is allowed.
        Good(String(repeating: "[", count: 64) + String(repeating: "]", count: 64)),
    ]

    @Test(arguments: good)
    func `Reads strict text`(_ good: Good) throws {
        let node = try JSONReader.parse(good.text)
        #expect(node.text.utf8.elementsEqual(good.compact.utf8))
        #expect(try JSONReader.parse(node.text) == node)
        #expect(try JSONReader.parse(good.text, dialect: .commented) == node)
        #expect(JSONText.isObject(good.text) == (node.object != nil))
    }

    /// A text, where it is wrong, and how.
    struct Bad: Sendable, CustomTestStringConvertible {
        var bytes: [UInt8]
        var range: Range<Int>
        var kind: JSONError.Kind
        var testDescription: String { String(decoding: bytes, as: UTF8.self) }

        init(_ text: String, _ range: Range<Int>, _ kind: JSONError.Kind) {
            self.init(Array(text.utf8), range, kind)
        }

        init(_ bytes: [UInt8], _ range: Range<Int>, _ kind: JSONError.Kind) {
            self.bytes = bytes
            self.range = range
            self.kind = kind
        }
    }

    private static func unexpected(_ found: String, _ expected: String) -> JSONError.Kind {
        .unexpected(found: found, expected: expected)
    }

    private static func cutOff(at opened: Int? = nil, length: Int = 1) -> JSONError.Kind {
        .unexpectedEnd(
            opened: opened.map { ByteSpan(start: UInt32($0), end: UInt32($0 + length)) }
        )
    }

    private static let value = "a value"
    private static let key = "a key in double quotation marks"

    static let badStructure: [Bad] = [
        Bad("", 0..<0, .empty), Bad(" \n\t", 0..<0, .empty),
        Bad("[", 1..<1, cutOff(at: 0)), Bad("{", 1..<1, cutOff(at: 0)),
        Bad("[[1]", 4..<4, cutOff(at: 0)), Bad("{\"a\"", 4..<4, cutOff(at: 0)),
        Bad("{\"a\":", 5..<5, cutOff(at: 0)), Bad("[1,", 3..<3, cutOff(at: 0)),
        Bad("]", 0..<1, unexpected("`]`", value)), Bad("[}", 1..<2, unexpected("`}`", value)),
        Bad("[1}", 2..<3, unexpected("`}`", "`,` or `]`")),
        Bad("{]", 1..<2, unexpected("`]`", key)), Bad("{1:2}", 1..<2, unexpected("`1`", key)),
        Bad("{abc:2}", 1..<4, unexpected("`abc`", key)),
        Bad("{'a':2}", 1..<2, unexpected("`'`", key)),
        Bad("{\"a\" 1}", 5..<6, unexpected("`1`", "`:` after the key")),
        Bad("{\"a\":1 \"b\":2}", 7..<8, unexpected("`\"`", "`,` or `}`")),
        Bad("[1 2]", 3..<4, unexpected("`2`", "`,` or `]`")),
        Bad("[,1]", 1..<2, unexpected("`,`", value)),
        Bad("[1,,2]", 3..<4, unexpected("`,`", value)),
        Bad("{,}", 1..<2, unexpected("`,`", key)), Bad("{\"a\":}", 5..<6, unexpected("`}`", value)),
        Bad("[1,]", 2..<3, .trailingCommaInStrictText),
        Bad("{\"a\":1,}", 6..<7, .trailingCommaInStrictText),
        Bad("1 2", 2..<3, .textAfterValue), Bad("{}}", 2..<3, .textAfterValue),
        Bad("[]x", 2..<3, .textAfterValue), Bad("[1]\u{0}", 3..<4, .textAfterValue),
        Bad("// x\n1", 0..<2, .commentInStrictText), Bad("1/* x */", 1..<3, .commentInStrictText),
        Bad("/", 1..<1, cutOff()), Bad("[1/2]", 2..<3, unexpected("`/`", commentOrEnd)),
        Bad("{\"a\":1,\"a\":2}", 7..<10, .duplicateKey("a", first: ByteSpan(start: 1, end: 4))),
        Bad("{\"a\":1,\"\\u0061\":2}", 7..<15, .duplicateKey("a", first: .init(start: 1, end: 4))),
        Bad(String(repeating: "[", count: 65), 64..<65, .tooDeep(max: 64)),
        Bad(String(repeating: "{\"a\":", count: 65), 320..<321, .tooDeep(max: 64)),
        Bad("\u{A0}1", 0..<2, unexpected("`\u{A0}`", value)),
        Bad("\u{1B}[0m", 0..<1, unexpected("`\\u{1b}`", value)),
    ]

    private static let commentOrEnd = "a value, a comment or the end"

    static let badTokens: [Bad] = [
        Bad("nul", 3..<3, cutOff()), Bad("t", 1..<1, cutOff()), Bad("[fals", 5..<5, cutOff(at: 0)),
        Bad("nulll", 0..<5, unexpected("`nulll`", value)),
        Bad("True", 0..<4, unexpected("`True`", value)),
        Bad("nul]", 0..<3, unexpected("`nul`", value)),
        Bad("NaN", 0..<3, unexpected("`NaN`", value)),
        Bad("Infinity", 0..<8, unexpected("`Infinity`", value)),
        Bad("+1", 0..<1, unexpected("`+`", value)), Bad(".5", 0..<1, unexpected("`.`", value)),
        Bad("01", 0..<2, .badNumber(reason: "it begins with a zero")),
        Bad("-012", 0..<4, .badNumber(reason: "it begins with a zero")),
        Bad("-x", 0..<2, .badNumber(reason: "no digit follows the sign")),
        Bad("-", 1..<1, cutOff()), Bad("1.", 2..<2, cutOff()), Bad("1e", 2..<2, cutOff()),
        Bad("[1.]", 1..<3, .badNumber(reason: "no digit follows the point")),
        Bad("[1.e1]", 1..<5, .badNumber(reason: "no digit follows the point")),
        Bad("[1e+]", 1..<4, .badNumber(reason: "no digit follows the exponent's sign")),
        Bad("0x1F", 0..<4, .badNumber(reason: "a digit is needed in this place")),
        Bad("1.2.3", 0..<5, .badNumber(reason: "a digit is needed in this place")),
        Bad("30s", 0..<3, .badNumber(reason: "a digit is needed in this place")),
        Bad("\"a", 2..<2, cutOff(at: 0)), Bad("\"a\\\"", 4..<4, cutOff(at: 0)),
        Bad("\"\\", 2..<2, cutOff()), Bad("\"\\u00", 5..<5, cutOff()),
        Bad("\"\\ud83d", 7..<7, cutOff()), Bad("\"\\ud83d\\", 8..<8, cutOff()),
        Bad("'a'", 0..<1, unexpected("`'`", value)),
        Bad("\"a\nb\"", 2..<3, .controlCharacterInString(10)),
        Bad("\"\u{0}\"", 1..<2, .controlCharacterInString(0)),
        Bad("\"\\x41\"", 1..<3, .badEscape), Bad("\"\\é\"", 1..<4, .badEscape),
        Bad("\"\\u12G4\"", 1..<5, .badEscape), Bad("\"\\U0041\"", 1..<3, .badEscape),
        Bad("\"\\ud800\"", 1..<7, .loneSurrogate), Bad("\"\\udc00\"", 1..<7, .loneSurrogate),
        Bad("\"\\ud800x\"", 1..<7, .loneSurrogate),
        Bad("\"\\ud800\\u0041\"", 1..<13, .loneSurrogate),
        Bad("\"\\ud800\\ud800\"", 1..<13, .loneSurrogate),
        Bad([0xEF, 0xBB, 0xBF, 0x31], 0..<3, .byteOrderMark),
        Bad([0xFF, 0xFE, 0x31, 0x00], 0..<1, .notUTF8),
        Bad([0x22, 0x80, 0x22], 1..<2, .notUTF8), Bad([0x22, 0xC3, 0x22], 1..<2, .notUTF8),
        Bad([0x22, 0xC0, 0x80, 0x22], 1..<2, .notUTF8),
        Bad([0x22, 0xED, 0xA0, 0x80, 0x22], 1..<2, .notUTF8),
        Bad([0x22, 0xE2, 0x82, 0x22], 1..<3, .notUTF8),
        Bad([0x22, 0xF4, 0x90, 0x80, 0x80, 0x22], 1..<2, .notUTF8),
        Bad([0x22, 0xF0, 0x9F, 0x98], 1..<4, cutOff()),
    ]

    @Test(arguments: badStructure + badTokens)
    func `Bad JSON is refused with its place`(_ bad: Bad) throws {
        let error = try #require(throws: JSONError.self) { try JSONReader.parse(bad.bytes) }
        #expect(error.kind == bad.kind)
        #expect(Int(error.span.start)..<Int(error.span.end) == bad.range)
        #expect(error.offset == bad.range.lowerBound)
        #expect(!error.message.isEmpty)
        #expect(!JSONText.isObject(bad.bytes))
    }

    @Test(arguments: [
        Good("// head\n[1, // one\n 2, /* two * / */]", "[1,2]"), Good("{\"a\":1,}", "{\"a\":1}"),
        Good("[1]// no line end follows", "[1]"),
        Good("/**/{/**/\"a\"/**/:/**/1/**/}", "{\"a\":1}"),
        Good("[1,\n// the last\n]", "[1]"), Good("/* é 😀 \u{0} */1", "1"),
    ])
    func `Comments are read where they are allowed`(_ good: Good) throws {
        #expect(try JSONReader.parse(good.text, dialect: .commented).text == good.compact)
        #expect(throws: JSONError.self) { try JSONReader.parse(good.text) }
    }

    @Test(arguments: [
        Bad("[,]", 1..<2, unexpected("`,`", value)), Bad("[1,,]", 3..<4, unexpected("`,`", value)),
        Bad("{,}", 1..<2, unexpected("`,`", key)),
        Bad("[1 /* x", 7..<7, cutOff(at: 3, length: 2)),
        Bad("/*/", 3..<3, cutOff(at: 0, length: 2)),
        Bad("// nothing else", 0..<0, .empty), Bad("1,", 1..<2, .textAfterValue),
    ])
    func `Refuses with comments`(_ bad: Bad) throws {
        let error = try #require(throws: JSONError.self) {
            try JSONReader.parse(bad.bytes, dialect: .commented)
        }
        #expect(error.kind == bad.kind)
        #expect(Int(error.span.start)..<Int(error.span.end) == bad.range)
    }

    @Test
    func `Knows where each value stands`() throws {
        let text = #"{ "é": [1, "zwei"], "b": null }"#
        let node = try JSONReader.parse(text)
        func slice(_ span: ByteSpan?) -> String? {
            span.map { String(decoding: Array(text.utf8)[$0.range], as: UTF8.self) }
        }
        #expect(slice(node.span) == text)
        #expect(slice(node.object?.first?.keySpan) == "\"é\"")
        #expect(slice(node["é"]?.span) == #"[1, "zwei"]"#)
        #expect(slice(node.find(pointer: "/é/1")?.span) == "\"zwei\"")
        #expect(slice(node["b"]?.span) == "null")
    }

    @Test
    func `Finds duplicates among many keys`() throws {
        let keys = (0..<100).map { "\"k\($0)\":0" }
        #expect(throws: Never.self) { try JSONReader.parse("{\(keys.joined(separator: ","))}") }
        let twice = (keys + ["\"k97\":1"]).joined(separator: ",")
        let error = try #require(throws: JSONError.self) { try JSONReader.parse("{\(twice)}") }
        guard case .duplicateKey("k97", _) = error.kind else {
            Issue.record("\(error)")
            return
        }
        let kept = try JSONReader.parse(
            Array("{\(twice)}".utf8),
            dialect: .strict,
            keepsDuplicateKeys: true
        )
        #expect(kept.object?.count == 101)
    }

    @Test(arguments: ["[[1,2],{\"a\":\"\\ud83d\\ude00é\",\"b\":-1.5e+3,\"c\":[true,null]}]"])
    func `Refuses every prefix`(_ text: String) {
        let bytes = Array(text.utf8)
        for count in 0..<bytes.count {
            #expect(throws: JSONError.self, "cut off after \(count)") {
                try JSONReader.parse(Array(bytes.prefix(count)))
            }
        }
    }

    /// A value that was read is written and read again unchanged.
    @Test(arguments: SeededGenerator.seeds(8))
    func `Mutated JSON is read or refused`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let source = Array(
            "{\"a\":[1,2.5e3,\"\\ud83d\\ude00é\\n\"],/**/\"b\":{\"c\":null,},//\n\"d\":true}".utf8
        )
        for _ in 0..<4000 {
            var bytes = source
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let index = Int.random(in: 0..<bytes.count, using: &random)
                switch UInt8.random(in: 0...2, using: &random) {
                case 0: bytes[index] = .random(in: 0...255, using: &random)
                case 1: bytes.remove(at: index)
                default:
                    bytes.insert(bytes[.random(in: 0..<bytes.count, using: &random)], at: index)
                }
            }
            guard let node = try? JSONReader.parse(bytes, dialect: .commented) else { continue }
            #expect(try JSONReader.parse(node.text) == node)
        }
    }

    @Test
    func `Reads from buffers and spans`() throws {
        let bytes = Array("[1]".utf8)
        let expected = try JSONReader.parse(bytes)
        #expect(try bytes.withUnsafeBytes { try JSONReader.parse($0) } == expected)
        #expect(try JSONReader.parse(bytes[0...]) == expected)
        #expect(try JSONReader.parse(bytes.span.bytes) == expected)
    }
}
