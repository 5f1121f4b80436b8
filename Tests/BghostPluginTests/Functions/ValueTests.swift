// SPDX-License-Identifier: Apache-2.0
@testable import BghostFunctionCalls
import BghostFunctions
@testable import BghostPlugin
import Testing

/// Values travel to C and back unchanged.
@Suite struct ValueTests {
    @Test(arguments: ScalarType.allCases)
    func `Every scalar at its limits`(_ scalar: ScalarType) throws {
        let name = scalar.rawValue
        let echo = try FunctionFixture.function("echo_\(name)", "\(name)(\(name))")
        let values: [String]
        if let range = scalar.integerRange {
            values = ["\(range.lowerBound)", "\(range.upperBound)", "0", "1"]
            for beyond in [range.lowerBound - 1, range.upperBound + 1] {
                let refusal = try #require(echo.refusal(#"{"arguments": [\#(beyond)]}"#))
                #expect(refusal.contains("argument 1 (`\(name)`) needs a whole number"))
            }
            #expect(echo.refusal(#"{"arguments": [0.5]}"#) != nil)
            #expect(echo.refusal(#"{"arguments": ["00"]}"#) != nil)
            #expect(echo.refusal(#"{"arguments": [null]}"#) != nil)
        } else {
            values =
                scalar == .bool
                ? ["true", "false"] : ["0.1", "-2.5", "-0.0", #""NaN""#, #""-Infinity""#]
            #expect(echo.refusal(#"{"arguments": ["1"]}"#) != nil)
        }
        for value in values {
            #expect(
                try echo.answer(#"{"arguments": [\#(value)]}"#).result
                    == #"{"result":\#(value),"errno":0}"#
            )
        }
    }

    @Test func `Large floats are refused`() throws {
        let float = try FunctionFixture.function("echo_float", "float(x: float)")
        #expect(float.refusal(#"{"x": 1e39}"#)?.contains("beyond what `float` holds") == true)
        let double = try FunctionFixture.function("echo_double", "double(x: double)")
        #expect(double.refusal(#"{"x": 1e309}"#)?.contains("beyond what `double` holds") == true)
        #expect(
            try double.answer(#"{"x": 1.7976931348623157e308}"#).result
                .contains("1.7976931348623157e+308")
        )
    }

    @Test func `A char can be a letter`() throws {
        let echo = try FunctionFixture.function("echo_char", "char(c: char)")
        #expect(try echo.answer(#"{"c": "A"}"#).result == #"{"result":65,"errno":0}"#)
        #expect(echo.refusal(#"{"c": "AB"}"#) != nil)
        #expect(echo.refusal(#"{"c": "é"}"#) != nil)
    }

    @Test func `Strings are passed and returned unchanged`() throws {
        let echo = try FunctionFixture.function("echo_string", "string(s: string)")
        for text in [#""""#, #""plain""#, #""Ünïcödé ⚡ \"\\""#, "null"] {
            #expect(
                try echo.answer(#"{"s": \#(text)}"#).result == #"{"result":\#(text),"errno":0}"#
            )
        }
        #expect(echo.refusal(#"{"s": "a\u0000b"}"#)?.contains("holds a NUL") == true)
        #expect(echo.refusal(#"{"s": 5}"#)?.contains("needs a string, not a number") == true)
        let other = try FunctionFixture.function("not_utf8", "string()")
        #expect(try other.answer("{}").result == #"{"result":{"base64":"Yf9i"},"errno":0}"#)
    }

    @Test func `Structs by value`() throws {
        let cases = [
            ("pair", "{x: int, y: double}", #"{"x":-3,"y":0.5}"#),
            ("pair", "{int, double}", "[-3,0.5]"),
            (
                "mixed", "{tag: char, pair: {x: int, y: double}, z: float}",
                #"{"tag":65,"pair":{"x":1,"y":2.5},"z":0.1}"#
            ),
            ("small", "{uchar, uchar, uchar}", "[1,2,255]"),
            (
                "large", "{n: long, a: double, b: double, name: string}",
                #"{"n":-1,"a":0.25,"b":-8.0,"name":"large"}"#
            ),
        ]
        for (name, type, value) in cases {
            let echo = try FunctionFixture.function("echo_\(name)", "\(type)(s: \(type))")
            #expect(
                try echo.answer(#"{"s": \#(value)}"#).result == #"{"result":\#(value),"errno":0}"#
            )
        }
        let area = try FunctionFixture.function(
            "area",
            "double(a: {x: int, y: double}, scale: int, b: {x: int, y: double})"
        )
        // A struct with names may be given as a list too.
        #expect(
            try area.answer(#"{"a": {"y": 1, "x": 2}, "b": [3, 4], "scale": 10}"#).result
                == #"{"result":250.0,"errno":0}"#
        )
    }

    @Test(arguments: [
        (#"{"x": 1}"#, "lacks the member `y`"), (#"{"x": 1, "z": 2}"#, "has no member `z`"),
        (#"{"x": 1, "Y": 2}"#, "did you mean `y`?"), ("[1]", "needs 2 members, not 1"),
        ("[1, 2, 3]", "needs 2 members, not 3"), ("5", "needs an object or a list"),
        (#"{"x": 1.5, "y": 2}"#, "argument `s`, member `x`, needs a whole number"),
        ("[1, true]", "argument `s`, member `y`, needs a number"),
    ])
    func `Wrong structs are refused`(_ value: String, _ says: String) throws {
        let echo = try FunctionFixture.function(
            "echo_pair",
            "{x: int, y: double}(s: {x: int, y: double})"
        )
        let refusal = try #require(echo.refusal(#"{"s": \#(value)}"#))
        #expect(refusal.contains(says), "\(refusal)")
    }

    @Test func `Void answers null`() throws {
        let nothing = try FunctionFixture.function("nothing", "void(void)")
        #expect(try nothing.answer("{}").result == #"{"result":null,"errno":0}"#)
    }

    @Test func `Results are held against their condition`() throws {
        let truth = try FunctionFixture.function("echo_bool", "bool(x: bool) == true")
        #expect(try truth.answer(#"{"x": true}"#).status == 0)
        let refuted = try truth.answer(#"{"x": false}"#)
        #expect(refuted.status == -1)
        #expect(refuted.message == "`echo_bool` answered false, which is not == true")
        #expect(refuted.result == #"{"result":false,"errno":0}"#)
        let text = try FunctionFixture.function("echo_string", "string(s: string) != null")
        #expect(try text.answer(#"{"s": ""}"#).status == 0)
        #expect(try text.answer(#"{"s": null}"#).message.contains("answered null"))
        let null = try FunctionFixture.function("echo_string", "string(s: string) == null")
        #expect(try null.answer(#"{"s": "x"}"#).message.contains("answered a pointer"))
    }

    @Test func `Errno is that of the call`() throws {
        let fails = try FunctionFixture.function("fails", "int(code: int)")
        #expect(try fails.answer(#"{"code": 77}"#).result == #"{"result":-1,"errno":77}"#)
        // It starts from 0 each time.
        let nothing = try FunctionFixture.function("nothing", "void()")
        #expect(try nothing.answer("{}").result == #"{"result":null,"errno":0}"#)
    }

    @Test func `Bytes with NULs`() throws {
        let sum = try FunctionFixture.function(
            "sum",
            "size(data: bytes, count: size = lengthOf(data))"
        )
        #expect(try sum.answer(#"{"data": "\u0000\u0001\u0000A"}"#).result.contains(":66,"))
        for (encoded, total) in [("", 0), ("/w==", 255), ("//8=", 510), ("////", 765)] {
            #expect(
                try sum.answer(#"{"data": {"base64": "\#(encoded)"}}"#).result
                    .contains(":\(total),")
            )
        }
        for wrong in ["/w=", "/w", "/x==", "=w==", "////=", "//9=", "\u{E9}w==", "/w==/w=="] {
            #expect(
                sum.refusal(#"{"data": {"base64": "\#(wrong)"}}"#)?.contains("is no Base64") == true
            )
        }
        #expect(sum.refusal(#"{"data": {"base64": "", "x": 1}}"#) != nil)
        #expect(sum.refusal(#"{"data": [1, 2]}"#) != nil)
        let isNull = try FunctionFixture.function("is_null", "int(data: bytes)")
        #expect(try isNull.answer(#"{"data": null}"#).result.contains(":1,"))
        #expect(try isNull.answer(#"{"data": ""}"#).result.contains(":0,"))
    }
}
