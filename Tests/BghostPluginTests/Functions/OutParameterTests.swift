// SPDX-License-Identifier: Apache-2.0
@testable import BghostFunctionCalls
@testable import BghostPlugin
import Testing

/// What functions leave in their arguments.
@Suite struct OutParameterTests {
    @Test func `Structs in and out`() throws {
        let bump = try FunctionFixture.function("bump", "void(pair: inout {x: int, y: double})")
        #expect(
            try bump.answer(#"{"pair": {"x": 1, "y": 5}}"#).result
                == #"{"result":null,"out":{"pair":{"x":2,"y":2.5}},"errno":0}"#
        )
        let fresh = try FunctionFixture.function("bump", "void(out {int, double})")
        #expect(
            try fresh.answer("{}").result == #"{"result":null,"out":{"1":[1,0.0]},"errno":0}"#
        )
    }

    @Test(arguments: [(0, ""), (3, "eHh4"), (8, "eHh4eHh4eHg="), (99, "eHh4eHh4eHg="), (-5, "")])
    func `The result says how much was written`(_ count: Int, _ encoded: String) throws {
        let fill = try FunctionFixture.function(
            "fill",
            "ssize(to: out bytes(8, result), room: size = capacityOf(to), count: int)"
        )
        #expect(
            try fill.answer(#"{"count": \#(count)}"#).result
                == #"{"result":\#(count),"out":{"to":{"base64":"\#(encoded)"}},"errno":0}"#
        )
    }

    @Test func `An argument says how much was written`() throws {
        let fill = try FunctionFixture.function(
            "fill_sized",
            "void(to: out bytes(8, size), size: inout size = capacityOf(to))"
        )
        #expect(
            try fill.answer("{}").result
                == #"{"result":null,"out":{"to":{"base64":"eXl5eQ=="},"size":4},"errno":0}"#
        )
        #expect(try fill.answer(#"{"size": 2}"#).result.contains(#"{"base64":"eQ=="}"#))
        #expect(fill.refusal(#"{"size": 9}"#)?.contains("must be 0 to 8") == true)
    }

    @Test func `Buffers in and out`() throws {
        let bytes = try FunctionFixture.function(
            "upper",
            "void(data: inout bytes(4), count: size = lengthOf(data))"
        )
        #expect(
            try bytes.answer(#"{"data": "abc"}"#).result
                == #"{"result":null,"out":{"data":{"base64":"QUJDAA=="}},"errno":0}"#
        )
        #expect(
            bytes.refusal(#"{"data": "abcde"}"#)?.contains("too many for a buffer of 4") == true
        )
        let text = try FunctionFixture.function(
            "upper",
            "void(text: inout string(4) = \"xyz\", count: size = lengthOf(text))"
        )
        #expect(try text.answer("{}").result.contains(#""text":"XYZ""#))
        #expect(try text.answer(#"{"text": "ab"}"#).result.contains(#""text":"AB""#))
        #expect(text.refusal(#"{"text": "abcd"}"#)?.contains("with its NUL") == true)
    }

    @Test func `Owned strings are read and freed`() throws {
        let copy = try FunctionFixture.function("copy", "owned string(text: string)")
        #expect(try copy.answer(#"{"text": "mine"}"#).result == #"{"result":"mine","errno":0}"#)
        let copyTo = try FunctionFixture.function(
            "copy_to",
            "void(text: string, copy: out owned string)"
        )
        #expect(
            try copyTo.answer(#"{"text": "mine"}"#).result
                == #"{"result":null,"out":{"copy":"mine"},"errno":0}"#
        )
    }

    @Test func `Handles of earlier calls`() throws {
        let new = try FunctionFixture.function("box_new", "pointer(value: int) != null")
        let open = try FunctionFixture.function(
            "box_open",
            "int(box: out pointer, value: int) == 0"
        )
        let value = try FunctionFixture.function("box_value", "int(box: pointer)")
        let free = try FunctionFixture.function("box_free", "void(box: pointer)")
        let first = try handle(in: new.answer(#"{"value": 5}"#).result)
        let second = try handle(in: open.answer(#"{"value": 6}"#).result)
        #expect(first != second)
        #expect(try value.answer(#"{"box": {"handle": "\#(first)"}}"#).result.contains(":5,"))
        #expect(try value.answer(#"{"box": {"handle": "\#(second)"}}"#).result.contains(":6,"))
        _ = try free.answer(#"{"box": {"handle": "\#(first)"}}"#)
        _ = try free.answer(#"{"box": {"handle": "\#(second)"}}"#)
        // Nothing else becomes a pointer.
        for wrong in [#"{"handle": "1"}"#, #"{"handle": "\#(first)0"}"#] {
            #expect(
                value.refusal(#"{"box": \#(wrong)}"#)?.contains("has not answered") == true
            )
        }
        for wrong in ["4096", #""0x1000""#, "true", "{}", #"{"handle": 4096}"#] {
            #expect(
                value.refusal(#"{"box": \#(wrong)}"#)?.contains("needs null or a handle") == true
            )
        }
        let isNull = try FunctionFixture.function("is_null", "int(box: pointer)")
        #expect(try isNull.answer(#"{"box": null}"#).result.contains(":1,"))
    }

    private func handle(in result: String) throws -> String {
        let parts = result.split(separator: "\"", omittingEmptySubsequences: false).map(String.init)
        let index = try #require(parts.firstIndex(of: "handle"))
        return parts[index + 2]
    }
}
