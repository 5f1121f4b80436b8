// SPDX-License-Identifier: Apache-2.0
@testable import BghostFunctionCalls
@testable import BghostPlugin
import BghostTestSupport
import Testing

/// A wrong argument is refused before the call; the message has the expected one.
@Suite(.ownThreads) struct RefusalTests {
    @Test(arguments: [
        ("{}", "argument `b` is missing: give `\"b\"`"),
        (#"{"a": 1}"#, "argument `b` is missing"),
        (#"{"arguments": []}"#, "argument `b` is missing"),
        (#"{"arguments": [1, 2, 3]}"#, "list 3 arguments; `int(a: int = 7, b: int)` takes 2"),
        (#"{"b": 1, "c": 2}"#, "name `c`, which the function has not; it takes `a`, `b`"),
        (#"{"b": 1, "arguments": [1]}"#, "hold both `arguments` and `b`"),
        (#"{"arguments": {"b": 1}}"#, "need a list at `arguments`, not an object"),
        ("[1, 2]", "are no JSON object"), ("", "are no JSON object"),
        (#"{"b": 1"#, "are no JSON object"), (#"{"b": 1, "b": 2}"#, "stands twice"),
        (#"{"b": 1e99}"#, "not 1e99"),
        (#"{"b": "1"}"#, "needs a whole number (`int`), not a string"),
    ])
    func `Parameters that do not fit are refused`(_ parameters: String, _ says: String) throws {
        let function = try ForeignFunction(
            library: "libc.so.6",
            symbol: "abs",
            signature: "int(a: int = 7, b: int)"
        )
        let refusal = try #require(function.refusal(parameters))
        #expect(refusal.contains(says), "\(refusal)")
    }

    @Test func `Arguments without names`() throws {
        let abs = try ForeignFunction(library: "libc.so.6", symbol: "abs", signature: "int(int)")
        #expect(
            abs.refusal("{}")
                == "argument 1 (`int`) is missing; it has no name, so list it in `\"arguments\": [...]`"
        )
        #expect(abs.refusal(#"{"x": 1}"#)?.contains("its arguments have no names") == true)
        #expect(try abs.answer(#"{"arguments": [-4]}"#).result.contains(":4,"))
    }

    @Test func `Arguments that take no value`() throws {
        let frexp = try ForeignFunction(
            library: "libm.so.6",
            symbol: "frexp",
            signature: "double(x: double, e: out int)"
        )
        #expect(
            frexp.refusal(#"{"x": 1, "e": 2}"#)?
                .contains("argument `e` takes no value: it is `out int`") == true
        )
    }

    @Test func `A length that does not fit`() throws {
        let sum = try FunctionFixture.function(
            "sum",
            "size(data: bytes, count: uint8 = lengthOf(data))"
        )
        let data = String(repeating: "a", count: 256)
        #expect(sum.refusal(#"{"data": "\#(data)"}"#)?.contains("`uint8` cannot hold 256") == true)
    }

    @Test func `Libraries that cannot be used are refused`() throws {
        let folder = try TemporaryDirectory()
        let text = try folder.write("not ELF at all, by far not", to: "text.so")
        for library in ["libdoesnotexist.so.9", "", "a\0b", "/usr", text] {
            #expect {
                try ForeignFunction(library: library, symbol: "f", signature: "void()")
            } throws: { error in
                guard case FunctionError.libraryNotLoaded(library, let reason) = error else {
                    return false
                }
                return !reason.isEmpty && "\(error)".contains("cannot be loaded")
            }
        }
    }

    @Test func `Symbols that are not there are refused`() throws {
        #expect(
            throws: FunctionError.symbolMissing(
                symbol: "crc23",
                library: "libz.so.1",
                near: ["crc32"]
            )
        ) {
            try ForeignFunction(library: "libz.so.1", symbol: "crc23", signature: "void()")
        }
        #expect(
            throws: FunctionError.symbolMissing(
                symbol: "nothing_like_it",
                library: "libz.so.1",
                near: []
            )
        ) {
            try ForeignFunction(
                library: "libz.so.1",
                symbol: "nothing_like_it",
                signature: "void()"
            )
        }
    }

    @Test(arguments: ["counter", "per_thread"])
    func `Symbols that are data are refused`(_ symbol: String) throws {
        let library = try FunctionFixture.library("values")
        #expect(throws: FunctionError.notAFunction(symbol: symbol, library: library)) {
            try ForeignFunction(library: library, symbol: symbol, signature: "int()")
        }
        // An array that lies in the C library itself.
        #expect(throws: FunctionError.notAFunction(symbol: "environ", library: "libc.so.6")) {
            try ForeignFunction(library: "libc.so.6", symbol: "environ", signature: "int()")
        }
    }

    @Test func `Signatures that cannot be called are refused`() throws {
        #expect {
            try ForeignFunction(library: "libc.so.6", symbol: "abs", signature: "int(itn)")
        } throws: { error in
            "\(error)" == "the signature is wrong at column 5: there is no type `itn`; "
                + "did you mean `int`?"
        }
    }
}
