// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostTestSupport
import Glibc
import Testing

/// Chains of tasks in the real daemon, which is killed in between.
@Suite(.ownThreads) struct ChainProgramTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private func start() throws -> TestDaemon {
        let manifest = try folder.write(
            """
            {"version": 1,
             "plugins": {"m": {"library": "\(try Fixture.library("misbehave"))"}},
             "tasks": {
               "first": {"plugin": "m", "handler": "echo",
                         "then": [{"task": "second", "parameters": "result"}]},
               "second": {"plugin": "m", "handler": "echo", "parameters": {"n": 0, "own": true},
                          "then": ["third.x"]},
               "third.*": {"plugin": "m", "handler": "echo", "parameters": {"last": true}},
               "broken": {"plugin": "m", "handler": "fail", "then": ["third.y"]}}}
            """,
            to: "tasks.json"
        )
        return try TestDaemon(manifest: manifest, folder: folder)
    }

    private func json(_ daemon: TestDaemon, _ arguments: String...) throws -> JSONNode {
        let result = try daemon.command(arguments + ["--json"])
        return try JSONReader.parse(result.output.isEmpty ? result.error : result.output)
    }

    /// All runs, the oldest first.
    private func runs(_ daemon: TestDaemon) throws -> [JSONNode] {
        try #require(try json(daemon, "runs")["runs"]?.array).reversed()
    }

    @Test(.timeLimit(.minutes(5)))
    func `Each success starts the next task, which gets the result`() throws {
        let daemon = try start()
        let submitted = try daemon.command(["submit", "first", "--parameters", #"{"n":1}"#])
        #expect(submitted.exitCode == 0, "\(submitted)")
        #expect(daemon.program.has(3, linesContaining: "succeeded"))
        let runs = try runs(daemon)
        #expect(runs.map { $0["task"]?.string } == ["first", "second", "third.x"])
        #expect(
            runs.map { $0["result"]?.text } == [
                #"{"n":1}"#, #"{"n":1,"own":true}"#, #"{"last":true}"#,
            ]
        )
        #expect(runs[0]["submitterRun"] == nil)
        for (run, next) in zip(runs, runs.dropFirst()) {
            let id = try #require(run["id"]?.string)
            #expect(next["submitterRun"]?.string == id)
            let shown = try daemon.command(["show", try #require(next["id"]?.string)])
            #expect(shown.output.contains("by run") && shown.output.contains(id), "\(shown)")
        }
        #expect(daemon.program.line(containing: "of first") != nil, "the log names the run")

        // A failure starts nothing.
        #expect(try daemon.command(["trigger", "broken", "--wait"]).exitCode == 1)
        #expect(try self.runs(daemon).count == 4)
        #expect(try json(daemon, "pending")["requests"]?.array?.isEmpty == true)
        #expect(daemon.stop() == 0)
    }

    @Test(.timeLimit(.minutes(5)))
    func `kill -9 between two tasks neither loses nor doubles the second`() throws {
        var daemon = try start()
        #expect(try daemon.command(["pause", "second"]).exitCode == 0)
        #expect(try daemon.command(["trigger", "first", "--wait"]).exitCode == 0)
        for round in 1...3 {
            // The end was answered, so it is stored, and with it what follows.
            daemon.program.signal(SIGKILL)
            #expect(daemon.program.end() == -SIGKILL)
            daemon = try start()
            let pending = try json(daemon, "pending")["requests"]?.array ?? []
            #expect(pending.map { $0["task"]?.string } == ["second"], "round \(round)")
            let first = try #require(try runs(daemon).first?["id"]?.string)
            #expect(pending.first?["submitter"]?.string == "run")
            #expect(pending.first?["submitterRun"]?.string == first)
            let why = try daemon.command(["why", "second"])
            #expect(why.output.contains("by run \(first)"), "\(why)")
            #expect(try json(daemon, "pending", "--submitter", "run")["total"]?.int64 == 1)
        }
        #expect(try daemon.command(["resume", "second"]).exitCode == 0)
        #expect(daemon.program.has(2, linesContaining: "succeeded"))
        #expect(
            try runs(daemon).map { $0["task"]?.string } == ["first", "second", "third.x"]
        )
        #expect(daemon.stop() == 0)
    }
}
