// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostTestSupport
import Testing

/// Plugins in Go, with the binding that `bghost plugin new` writes: the ends of runs, and the checks.
///
/// Without a Go compiler, `NewPluginTests` fails and this is skipped.
@Suite(
    .ownThreads,
    .serialized,
    .timeLimit(.minutes(10)),
    .enabled(if: Toolchain.program("go") != nil)
)
struct GoPluginTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private struct Row {
        var handler: String
        var outcome: String
        var message = ""
        var result: String?
        var arguments: [String] = []
    }

    private static let rows = [
        Row(
            handler: "succeed",
            outcome: "succeeded",
            result: #"{"data":true,"grace":5,"rest":true}"#
        ),
        Row(handler: "nothing", outcome: "succeeded"),
        Row(handler: "many", outcome: "succeeded", result: "10000"),
        Row(handler: "fail", outcome: "failed", message: "no luck"),
        Row(handler: "fail-in-latin", outcome: "failed", message: "caf?\u{0}"),
        Row(handler: "fail-finally", outcome: "failed", message: "outer: gone"),
        Row(handler: "retry", outcome: "failed", message: "busy"),
        Row(handler: "panic", outcome: "failed", message: "panic: oh no"),
        Row(
            handler: "dereference",
            outcome: "failed",
            message: "panic: runtime error: invalid memory address or nil pointer dereference"
        ),
        Row(handler: "goexit", outcome: "failed", message: "the handler ended its goroutine"),
        Row(
            handler: "too-long",
            outcome: "failed",
            message: "the result has 1048578 bytes, and may have 65536"
        ),
        Row(handler: "canceled", outcome: "failed", message: "context canceled"),
        Row(handler: "wait", outcome: "cancelledClean", arguments: ["--expire-after", "100ms"]),
        Row(
            handler: "spin",
            outcome: "killed(graceExceeded)",
            arguments: ["--expire-after", "100ms", "--grace", "300ms"]
        ),
        // What Go cannot contain ends the worker, and the report says why.
        Row(handler: "panic-elsewhere", outcome: "crashed(SIGABRT)", message: "panic: elsewhere"),
        Row(handler: "crash-in-c", outcome: "crashed(SIGSEGV)", message: "memory address 0x10"),
        Row(handler: "exit", outcome: "crashed(exit 3)"),
    ]

    /// One test for all, which builds them once.
    @Test func `Each run ends as its handler does`() throws {
        let library = try build()
        for row in Self.rows { try check(row, library) }
    }

    private func check(_ row: Row, _ library: String) throws {
        let ran = try Command.run(
            [Artifact.path("bghost"), "plugin", "run", library, row.handler, "--json"]
                + row.arguments
        )
        let lines = try ran.output.split(separator: "\n").map { try JSONReader.parse(String($0)) }
        let run = try #require(lines.last?["run"], "\(row.handler): \(ran.output)\(ran.error)")
        let outcome = run["outcome"]?.string
        let message = run["message"]?.string ?? ""
        #expect(outcome == row.outcome, "\(row.handler)")
        if row.outcome.hasPrefix("crashed") {
            #expect(message.contains(row.message), "\(row.handler): \(message)")
        } else {
            #expect(message == row.message, "\(row.handler)")
        }
        if let result = row.result { #expect(run["result"]?.text == result, "\(row.handler)") }
        if row.handler == "fail" { #expect(run["error"]?["type"]?.string == "*errors.errorString") }
        let logged = lines.filter { $0["source"]?.string == "handler" }
        if row.handler == "succeed" {
            #expect(logged.first?["level"]?.string == "warning")
            #expect(logged.first?["message"]?.string == "task succeed, attempt 1")
        }
        // The stack of a panic names its place.
        if message.hasPrefix("panic"), row.outcome == "failed" {
            #expect(logged.contains { $0["message"]?.string?.contains("main.go:") == true })
            #expect(logged.allSatisfy { $0["level"]?.string == "error" })
        }
    }

    @Test func `A panic is a failed run, and not a crash of the plugin`() throws {
        let manifest = try folder.write(
            """
            {"version": 1, "plugins": {"go": {"library": "\(try build())"}},
             "tasks": {
                "panic": {"plugin": "go", "handler": "panic"},
                "garbage": {"plugin": "go", "handler": "garbage"},
                "succeed": {"plugin": "go", "handler": "succeed"}}}
            """,
            to: "tasks.json"
        )
        let daemon = try TestDaemon(manifest: manifest, folder: folder, arguments: ["--dev"])
        func run(_ task: String) throws -> JSONNode {
            let ran = try daemon.command(["trigger", task, "--wait", "--json"])
            return try #require(try JSONReader.parse(ran.output)["run"], "\(ran.output)")
        }
        // More often than a plugin may crash before it is quarantined.
        for _ in 0..<7 { #expect(try run("panic")["outcome"]?.string == "failed") }
        // What the collector does after a run is not taken for work outside of runs.
        let first = try run("garbage")
        #expect(first["outcome"]?.string == "succeeded")
        let second = try run("succeed")
        #expect(second["outcome"]?.string == "succeeded")
        #expect(second["pid"]?.text == first["pid"]?.text)
        #expect(daemon.stop() == 0)
    }

    @Test func `The handler that docs/ABI.md shows runs and passes all checks`() async throws {
        let library = try build(Self.shown())
        func run(_ parameters: String) throws -> Command.Result {
            try Command.run(
                [Artifact.path("bghost"), "plugin", "run", library, "--parameters", parameters]
            )
        }
        #expect(try run(#"{"Name": "Ada"}"#).output.hasSuffix("  {\"Text\":\"Hello, Ada!\"}\n"))
        let refused = try run("{}")
        #expect(refused.exitCode == 1 && refused.output.contains("the visitor has no name"))

        let checked = try await CheckedPlugin(library, ["--parameters", #"{"Name": "Ada"}"#])
        #expect(checked.exitCode == 0 && checked.troubles == [], "\(checked.account)")
        for name in ["load-threads", "load-state", "signals", "close", "thread-exit", "overlap"] {
            #expect(checked.checks.first { $0.name == name }?.verdict == "passed", "\(name)")
        }
        let mapping = checked.checks.first { $0.name == "mapping" }
        #expect(mapping?.verdict == "skipped" && mapping?.message.contains("Go") == true)
    }

    @Test func `The checks find goroutines that work outside of runs`() async throws {
        let spinning = """
            package main

            func init() {
            \tgo func() {
            \t\tfor {
            \t\t}
            \t}()
            }

            """
        let checked = try await CheckedPlugin(
            build(Self.shown(), adding: spinning),
            ["--check", "load-threads", "--check", "close"]
        )
        #expect(
            checked.troubles == ["load-threads failed", "close failed"],
            "\(checked.account)"
        )
        for (name, when) in [("load-threads", "before it is opened"), ("close", "after close()")] {
            let message = checked.checks.first { $0.name == name }?.message
            #expect(message?.contains("its goroutines work \(when)") == true, "\(message ?? "")")
        }
    }

    /// The page shows no imports and no types.
    private static func shown() throws -> String {
        let page = String(
            decoding: try File.read(PackageRoot.path + "/docs/ABI.md"),
            as: UTF8.self
        )
        let code = page.split(separator: "```go\n").last?.split(separator: "```").first
        return try """
        package main

        import (
        \t"context"
        \t"errors"
        \t"time"

        \t"example.org/trouble/bghost"
        )

        type Visitor struct{ Name string }

        type Greeting struct{ Text string }

        const schema = ""

        func main() {}


        """ + #require(code)
    }

    // MARK: Building

    /// Builds a new plugin.
    ///
    /// - Parameters:
    ///   - main: its main.go; `nil` for the handlers of Tests/Fixtures/Go.
    ///   - source: one more source file.
    private func build(_ main: String? = nil, adding source: String? = nil) throws -> String {
        let name = source == nil ? "trouble" : "trouble-more"
        let made = try Command.run([
            Artifact.path("bghost"), "plugin", "new", "trouble", "--language", "go", "--folder",
            folder.file(name),
        ])
        try #require(made.exitCode == 0, "\(made.error)")
        let handlers = PackageRoot.path + "/Tests/Fixtures/Go/trouble.go"
        let text = try main ?? String(decoding: try File.read(handlers), as: UTF8.self)
        try folder.write(text, to: name + "/main.go")
        // It tests the handler of the template.
        _ = try Command.run(["rm", folder.file(name + "/main_test.go")])
        if let source { try folder.write(source, to: name + "/more.go") }
        let built = try Command.run([
            "sh", "-ec",
            """
            cd '\(folder.file(name))'
            gofmt -l . && go vet ./... && go build -buildmode=c-shared -o libtrouble.so .
            """,
        ])
        try #require(built.exitCode == 0 && built.output == "", "\(built.output)\(built.error)")
        return folder.file(name + "/libtrouble.so")
    }
}
