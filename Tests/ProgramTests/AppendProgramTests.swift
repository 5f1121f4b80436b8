// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostTestSupport
import Glibc
import Testing

/// Appended requests in the real daemon, which is killed while they wait.
@Suite(.ownThreads) struct AppendProgramTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private func start() throws -> TestDaemon {
        let manifest = try folder.write(
            """
            {"version": 1,
             "plugins": {"m": {"library": "\(try Fixture.library("misbehave"))"}},
             "tasks": {"import": {"plugin": "m", "handler": "echo", "tags": ["files"]}}}
            """,
            to: "tasks.json"
        )
        return try TestDaemon(manifest: manifest, folder: folder)
    }

    private func json(_ daemon: TestDaemon, _ arguments: String...) throws -> JSONNode {
        let result = try daemon.command(arguments + ["--json"])
        return try JSONReader.parse(result.output.isEmpty ? result.error : result.output)
    }

    private func append(_ number: Int, to daemon: TestDaemon) throws -> String {
        let result = try daemon.command([
            "submit", "import", "--parameters", "{\"n\":\(number)}", "--on-conflict", "append",
            "--json",
        ])
        #expect(result.exitCode == 0, "\(result)")
        return try #require(try JSONReader.parse(result.output)["request"]?["id"]?.string)
    }

    private func pending(_ daemon: TestDaemon) throws -> [String] {
        try #require(try json(daemon, "pending")["requests"]?.array).compactMap {
            $0["id"]?.string
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `They run in order after kill -9, and commands show and withdraw them`() throws {
        var daemon = try start()
        #expect(try daemon.command(["pause", "import"]).exitCode == 0)
        var ids: [String] = []
        for number in 1...3 { ids.append(try append(number, to: daemon)) }
        for _ in 1...2 {
            #expect(try pending(daemon) == ids)
            daemon.program.signal(SIGKILL)
            #expect(daemon.program.end() == -SIGKILL)
            daemon = try start()
        }
        #expect(try pending(daemon) == ids)
        let why = try daemon.command(["why", ids[2]])
        #expect(why.output.contains("2 requests go first: \(ids[0]) and others"), "\(why)")
        let kept = try json(daemon, "submit", "import", "--if-absent")
        #expect(kept["request"]?["id"]?.string == ids[0])
        #expect(try daemon.command(["resume", "import"]).exitCode == 0)
        #expect(daemon.program.has(3, linesContaining: "import succeeded"))
        let runs = try #require(try json(daemon, "runs")["runs"]?.array)
        #expect(
            runs.reversed().map { $0["result"]?.text } == [#"{"n":1}"#, #"{"n":2}"#, #"{"n":3}"#]
        )
        let ends = runs.reversed().map { $0["endedAt"]?.string ?? "" }
        let starts = runs.reversed().map { $0["startedAt"]?.string ?? "" }
        for (end, start) in zip(ends, starts.dropFirst()) { #expect(end <= start) }

        #expect(try daemon.command(["pause", "import"]).exitCode == 0)
        for number in 4...6 { _ = try append(number, to: daemon) }
        #expect(try daemon.command(["cancel", "--tag", "files"]).exitCode == 0)
        #expect(try pending(daemon).isEmpty)
        let refused = try daemon.command(["submit", "import", "--on-conflict", "queue"])
        #expect(refused.exitCode != 0 && refused.error.contains("append"), "\(refused)")
        #expect(daemon.stop() == 0)
    }
}
