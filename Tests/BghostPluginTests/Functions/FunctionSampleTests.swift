// SPDX-License-Identifier: Apache-2.0
import BghostBase
@testable import BghostFunctionCalls
import BghostFunctions
@testable import BghostPlugin
import BghostTestSupport
import Testing

/// The samples and the manual say what is so.
@Suite struct FunctionSampleTests {
    @Test func `Every task of the example succeeds`() throws {
        let text = try File.read(PackageRoot.path + "/Examples/functions/tasks.json")
        let manifest = try JSONReader.parse(text, dialect: .commented)
        let tasks = try #require(manifest["tasks"]?.object)
        #expect(tasks.count == 4)
        for task in tasks {
            let name = try #require(task.value["function"]?.string)
            let definition = try #require(manifest["functions"]?[name])
            let function = try ForeignFunction(
                library: try #require(definition["library"]?.string),
                symbol: try #require(definition["symbol"]?.string),
                signature: try #require(definition["signature"]?.string)
            )
            let completion = try function.answer(task.value["parameters"]?.text ?? "{}")
            #expect(completion.status == 0, "\(task.key): \(completion.message)")
            let results = [
                "com.example.checksum": #"{"result":3421780262,"errno":0}"#,
                "com.example.is-complete-sql": #"{"result":1,"errno":0}"#,
                "com.example.divide": #"{"result":{"quotient":3,"remainder":2},"errno":0}"#,
            ]
            if let expected = results[task.key] { #expect(completion.result == expected) }
        }
    }

    @Test func `Every signature of the manual is one`() throws {
        let text = String(
            decoding: try File.read(PackageRoot.path + "/docs/FUNCTIONS.md"),
            as: UTF8.self
        )
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let heading = try #require(lines.firstIndex(of: "| C | signature |"))
        let rows = lines[(heading + 2)...].prefix { $0.hasPrefix("|") }
        #expect(rows.count == 9)
        for row in rows {
            let parts = row.split(separator: "`", omittingEmptySubsequences: false)
            try #require(parts.count == 5, "\(row)")
            #expect(FunctionSignature.problem(in: String(parts[3])) == nil, "\(row)")
        }
    }

    /// The longest of the manual's signatures, with a file descriptor from the one before.
    @Test func `Reads a file as the manual says`() throws {
        let folder = try TemporaryDirectory()
        let path = try folder.write("storm", to: "file")
        let open = try ForeignFunction(
            library: "libc.so.6",
            symbol: "open",
            signature: "int(path: string, flags: int = 0, ..., mode: uint = 0) >= 0"
        )
        let read = try ForeignFunction(
            library: "libc.so.6",
            symbol: "read",
            signature: "ssize(fd: int, to: out bytes(64KiB, result), size = capacityOf(to)) >= 0"
        )
        let close = try ForeignFunction(
            library: "libc.so.6",
            symbol: "close",
            signature: "int(fd: int) == 0"
        )
        let opened = try JSONReader.parse(
            try open.answer(#"{"path": "\#(path)"}"#).result,
            dialect: .strict
        )
        let fd = try #require(opened["result"]?.int64)
        #expect(
            try read.answer(#"{"fd": \#(fd)}"#).result
                == #"{"result":5,"out":{"to":{"base64":"c3Rvcm0="}},"errno":0}"#
        )
        #expect(try close.answer(#"{"fd": \#(fd)}"#).status == 0)
    }
}
