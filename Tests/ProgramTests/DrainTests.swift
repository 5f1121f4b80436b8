// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostTestSupport
import Glibc
import Testing

/// A drain that lets runs end by themselves, as an operator asks for it.
@Suite(.ownThreads, .serialized, .timeLimit(.minutes(5))) struct DrainTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private func daemon() throws -> TestDaemon {
        let library = try Fixture.library("misbehave")
        let manifest = try folder.write(
            """
            {"version": 1, "host": {"slots": 4},
             "plugins": {"m": {"library": "\(library)", "maxPending": {"refresh": 100}}},
             "tasks": {"long": {"plugin": "m", "handler": "honour-cancel",
                                "limits": {"runtime": "10m"}},
                       "good": {"plugin": "m", "handler": "succeed"}}}
            """,
            to: "tasks.json"
        )
        return try TestDaemon(
            manifest: manifest,
            folder: folder,
            arguments: ["--log-level", "debug"]
        )
    }

    /// Begins a run and waits until its handler is under way.
    private func begin(_ daemon: TestDaemon) throws -> String {
        let json = try JSONReader.parse(try daemon.command(["trigger", "long", "--json"]).output)
        try #require(daemon.program.line(containing: "long in worker") != nil)
        let request = try #require(json["request"]?["id"]?.string)
        let runs = try JSONReader.parse(try daemon.command(["runs", "long", "--json"]).output)
        let run = runs["runs"]?.array?.first { $0["request"]?.string == request }
        return try #require(run?["id"]?.string)
    }

    private func drain(_ daemon: TestDaemon, _ arguments: [String]) throws -> RunningProgram {
        try RunningProgram("bghost", ["drain"] + arguments + ["--state-dir", daemon.state])
    }

    @Test func `Runs end by themselves, nothing else begins, and then the daemon stops`() throws {
        let daemon = try daemon()
        let run = try begin(daemon)
        let drain = try drain(daemon, ["--finish"])
        #expect(drain.line(containing: "1 run in progress") != nil)
        let refused = try daemon.command(["trigger", "good"])
        #expect(refused.exitCode == 75 && refused.error.contains("is stopping"), "\(refused)")
        #expect(try daemon.command(["status"]).output.contains(", draining\n"))
        // The run is not asked to stop by the drain, but by the operator.
        #expect(try daemon.command(["runs", "long"]).output.contains("running"))
        #expect(try daemon.command(["stop", run]).exitCode == 0)
        #expect(drain.end() == 0)
        #expect(daemon.program.line(containing: "no run and no worker is left") != nil)
        #expect(daemon.program.end() == 0)
        let log = daemon.program.lines.joined(separator: "\n")
        #expect(log.contains("bghost stops when 1 run in progress has ended"))
        #expect(!log.contains("asked to stop (drain)"), "\(log)")
    }

    @Test func `At the bound the rest is cancelled, and the exit status says so`() throws {
        let daemon = try daemon()
        _ = try begin(daemon)
        let drained = try daemon.command(["drain", "--finish", "--within", "1s", "--json"])
        #expect(drained.exitCode == 1, "\(drained.error)")
        let json = try JSONReader.parse(drained.output)
        #expect(json["schema"]?.string == "bghost.drain/1")
        #expect(json["cancelled"]?.int64 == 1 && json["running"]?.int64 == 0, "\(drained.output)")
        #expect(daemon.program.line(containing: "asked to stop (drain)") != nil)
        #expect(daemon.program.end() == 0)
    }

    @Test func `A second drain shortens the first, and does not lengthen it`() throws {
        let daemon = try daemon()
        _ = try begin(daemon)
        let first = try drain(daemon, ["--finish", "--within", "10m"])
        #expect(first.line(containing: "1 run in progress") != nil)
        let longer = try drain(daemon, ["--finish", "--within", "1h"])
        // Its own lines show the first drain before the daemon has its request.
        #expect(daemon.program.has(2, linesContaining: "no more runs start"))
        let now = try daemon.command(["drain"])
        #expect(now.exitCode == 1 && now.output == "bghost has stopped; 1 run was cancelled\n")
        #expect(first.end() == 1 && longer.end() == 1)
        #expect(daemon.program.end() == 0)
    }

    @Test func `SIGTERM ends a drain that waits for runs`() throws {
        let daemon = try daemon()
        _ = try begin(daemon)
        let drain = try drain(daemon, ["--finish"])
        #expect(drain.line(containing: "1 run in progress") != nil)
        daemon.program.signal(SIGTERM)
        #expect(daemon.program.end() == 0)
        #expect(drain.end() == 1)
    }

    @Test func `Without a run the daemon stops at once; a bound alone is refused`() throws {
        let daemon = try daemon()
        let wrong = try daemon.command(["drain", "--within", "5m"])
        #expect(wrong.exitCode == 64 && wrong.error.contains("--within needs --finish"))
        let drained = try daemon.command(["drain", "--finish"])
        #expect(drained.exitCode == 0 && drained.output == "bghost has stopped\n", "\(drained)")
        #expect(daemon.program.end() == 0)
        #expect(try daemon.command(["drain"]).exitCode == 3)
    }
}
