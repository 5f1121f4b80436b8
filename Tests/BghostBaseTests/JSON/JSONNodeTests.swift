// SPDX-License-Identifier: Apache-2.0

@testable import BghostBase
import Testing

@Suite
struct JSONNodeTests {
    struct Number: Sendable, CustomTestStringConvertible {
        var text: String
        var int64: Int64?
        var uint64: UInt64?
        var double: Double?
        var testDescription: String { text }

        init(_ text: String, _ int64: Int64?, _ uint64: UInt64?, _ double: Double?) {
            self.text = text
            self.int64 = int64
            self.uint64 = uint64
            self.double = double
        }
    }

    @Test(arguments: [
        Number("0", 0, 0, 0), Number("-0", 0, 0, 0), Number("42", 42, 42, 42),
        Number("-42", -42, nil, -42), Number("1.0", 1, 1, 1), Number("10.00", 10, 10, 10),
        Number("1e3", 1000, 1000, 1000), Number("1.5e1", 15, 15, 15), Number("1.5", nil, nil, 1.5),
        Number("100e-2", 1, 1, 1), Number("0.05e2", 5, 5, 5), Number("5e-1", nil, nil, 0.5),
        Number("9223372036854775807", .max, 9_223_372_036_854_775_807, 9.223372036854775807e18),
        Number("9223372036854775808", nil, 1 << 63, 9.223372036854775808e18),
        Number("-9223372036854775808", .min, nil, -9.223372036854775808e18),
        Number("-9223372036854775809", nil, nil, -9.223372036854775809e18),
        Number("18446744073709551615", nil, .max, 1.8446744073709552e19),
        Number("18446744073709551616", nil, nil, 1.8446744073709552e19),
        Number("1e19", nil, 10_000_000_000_000_000_000, 1e19), Number("1e20", nil, nil, 1e20),
        Number("0e99999999999999999999", 0, 0, 0), Number("1e99999999999999999999", nil, nil, nil),
        Number("0e-99999999999999999999", 0, 0, 0), Number("1e400", nil, nil, nil),
    ])
    func `Numbers are read`(_ number: Number) throws {
        let node = try JSONReader.parse(number.text)
        #expect(node.int64 == number.int64)
        #expect(node.uint64 == number.uint64)
        #expect(node.double == number.double)
        #expect(node.string == nil)
    }

    @Test
    func `Answers only for its kind`() throws {
        let node = try JSONReader.parse(#"{"s":"x","b":true,"n":null,"i":1}"#)
        #expect(node["s"]?.string == "x")
        #expect(node["b"]?.bool == true)
        #expect(node["n"]?.isNull == true)
        #expect(node["s"]?.int64 == nil)
        #expect(node["i"]?.bool == nil)
        #expect(node["i"]?.array == nil)
        #expect(node["absent"] == nil)
        #expect(node["s"]?["x"] == nil)
    }

    /// The examples of RFC 6901, section 5, and what it forbids.
    @Test(arguments: [
        ("/foo", "[\"bar\",\"baz\"]"), ("/foo/0", "\"bar\""), ("/", "0"), ("/a~1b", "1"),
        ("/c%d", "2"), ("/e^f", "3"), ("/g|h", "4"), ("/i\\j", "5"), ("/k\"l", "6"), ("/ ", "7"),
        ("/m~0n", "8"), ("/~01", "9"), ("/foo/2", nil), ("/foo/-", nil), ("/foo/00", nil),
        ("/foo/", nil), ("/foo/+1", nil), ("/foo/99999999999999999999", nil), ("foo", nil),
        ("/~2", nil), ("/~", nil), ("/foo/0/x", nil), ("/FOO", nil),
    ])
    func `Pointers are followed`(pointer: String, expected: String?) throws {
        let node = try JSONReader.parse(
            #"{"foo":["bar","baz"],"":0,"a/b":1,"c%d":2,"e^f":3,"g|h":4,"i\\j":5,"k\"l":6,"#
                + #"" ":7,"m~n":8,"~1":9}"#
        )
        #expect(node.find(pointer: pointer)?.text == expected)
        #expect(node.find(pointer: "") == node)
    }

    @Test
    func `The encoder writes the given values`() throws {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("text", "a\"\\\n\u{1}é")
            writer.member("none", String?.none)
            writer.member("small", Int8.min)
            writer.member("large", UInt64.max)
            writer.member("real", 0.1)
            writer.member("huge", 1e300)
            writer.member("endless", Double.infinity)
            writer.member("flag", true)
            writer.member("raw", raw: "{\"x\":[]}")
            writer.member("list") { writer in
                writer.array { writer in
                    writer.value(1)
                    writer.object { _ in }
                    writer.array { _ in }
                    writer.null()
                }
            }
        }
        let expected =
            #"{"text":"a\"\\\n\u0001é","none":null,"small":-128,"large":18446744073709551615,"#
            + #""real":0.1,"huge":1e+300,"endless":null,"flag":true,"raw":{"x":[]},"#
            + #""list":[1,{},[],null]}"#
        #expect(writer.text == expected)
        #expect(try JSONReader.parse(writer.bytes)["large"]?.uint64 == .max)
    }

    @Test(arguments: [
        (#"{"a":1,"b":{"x":1,"y":2}}"#, #"{"b":{"x":9},"c":3}"#, #"{"a":1,"b":{"x":9},"c":3}"#),
        ("{}", #"{ "a" : 1 }"#, #"{"a":1}"#), (#"{"a":1}"#, "{}", #"{"a":1}"#),
        (#"{"a":1}"#, #"{"\u0061":null}"#, #"{"a":null}"#),
    ])
    func `One object is laid over another`(base: String, over: String, expected: String) throws {
        #expect(try JSONText.overlay(base: base, over: over) == expected)
    }

    @Test(arguments: [
        ("{}", "[]", JSONError.Kind.notAnObject), ("1", "{\"a\":1}", .notAnObject),
        ("{}", "{", .unexpectedEnd(opened: ByteSpan(start: 0, end: 1))),
    ])
    func `What is no object is not laid over another`(
        base: String,
        over: String,
        expected: JSONError.Kind
    ) throws {
        let error = try #require(throws: JSONError.self) {
            try JSONText.overlay(base: base, over: over)
        }
        #expect(error.kind == expected)
    }
}
