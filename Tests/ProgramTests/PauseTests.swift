// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostTestSupport
import Glibc
import Testing

/// Pauses of the real daemon, as an operator uses them.
@Suite(.ownThreads, .serialized, .timeLimit(.minutes(5))) struct PauseTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    @discardableResult
    private func manifest(often: String = "", tasks: String = "") throws -> String {
        let library = try Fixture.library("misbehave")
        return try folder.write(
            """
            {"version": 1, "host": {"slots": 2, "timeZone": "Europe/Berlin"},
             "plugins": {"m": {"library": "\(library)", "maxPending": {"refresh": 100}}},
             "tasks": {"org.example.good": {"plugin": "m", "handler": "succeed"},
                       "org.example.often": {"plugin": "m", "handler": "succeed"\(often)},
                       "long": {"plugin": "m", "handler": "honour-cancel"}\(tasks)}}
            """,
            to: "tasks.json"
        )
    }

    private func json(_ daemon: TestDaemon, _ arguments: String...) throws -> JSONNode {
        let result = try daemon.command(arguments + ["--json"])
        return try JSONReader.parse(result.output.isEmpty ? result.error : result.output)
    }

    @Test func `A pause survives kill -9, and everything shows it`() throws {
        let first = try TestDaemon(
            manifest: try manifest(),
            folder: folder,
            arguments: ["--log-level", "debug"]
        )
        let long = try first.command(["trigger", "long"])
        #expect(long.exitCode == 0)
        try #require(first.program.line(containing: "long in worker") != nil)
        let paused = try first.command(["pause", "org.example.good", "--reason", "new disk"])
        #expect(paused.exitCode == 0)
        #expect(
            paused.output
                == "org.example.good is paused; `bghost resume org.example.good` ends the pause\n"
        )
        let plugin = try first.command(["pause", "--plugin", "m", "--for", "1h"])
        #expect(plugin.output.contains("plugin m is paused until "), "\(plugin.output)")
        #expect(plugin.output.contains(" continues\n"), "the run is named: \(plugin.output)")
        first.program.signal(SIGKILL)
        #expect(first.program.end() == -SIGKILL)

        let daemon = try TestDaemon(manifest: try manifest(), folder: folder)
        let refused = try daemon.command(["trigger", "org.example.good", "--wait"])
        #expect(refused.exitCode == 75)
        #expect(refused.error.contains("org.example.good is paused by uid "), "\(refused.error)")
        #expect(refused.error.contains("ends the pause"))
        let idle = try daemon.command(["why", "org.example.good"])
        #expect(idle.output.contains("no pending request"), "\(idle.output)")
        #expect(idle.output.contains(" paused by uid "), "\(idle.output)")
        #expect(try daemon.command(["submit", "org.example.good"]).exitCode == 0)
        let why = try daemon.command(["why", "org.example.good"])
        let gates = why.output.split(separator: "\n").map(String.init)
        let gate = try #require(gates.first { $0.contains("paused  ") })
        #expect(gate.contains(": new disk") && gate.contains("plugin m"), "\(why.output)")
        #expect(why.output.contains("`bghost resume org.example.good`"), "\(why.output)")
        let status = try daemon.command(["status"])
        #expect(status.output.contains("plugin m is paused since"), "\(status.output)")
        #expect(status.output.contains(": new disk\n"), "\(status.output)")
        let tasks = try json(daemon, "status")["tasks"]?.array
        let good = try #require(tasks?.first { $0["id"]?.string == "org.example.good" })
        #expect(
            good["state"]?.string == "paused" && good["paused"]?["reason"]?.string == "new disk"
        )
        // The pause of a task is not shown for another one.
        #expect(try json(daemon, "status", "long")["pauses"]?.array?.count == 1)
        let metrics = try daemon.command(["metrics"]).output
        #expect(metrics.contains("bghost_task_paused{task=\"org.example.good\"} 1"))
        #expect(
            metrics.contains("bghost_plugin_state{plugin=\"m\",bghost_plugin_state=\"paused\"} 1")
        )

        // A pause ends by the words with which it began.
        let wrong = try daemon.command(["resume", "--all"])
        #expect(wrong.exitCode == 4 && wrong.error.contains("BG4027"), "\(wrong.error)")
        let one = try daemon.command(["resume", "org.example.good"])
        #expect(one.output.contains("`bghost resume --plugin m` ends that"), "\(one.output)")
        #expect(try daemon.command(["resume", "--plugin", "m"]).exitCode == 0)
        #expect(daemon.program.line(containing: "the pause of plugin m") != nil)
        #expect(try daemon.command(["trigger", "org.example.good", "--wait"]).exitCode == 0)
        #expect(try json(daemon, "pause", "--list")["pauses"]?.array?.isEmpty == true)
        #expect(daemon.stop() == 0)
    }

    @Test func `Starts in a pause are kept as skipped, and it ends by itself`() throws {
        let daemon = try TestDaemon(
            manifest: try manifest(often: #", "every": "1s""#),
            folder: folder
        )
        #expect(try daemon.command(["pause", "org.example.*", "--for", "2s"]).exitCode == 0)
        #expect(
            daemon.program.line(containing: "the pause of org.example.* since") != nil,
            "it ends by itself"
        )

        #expect(try daemon.command(["pause", "org.example.*"]).exitCode == 0)
        var rows: [JSONNode] = []
        for _ in 0..<1000 where rows.count < 3 {
            let skipped = try json(daemon, "runs", "--skipped", "org.example.often")["starts"]
            rows = (skipped?.array ?? []).filter { $0["what"]?.string == "paused" }
        }
        #expect(rows.count >= 3, "\(rows.count)")
        let cause = rows.first?["sentence"]?.string ?? ""
        #expect(cause.hasPrefix("skipped, since its task was paused by uid "), "\(cause)")
        #expect(cause.hasSuffix("(org.example.*)"), "\(cause)")
        // A moment in the pause, from the row itself.
        let due = try #require(rows.first?["due"]?.string)
        let past = try daemon.command(["why", "org.example.often", "--at", due])
        #expect(past.exitCode == 0 && !past.output.isEmpty)
        #expect(daemon.stop() == 0)
    }

    @Test func `A dry reload and a reload keep a pause, also without its task`() throws {
        let with = #", "extra": {"plugin": "m", "handler": "succeed"}"#
        let daemon = try TestDaemon(manifest: try manifest(tasks: with), folder: folder)
        #expect(
            try daemon.command(["pause", "extra", "--until", "2100-01-01 06:00"]).exitCode == 0
        )
        let until = try json(daemon, "pause", "--list")["pauses"]?.array?.first?["until"]?.string
        #expect(until == "2100-01-01T05:00:00.000Z", "06:00 in Berlin: \(until ?? "nil")")
        try manifest()
        #expect(try daemon.command(["reload", "--dry-run"]).exitCode == 0)
        #expect(try json(daemon, "pause", "--list")["pauses"]?.array?.count == 1)
        #expect(try daemon.command(["reload"]).exitCode == 0)
        let list = try daemon.command(["pause", "--list"])
        #expect(list.output.contains("extra"), "\(list.output)")
        try manifest(tasks: with)
        #expect(try daemon.command(["reload"]).exitCode == 0)
        #expect(try daemon.command(["trigger", "extra"]).exitCode == 75)
        #expect(daemon.stop() == 0)
    }

    @Test(
        arguments: [
            (["org.exampel.good"], 4, "there is no task"),
            (["com.*"], 4, "no task of the manifest matches `com.*`"),
            (["--plugin", "n"], 4, "has no plugin `n`"),
            (["org.example.good", "--until", "soon"], 64, "`soon` is no time for `until`"),
            (["org.example.good", "--until", "2001-01-01"], 64, "is over"),
            (["a b"], 64, "neither the identifier"),
            ([], 64, "--list lists the pauses"),
            (["--all", "--plugin", "m"], 64, "give one task or pattern"),
            (["--all", "--list"], 64, "--list takes no"),
            (["--all", "--for", "1h", "--until", "03:00"], 64, "not both"),
            (["--all", "--for", "0s"], 64, "at least 1s"),
        ] as [([String], Int32, String)]
    )
    func `A pause that cannot be is refused, and says why`(
        arguments: [String],
        code: Int32,
        part: String
    ) throws {
        let daemon = try TestDaemon(manifest: try manifest(), folder: folder)
        let result = try daemon.command(["pause"] + arguments)
        #expect(result.exitCode == code, "\(result.error)")
        #expect(result.error.contains(part), "\(result.error)")
        #expect(try json(daemon, "pause", "--list")["pauses"]?.array?.isEmpty == true)
        #expect(daemon.stop() == 0)
    }
}
