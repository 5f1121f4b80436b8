// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostTestSupport
import Glibc
import Testing

/// Tags in the real daemon, as an operator uses them.
@Suite(.ownThreads) struct TagProgramTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private func manifest(_ photos: String = #""nightly", "eu""#) throws -> String {
        try folder.write(
            """
            {"version": 1,
             "plugins": {"m": {"library": "\(try Fixture.library("misbehave"))"}},
             "tasks": {
               "photos": {"plugin": "m", "handler": "succeed", "tags": [\(photos)]},
               "report.*": {"plugin": "m", "handler": "succeed", "tags": ["nightly"]},
               "report.own": {"plugin": "m", "handler": "succeed", "every": "1d"},
               "other": {"plugin": "m", "handler": "succeed"}}}
            """,
            to: "tasks.json"
        )
    }

    private func json(_ daemon: TestDaemon, _ arguments: String...) throws -> JSONNode {
        let result = try daemon.command(arguments + ["--json"])
        return try JSONReader.parse(result.output.isEmpty ? result.error : result.output)
    }

    private func pending(_ daemon: TestDaemon, _ arguments: String...) throws -> [String] {
        let result = try daemon.command(["pending", "--json"] + arguments)
        let requests = try JSONReader.parse(result.output)["requests"]?.array
        return try #require(requests, "\(result)").compactMap { $0["task"]?.string }.sorted()
    }

    @Test(.timeLimit(.minutes(5)))
    func `The runs of a tag or of a task are stopped`() throws {
        let path = try folder.write(
            """
            {"version": 1, "host": {"slots": 4},
             "plugins": {"m": {"library": "\(try Fixture.library("misbehave"))"}},
             "tasks": {
               "photos": {"plugin": "m", "handler": "honour-cancel", "tags": ["nightly"]},
               "report.*": {"plugin": "m", "handler": "honour-cancel", "tags": ["nightly"]},
               "other": {"plugin": "m", "handler": "honour-cancel"}}}
            """,
            to: "tasks.json"
        )
        let daemon = try TestDaemon(manifest: path, folder: folder)
        /// Asks until exactly these tasks have a run under way.
        func waitUntilRunning(_ tasks: [String]) throws {
            var running: [String] = []
            for _ in 0..<1000 where running != tasks {
                let runs = try json(daemon, "runs", "--state", "running")["runs"]?.array
                running = try #require(runs).compactMap { $0["task"]?.string }.sorted()
            }
            try #require(running == tasks)
        }
        func stop(_ arguments: String...) throws -> [String] {
            let result = try daemon.command(["stop", "--json"] + arguments)
            let runs = try JSONReader.parse(result.output)["runs"]?.array
            return try #require(runs, "\(result)").compactMap { $0["task"]?.string }.sorted()
        }
        for task in ["photos", "report.a", "report.b", "other"] {
            #expect(try daemon.command(["trigger", task]).exitCode == 0)
        }
        try waitUntilRunning(["other", "photos", "report.a", "report.b"])

        #expect(try stop("--task", "report.a") == ["report.a"])
        try waitUntilRunning(["other", "photos", "report.b"])
        #expect(try stop("--tag", "nightly") == ["photos", "report.b"])
        try waitUntilRunning(["other"])
        #expect(try stop("--tag", "nightly").isEmpty)
        let text = try daemon.command(["stop", "--tag", "nightly"])
        #expect(text.output == "no run was under way\n", "\(text)")
        // They are not repeated.
        let ended = try json(daemon, "runs", "--tag", "nightly")["runs"]?.array ?? []
        #expect(ended.count == 3)
        #expect(ended.allSatisfy { $0["outcome"]?.string == "cancelledClean" }, "\(ended)")
        #expect(try pending(daemon).isEmpty)

        let unknown = try daemon.command(["stop", "--tag", "nighty"])
        #expect(unknown.exitCode == 4 && unknown.error.contains("did you mean"), "\(unknown)")
        for options in [[], ["--tag", ""], ["--task", ""], ["x", "--tag", "nightly"]] {
            #expect(try daemon.command(["stop"] + options).exitCode == 64, "\(options)")
        }
        #expect(try stop("--task", "other") == ["other"])
    }

    @Test(.timeLimit(.minutes(5)))
    func `Commands select by a tag, and a withdrawal survives kill -9`() throws {
        var daemon = try TestDaemon(manifest: try manifest(), folder: folder)
        for task in ["photos", "report.a", "report.b.c", "other"] {
            #expect(try daemon.command(["submit", task, "--earliest", "+1h"]).exitCode == 0)
        }
        #expect(try pending(daemon, "--tag", "nightly") == ["photos", "report.a", "report.b.c"])
        #expect(try pending(daemon, "--tag", "nightly", "--limit", "2").count == 2)
        #expect(try pending(daemon, "report.*", "--tag", "nightly") == ["report.a", "report.b.c"])
        #expect(try pending(daemon, "--tag", "eu") == ["photos"])
        let status = try json(daemon, "status", "--tag", "nightly")["tasks"]?.array ?? []
        #expect(
            status.compactMap { $0["id"]?.string }.sorted() == [
                "photos", "report.*", "report.a", "report.b.c",
            ]
        )
        for command in [
            ["pending", "--tag", "nighty"], ["runs", "--tag", "nighty"],
            ["status", "--tag", "nighty"], ["cancel", "--tag", "nighty"],
        ] {
            let refused = try daemon.command(command)
            #expect(refused.exitCode == 4, "\(command): \(refused)")
            #expect(refused.error.contains("BG4052"), "\(command): \(refused)")
            #expect(refused.error.contains("did you mean `nightly`?"), "\(command): \(refused)")
        }

        #expect(try daemon.command(["trigger", "report.x", "--wait"]).exitCode == 0)
        #expect(try daemon.command(["trigger", "other", "--wait"]).exitCode == 0)
        let runs = try json(daemon, "runs", "--tag", "nightly")["runs"]?.array ?? []
        #expect(runs.map { $0["task"]?.string } == ["report.x"])

        let cancelled = try json(daemon, "cancel", "--tag", "nightly")
        #expect(cancelled["count"]?.int64 == 3, "\(cancelled)")
        let again = try daemon.command(["cancel", "--tag", "nightly"])
        #expect(again.exitCode == 4 && again.error.contains("BG4014"), "\(again)")
        let audit = try json(daemon, "audit", "--verb", "cancel tag")["rows"]?.array ?? []
        #expect(
            audit.map { "\($0["target"]?.string ?? "") \($0["status"]?.string ?? "")" } == [
                "nightly refused", "nightly stored", "nighty refused",
            ],
            "\(audit)"
        )
        daemon.program.signal(SIGKILL)
        #expect(daemon.program.end() == -SIGKILL)
        daemon = try TestDaemon(manifest: try manifest(), folder: folder)
        // The schedule of the untagged member goes on.
        #expect(try pending(daemon) == ["other", "report.own"])

        // The tags are those of the manifest in force.
        _ = try manifest("")
        #expect(try daemon.command(["reload"]).exitCode == 0)
        let gone = try daemon.command(["cancel", "--tag", "eu"])
        #expect(gone.exitCode == 4 && gone.error.contains("BG4052"), "\(gone)")
        #expect(daemon.stop() == 0)
    }
}
