// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostTestSupport
import Glibc
import Testing

/// The examples that fetch, keep data and submit, in each language: built, checked, and run in a daemon.
@Suite(.ownThreads, .serialized, .timeLimit(.minutes(10))) struct ExamplePluginTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    @Test(arguments: ["c", "cpp", "rust", "go", "swift"])
    func `An example passes all checks, is cancelled, fetches, counts and submits`(
        language: String
    ) async throws {
        if language == "go" {
            try #require(Toolchain.program("go") != nil, "there is no Go compiler")
        }
        let library = try await build(language)
        // The checker answers the fetch itself.
        let given = #"{"url":"http://127.0.0.1:1/","again":60}"#
        let checked = try await CheckedPlugin(library, ["--parameters", given, "--grace", "5s"])
        #expect(checked.exitCode == 0 && checked.troubles == [], "\(checked.account)")
        #expect(checked.checks.first { $0.name == "stop" }?.verdict == "passed")

        let server = try FileServer(Array(repeating: 1, count: 1000), holdAt: 500)
        defer { server.close() }
        let manifest = try folder.write(
            """
            {"version": 1,
             "plugins": {"r": {"library": "\(library)",
                               "permissions": {"network": ["\(server.grant)"]}}},
             "tasks": {"report": {"plugin": "r", "limits": {"runtime": "5m", "grace": "30s"}}}}
            """,
            to: "tasks.json"
        )
        let daemon = try TestDaemon(manifest: manifest, folder: folder, arguments: ["--dev"])
        let parameters = #"{"url":"\#(server.url)","again":3600}"#
        func trigger(_ options: [String]) throws -> Command.Result {
            try daemon.command(["trigger", "report", "--json"] + options)
        }

        // The server stops in the middle of the body, so the run is in its fetch.
        #expect(try trigger(["--parameters", parameters]).exitCode == 0)
        await server.held()
        let runs = try JSONReader.parse(try daemon.command(["runs", "--json"]).output)
        let id = try #require(runs["runs"]?.array?.first?["id"]?.string, "\(runs)")
        #expect(try daemon.command(["stop", id]).exitCode == 0)
        #expect(daemon.program.line(containing: "report cancelledClean") != nil)
        server.release()

        for count in 1...2 {
            let ran = try trigger(["--wait", "--parameters", parameters])
            #expect(ran.exitCode == 0, "\(ran.output)\(ran.error)")
            let run = try JSONReader.parse(ran.output)["run"]
            let result = run?["result"]
            #expect(result?["status"]?.int64 == 200 && result?["bytes"]?.int64 == 1000, "\(ran)")
            #expect(result?["runs"]?.int64 == Int64(count), "\(ran)")
            #expect(run?["progress"]?["done"]?.text == "3")
            #expect(run?["progress"]?["phase"]?.string == "done")
        }
        let pending = try JSONReader.parse(try daemon.command(["pending", "--json"]).output)
        #expect(pending["requests"]?.array?.count == 1, "\(pending)")
        // Schemas are checked before a run.
        #expect(try trigger(["--wait", "--parameters", #"{"url":1}"#]).exitCode == 64)
        #expect(daemon.stop() == 0)
    }

    /// - Returns: the path of the library.
    private func build(_ language: String) async throws -> String {
        let examples = PackageRoot.path + "/Examples"
        switch language {
        case "c": return try Fixture.library(source: examples + "/c/report.c")
        case "cpp": return try Cxx.library(examples + "/cpp/report.cc", in: folder)
        case "rust": return try await Rust.library(examples + "/rust/report.rs", in: folder)
        // The build makes it, as it does the plugins of the sample app.
        case "swift": return Artifact.path("libReport.so")
        default: break
        }
        let made = try Command.run([
            Artifact.path("bghost"), "plugin", "new", "report", "--language", "go", "--folder",
            folder.file("go"),
        ])
        try #require(made.exitCode == 0, "\(made.error)")
        let built = try await Command.runApart([
            "sh", "-ec",
            """
            cd '\(folder.file("go"))'
            rm main_test.go
            cp '\(examples)/go/main.go' '\(examples)/go/go.mod' .
            gofmt -l . && go vet . && go build -buildmode=c-shared -o libreport.so .
            """,
        ])
        try #require(built.exitCode == 0 && built.output == "", "\(built.output)\(built.error)")
        return folder.file("go/libreport.so")
    }
}

/// Compiles plugins in Rust.
enum Rust {
    /// The distribution's own, or the newer one of the path.
    static let compiler = access("/usr/bin/rustc", X_OK) == 0 ? "/usr/bin/rustc" : "rustc"

    /// Builds a source that has `bghost.rs` beside it.
    ///
    /// - Returns: the path of the library.
    static func library(_ source: String, in folder: TemporaryDirectory) async throws -> String {
        let library = folder.file("librust.so")
        let built = try await Command.runApart([
            compiler, "--edition", "2021", "-O", "-D", "warnings", "--crate-type", "cdylib",
            source, "-o", library,
        ])
        try #require(built.exitCode == 0, "\(built.error)")
        return library
    }
}

/// Compiles plugins in C++.
enum Cxx {
    /// Builds a source against `bghost.hpp`, which the cache of `Fixture` does not know.
    ///
    /// - Returns: the path of the library.
    static func library(
        _ source: String,
        include: String = Fixture.include,
        options: [String] = [],
        in folder: TemporaryDirectory
    ) throws -> String {
        let library = folder.file("libcxx.so")
        let built = try Command.run(
            [
                Toolchain.cxx, "-std=c++17", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC",
                "-fvisibility=hidden", "-I" + include, source, "-o", library,
            ] + options
        )
        try #require(built.exitCode == 0, "\(built.error)")
        return library
    }
}
