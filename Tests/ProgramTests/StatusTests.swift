// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostTestSupport
import Glibc
import Testing

/// What `status` and its relatives show of the real daemon, and with which exit status.
@Suite(.ownThreads, .serialized, .timeLimit(.minutes(5))) struct StatusTests {
    private let folder: TemporaryDirectory
    private let manifest: String

    init() throws {
        folder = try TemporaryDirectory()
        let library = try Fixture.library("misbehave")
        manifest = try folder.write(
            """
            {"version": 1, "host": {"slots": 1},
             "plugins": {"m": {"library": "\(library)", "maxPending": {"refresh": 100}}},
             "tasks": {
               "good": {"plugin": "m", "handler": "succeed"},
               "bad": {"plugin": "m", "handler": "fail",
                       "retry": {"policy": "exponential", "max": 1}},
               "crash": {"plugin": "m", "handler": "crash-in-start", "retry": {"policy": "none"}},
               "stubborn": {"plugin": "m", "handler": "ignore-cancel",
                            "retry": {"policy": "none"},
                            "limits": {"runtime": "100ms", "grace": "50ms"}},
               "long": {"plugin": "m", "handler": "honour-cancel"},
               "offline": {"plugin": "m", "handler": "succeed", "requires": {"network": true}},
               "family.*": {"plugin": "m", "handler": "succeed"}}}
            """,
            to: "tasks.json"
        )
    }

    private func daemon(_ arguments: [String] = []) throws -> TestDaemon {
        try TestDaemon(manifest: manifest, folder: folder, arguments: arguments)
    }

    private func status(_ daemon: TestDaemon, _ tasks: [String] = []) throws -> JSONNode {
        try JSONReader.parse(try daemon.command(["status", "--json"] + tasks).output)
    }

    private func task(_ name: String, _ daemon: TestDaemon) throws -> JSONNode {
        try #require(
            try status(daemon)["tasks"]?.array?.first { $0["id"]?.string == name }
        )
    }

    @Test func `Failing tasks and dead letters are on the first lines and in the exit status`()
        throws
    {
        let daemon = try daemon()
        #expect(try daemon.command(["trigger", "good", "--wait"]).exitCode == 0)
        let healthy = try daemon.command(["status"])
        #expect(healthy.exitCode == 0, "\(healthy.output)")
        #expect(healthy.output.contains("0 of 1 slots in use"))

        #expect(try daemon.command(["submit", "bad"]).exitCode == 0)
        try #require(daemon.program.line(containing: "bghost redrive") != nil)
        let ill = try daemon.command(["status"])
        #expect(ill.exitCode == 5)
        let lines = ill.output.split(separator: "\n")
        #expect(lines[1].hasSuffix(" 1 dead letter; `bghost dead` lists them"), "\(ill.output)")
        #expect(lines[2].contains(" the last run of bad ended as failed; `bghost show "))
        let json = try status(daemon)
        let kinds = json["problems"]?.array?.map { $0["kind"]?.string }
        #expect(kinds == ["deadLetters", "failing"])
        #expect(json["deadLetters"]?.int64 == 1)

        // A task that has nothing of it is healthy.
        #expect(try daemon.command(["status", "good"]).exitCode == 0)
        #expect(try daemon.command(["status", "bad", "--json"]).exitCode == 5)
        #expect(try status(daemon, ["good"])["problems"]?.array?.isEmpty == true)
        #expect(daemon.stop() == 0)
    }

    @Test func `Each command that shows a run that crashed names the place`() throws {
        let daemon = try daemon()
        let waited = try daemon.command(["trigger", "crash", "--wait"])
        #expect(waited.exitCode == 1)
        let runs = try daemon.command(["runs", "crash", "--json"]).output
        let run = try #require(try JSONReader.parse(runs)["runs"]?.array?.first)
        let shown = try daemon.command(["show", try #require(run["id"]?.string)]).output
        let status = try daemon.command(["status"]).output
        let place = try #require(run["crash"]?["place"]?.string)
        #expect(place.contains("(crash_in_start+"), "\(runs)")
        for text in [waited.output + waited.error, shown, status] {
            #expect(text.contains(place), "\(text)")
        }
        #expect(daemon.stop() == 0)
    }

    @Test func `A throttled task does not start now`() throws {
        let daemon = try daemon()
        #expect(try daemon.command(["submit", "stubborn"]).exitCode == 0)
        try #require(daemon.program.line(containing: "killed(graceExceeded)") != nil)
        #expect(try daemon.command(["submit", "stubborn"]).exitCode == 0)
        let pending = try #require(try task("stubborn", daemon)["pending"])
        #expect(pending["attention"]?.bool == true, "\(pending.text)")
        #expect(pending["certain"]?.bool == true)
        let start = try #require(pending["earliestStart"]?.string)
        let submitted = try #require(pending["submittedAt"]?.string)
        #expect(start > submitted)
        let text = try daemon.command(["status", "stubborn"]).output
        #expect(text.contains("throttled until "), "\(text)")
        #expect(text.contains("  in "), "\(text)")
        #expect(!text.contains("  now  "), "\(text)")
        #expect(daemon.stop() == 0)
    }

    @Test func `A task that waits for what it requires is healthy, and its start is unknown`()
        throws
    {
        let daemon = try daemon()
        #expect(try daemon.command(["simulate", "fact", "network=off"]).exitCode == 0)
        #expect(try daemon.command(["submit", "offline"]).exitCode == 0)
        let status = try daemon.command(["status", "offline"])
        #expect(status.exitCode == 0)
        let row = try #require(status.output.split(separator: "\n").last)
        #expect(row.hasPrefix("✓") || row.hasPrefix("+"), "\(status.output)")
        #expect(row.contains(" unknown "), "\(status.output)")
        #expect(daemon.stop() == 0)
    }

    @Test func `status shows the slots that other requests wait for`() throws {
        let daemon = try daemon(["--log-level", "debug"])
        #expect(try daemon.command(["trigger", "long"]).exitCode == 0)
        try #require(daemon.program.line(containing: "in worker") != nil)
        #expect(try daemon.command(["submit", "good"]).exitCode == 0)
        // Also where only the task that waits is asked for.
        for arguments in [["status"], ["status", "good"]] {
            let text = try daemon.command(arguments).output
            #expect(text.contains("1 of 1 slots in use"), "\(text)")
            #expect(text.contains("waiting for a slot (1 of 1 in use)"), "\(text)")
        }
        #expect(daemon.stop() == 0)
    }

    /// As `docs/manifest.md` and `docs/cli.md` say.
    @Test func `A manifest without slots has one for each processor, and at least 2`() throws {
        let bare = try folder.write(#"{"version": 1}"#, to: "bare.json")
        let daemon = try TestDaemon(manifest: bare, folder: folder)
        let status = try JSONReader.parse(try daemon.command(["status", "--json"]).output)
        #expect(
            status["daemon"]?["slots"]?.int64 == max(2, Int64(sysconf(Int32(_SC_NPROCESSORS_ONLN))))
        )
        #expect(daemon.stop() == 0)
    }

    @Test func `why of a family suggests commands that work`() throws {
        let daemon = try daemon()
        let why = try daemon.command(["why", "family.*"]).output
        #expect(why.contains("`bghost submit family.NAME`"), "\(why)")
        #expect(try daemon.command(["submit", "family.NAME"]).exitCode == 0)
        // Names of a family are names of tasks before they are used.
        for command in ["why", "logs", "runs", "status"] {
            #expect(try daemon.command([command, "family.other"]).exitCode == 0, "\(command)")
            #expect(try daemon.command([command, "families.other"]).exitCode == 4, "\(command)")
        }
        #expect(daemon.stop() == 0)
    }

    @Test func `A run lost with its daemon has started at an unknown time`()
        throws
    {
        let first = try daemon(["--log-level", "debug"])
        #expect(try first.command(["trigger", "long"]).exitCode == 0)
        try #require(first.program.line(containing: "in worker") != nil)
        first.program.signal(SIGKILL)
        #expect(first.program.end() == -SIGKILL)
        let second = try daemon()
        let runs = try JSONReader.parse(try second.command(["runs", "long", "--json"]).output)
        let lost = try #require(
            runs["runs"]?.array?.first { $0["outcome"]?.string == "lost" }?["id"]?.string
        )
        let shown = try second.command(["show", lost]).output
        let started = shown.split(separator: "\n").first { $0.hasPrefix("started ") }
        #expect(started?.hasSuffix(" unknown") == true, "\(shown)")
        second.program.signal(SIGKILL)
        #expect(second.program.end() == -SIGKILL)
    }

    @Test func `A client that is given the manifest finds the daemon, wherever its state is`()
        throws
    {
        let runtime = folder.file("run")
        #expect(mkdir(runtime, 0o700) == 0)
        let environment = ["XDG_RUNTIME_DIR=\(runtime)"]
        let state = folder.file("elsewhere")
        let daemon = try RunningProgram(
            command: [
                Artifact.path("bghost"), "--config", manifest, "--state-dir", state,
                "--log-format", "text",
            ],
            environment: environment
        )
        try #require(daemon.line(containing: "listening on") != nil)
        func client(_ path: String) throws -> Command.Result {
            try Command.run(
                ["env", "-i", "HOME=/nonexistent"] + environment
                    + [Artifact.path("bghost"), "pending", "-c", path]
            )
        }
        #expect(try client(manifest).exitCode == 0)
        // The same file by another name.
        #expect(symlink(manifest, folder.file("link.json")) == 0)
        #expect(try client(folder.file("link.json")).exitCode == 0)
        // A manifest of another daemon is not taken for this one.
        let other = try folder.write(#"{"version": 1}"#, to: "other.json")
        #expect(try client(other).exitCode == 3)
        daemon.signal(SIGTERM)
        #expect(daemon.end() == 0)
        #expect(try File.list(runtime + "/bghost-daemons").isEmpty)
        #expect(try client(manifest).exitCode == 3)
    }
}
