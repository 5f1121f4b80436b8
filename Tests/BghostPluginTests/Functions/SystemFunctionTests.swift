// SPDX-License-Identifier: Apache-2.0
import BghostBase
@testable import BghostFunctionCalls
@testable import BghostPlugin
import Glibc
import Testing

/// Functions that every Debian has.
@Suite struct SystemFunctionTests {
    @Test(arguments: [
        #"{"arguments": [0, "123456789", 9]}"#,
        #"{"arguments": [0, {"base64": "MTIzNDU2Nzg5"}, 9]}"#,
    ])
    func `CRC-32 of zlib`(_ parameters: String) throws {
        let crc32 = try ForeignFunction(
            library: "libz.so.1",
            symbol: "crc32",
            signature: "ulong(ulong, bytes, uint)"
        )
        // The check value that every catalogue of CRCs has.
        #expect(try crc32.answer(parameters).result == #"{"result":3421780262,"errno":0}"#)
    }

    @Test func `CRC-32 takes the length from the data`() throws {
        let crc32 = try ForeignFunction(
            library: "libz.so.1",
            symbol: "crc32",
            signature: "ulong(crc: ulong = 0, data: bytes, length: uint = lengthOf(data))"
        )
        for parameters in [
            #"{"data": "123456789"}"#, #"{"arguments": [0, "123456789"]}"#,
            #"{"data": "123456789", "length": 9}"#,
        ] {
            #expect(try crc32.answer(parameters).result == #"{"result":3421780262,"errno":0}"#)
        }
        #expect(try crc32.answer(#"{"data": null}"#).result == #"{"result":0,"errno":0}"#)
        let refusal = try #require(crc32.refusal(#"{"data": "123456789", "length": 10}"#))
        #expect(refusal.contains("argument `length` must be 0 to 9, the length of `data`"))
    }

    @Test func `Zlib compresses and uncompresses`() throws {
        let compress = try ForeignFunction(
            library: "libz.so.1",
            symbol: "compress",
            signature: """
                int(to: out bytes(256, room), room: inout ulong = capacityOf(to), from: bytes,
                    length: ulong = lengthOf(from)) == 0
                """
        )
        let uncompress = try ForeignFunction(
            library: "libz.so.1",
            symbol: "uncompress",
            signature: """
                int(to: out bytes(256, room), room: inout ulong = capacityOf(to), from: bytes,
                    length: ulong = lengthOf(from)) == 0
                """
        )
        let plain = String(repeating: "thunder ", count: 20)
        let packed = try object(try compress.answer(#"{"from": "\#(plain)"}"#).result)
        let to = try #require(packed["out"]?["to"])
        let room = try #require(packed["out"]?["room"]?.int64)
        #expect(room < 40)
        let restored = try object(try uncompress.answer(#"{"from": \#(to.text)}"#).result)
        #expect(restored["out"]?["room"]?.int64 == 160)
        let again = try ForeignFunction(
            library: "libc.so.6",
            symbol: "strlen",
            signature: "size(bytes)"
        )
        let bytes = try #require(restored["out"]?["to"]?.text)
        #expect(try again.answer(#"{"arguments": [\#(bytes)]}"#).result.contains(":160,"))
        let failed = try uncompress.answer(#"{"from": "rubbish"}"#)
        #expect(failed.status == -1)
        #expect(failed.message.contains("`uncompress` answered -3, which is not == 0"))
    }

    @Test func `SQLite says its version`() throws {
        func sqlite(_ symbol: String, _ signature: String) throws -> ForeignFunction {
            try ForeignFunction(
                library: "libsqlite3.so.0",
                symbol: symbol,
                signature: signature
            )
        }
        let number = try #require(
            try object(try sqlite("sqlite3_libversion_number", "int()").answer("{}").result)[
                "result"
            ]?.int64
        )
        let text = try #require(
            try object(try sqlite("sqlite3_libversion", "string()").answer("{}").result)[
                "result"
            ]?.string
        )
        #expect(number >= 3_000_000)
        #expect(text == "\(number / 1_000_000).\(number / 1000 % 1000).\(number % 1000)")
        let complete = try sqlite("sqlite3_complete", "int(sql: string)")
        #expect(try complete.answer(#"{"sql": "select 1;"}"#).result.hasPrefix(#"{"result":1,"#))
        #expect(try complete.answer(#"{"sql": "select 1"}"#).result.hasPrefix(#"{"result":0,"#))
    }

    /// A handle that one call answers is what the next one takes.
    @Test func `SQLite opens and closes a database`() throws {
        func sqlite(_ symbol: String, _ signature: String) throws -> ForeignFunction {
            try ForeignFunction(
                library: "libsqlite3.so.0",
                symbol: symbol,
                signature: signature
            )
        }
        let open = try sqlite("sqlite3_open", "int(file: string, db: out pointer) == 0")
        let opened = try object(try open.answer(#"{"file": ":memory:"}"#).result)
        let db = try #require(opened["out"]?["db"]?.text)
        let exec = try sqlite(
            "sqlite3_exec",
            """
            int(db: pointer, sql: string, callback: pointer = null, context: pointer = null,
                error: pointer = null) == 0
            """
        )
        let made = try exec.answer(
            #"{"db": \#(db), "sql": "create table t (x); insert into t values (1)"}"#
        )
        #expect(made.status == 0)
        #expect(made.result == #"{"result":0,"errno":0}"#)
        let changes = try sqlite("sqlite3_changes", "int(db: pointer)")
        #expect(try changes.answer(#"{"db": \#(db)}"#).result == #"{"result":1,"errno":0}"#)
        let wrong = try exec.answer(#"{"db": \#(db), "sql": "insert into nowhere values (1)"}"#)
        #expect(wrong.status == -1)
        let message = try sqlite("sqlite3_errmsg", "string(db: pointer)")
        #expect(
            try message.answer(#"{"db": \#(db)}"#).result.contains("no such table: nowhere")
        )
        let close = try sqlite("sqlite3_close", "int(db: pointer) == 0")
        #expect(try close.answer(#"{"db": \#(db)}"#).status == 0)
    }

    struct Call: CustomTestStringConvertible, Sendable {
        var library = "libc.so.6"
        var symbol: String
        var signature: String
        var parameters: String
        var result: String
        var testDescription: String { symbol }
    }

    @Test(arguments: [
        Call(
            symbol: "div",
            signature: "{quot: int, rem: int}(int, int)",
            parameters: #"{"arguments": [17, 5]}"#,
            result: #"{"result":{"quot":3,"rem":2},"errno":0}"#
        ),
        Call(
            symbol: "ldiv",
            signature: "{long, long}(int, int)",
            parameters: #"{"arguments": [17, 5]}"#,
            result: #"{"result":[3,2],"errno":0}"#
        ),
        Call(
            symbol: "strlen",
            signature: "size(text: string)",
            parameters: #"{"text": "Gewitter⚡"}"#,
            result: #"{"result":11,"errno":0}"#
        ),
        Call(
            symbol: "strtol",
            signature: "long(text: string, rest: out string, base: int = 10)",
            parameters: #"{"text": "-42 and more"}"#,
            result: #"{"result":-42,"out":{"rest":" and more"},"errno":0}"#
        ),
        Call(
            symbol: "strtol",
            signature: "long(text: string, pointer = null, base: int = 10)",
            parameters: #"{"text": "9223372036854775808"}"#,
            result: #"{"result":9223372036854775807,"errno":\#(ERANGE)}"#
        ),
        Call(
            symbol: "snprintf",
            signature: """
                int(to: out string(64), room: size = capacityOf(to), format: string, ..., n: int,
                    x: double, s: string)
                """,
            parameters: #"{"format": "%d %.2f %s", "n": 5, "x": 2.5, "s": "!"}"#,
            result: #"{"result":8,"out":{"to":"5 2.50 !"},"errno":0}"#
        ),
        Call(
            symbol: "snprintf",
            signature: "int(to: out string(3), size = 3, string = \"%%abc\", ...)",
            parameters: "{}",
            result: #"{"result":4,"out":{"to":"%a"},"errno":0}"#
        ),
        Call(
            symbol: "gmtime_r",
            signature: """
                pointer(time: inout long, tm: out {sec: int, min: int, hour: int, day: int,
                    month: int, year: int, wday: int, yday: int, dst: int, offset: long,
                    zone: string}) == null
                """,
            parameters: #"{"time": 86399}"#,
            result: #""tm":{"sec":59,"min":59,"hour":23,"day":1,"month":0,"year":70,"wday":4,"#
                + #""yday":0,"dst":0,"offset":0,"zone":"GMT"}"#
        ),
        Call(
            symbol: "realpath",
            signature: "owned string(path: string, pointer = null) != null",
            parameters: #"{"path": "/usr/../usr"}"#,
            result: #"{"result":"/usr","errno":"#
        ),
        Call(
            library: "libm.so.6",
            symbol: "sqrt",
            signature: "double(double)",
            parameters: #"{"arguments": [2]}"#,
            result: #"{"result":1.4142135623730951,"errno":0}"#
        ),
        Call(
            library: "libm.so.6",
            symbol: "sqrt",
            signature: "double(double)",
            parameters: #"{"arguments": [-1]}"#,
            result: #"{"result":"NaN","errno":\#(EDOM)}"#
        ),
        Call(
            library: "libm.so.6",
            symbol: "sqrtf",
            signature: "float(float)",
            parameters: #"{"arguments": [0.01]}"#,
            result: #"{"result":0.1,"errno":0}"#
        ),
        Call(
            library: "libm.so.6",
            symbol: "log",
            signature: "double(double)",
            parameters: #"{"arguments": [0]}"#,
            result: #"{"result":"-Infinity","errno":\#(ERANGE)}"#
        ),
        Call(
            library: "libm.so.6",
            symbol: "frexp",
            signature: "double(double, exponent: out int)",
            parameters: #"{"arguments": [10]}"#,
            result: #"{"result":0.625,"out":{"exponent":4},"errno":0}"#
        ),
        Call(
            library: "libm.so.6",
            symbol: "frexp",
            signature: "double(double, out int)",
            parameters: #"{"arguments": ["Infinity"]}"#,
            result: #"{"result":"Infinity","out":{"2":0},"errno":0}"#
        ),
    ])
    func `Each call answers as expected`(_ call: Call) throws {
        let function = try ForeignFunction(
            library: call.library,
            symbol: call.symbol,
            signature: call.signature
        )
        #expect(try function.answer(call.parameters).result.contains(call.result))
    }

    @Test func `Gethostname fills a buffer`() throws {
        var name = [CChar](repeating: 0, count: 65)
        try #require(gethostname(&name, 64) == 0)
        let expected = name.withUnsafeBytes {
            String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
        }
        let asText = try ForeignFunction(
            library: "libc.so.6",
            symbol: "gethostname",
            signature: "int(name: out string(65), room: size = capacityOf(name)) == 0"
        )
        #expect(
            try object(try asText.answer("{}").result)["out"]?["name"]?.string == expected
        )
        let asBytes = try ForeignFunction(
            library: "libc.so.6",
            symbol: "gethostname",
            signature: "int(name: out bytes(66), room: size = 65)"
        )
        let bytes = try object(try asBytes.answer("{}").result)["out"]?["name"]?["base64"]?.string
        #expect(bytes?.utf8.count == 88)
    }

    @Test func `Errno of a failed open`() throws {
        let open = try ForeignFunction(
            library: "libc.so.6",
            symbol: "open",
            signature: "int(path: string, flags: int = 0) >= 0"
        )
        let failed = try open.answer(#"{"path": "/nowhere/at/all"}"#)
        #expect(failed.result == #"{"result":-1,"errno":\#(ENOENT)}"#)
        #expect(failed.status == -1)
        #expect(
            failed.message
                == "`open` answered -1, which is not >= 0: No such file or directory (errno 2)"
        )
        let opened = try open.answer(#"{"path": "/dev/null"}"#)
        #expect(opened.status == 0 && opened.message.isEmpty)
        let fd = try #require(try object(opened.result)["result"]?.int64)
        #expect(close(Int32(fd)) == 0)
    }

    private func object(_ text: String) throws -> JSONNode {
        try JSONReader.parse(text, dialect: .strict)
    }
}
