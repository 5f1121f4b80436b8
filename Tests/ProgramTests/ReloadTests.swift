// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostTestSupport
import Glibc
import Testing

/// `bghost reload` and SIGHUP.
@Suite(.ownThreads) struct ReloadTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private var path: String { folder.file("tasks.json") }
    private var journal: String { folder.file("journal") }

    @discardableResult
    private func write(_ tasks: String, host: String = #"{"slots": 2}"#) throws -> String {
        try folder.write(
            """
            {"version": 1, "host": \(host),
             "functions": {"name": {"library": "libc.so.6", "symbol": "getppid",
                                    "signature": "int()"}},
             "tasks": {\(tasks)}}
            """,
            to: "tasks.json"
        )
    }

    /// Has a task run, which its function always does well.
    ///
    /// On a busy machine its worker may not start in time: the daemon has the task all the same.
    private func expectRun(of task: String, _ daemon: TestDaemon) throws {
        let ran = try daemon.command(["trigger", task, "--wait"])
        let isLate = ran.output.contains("\(task) killed(startTimeout)")
        #expect(ran.exitCode == 0 || isLate, "\(ran)")
    }

    private let first = #""a": {"function": "name"}, "b": {"function": "name"}"#
    private let second = #""b": {"function": "name", "priority": 7}, "c": {"function": "name"}"#

    @Test(.timeLimit(.minutes(5)))
    func `reload names the changes, and a refusal has a position and exits 78`() throws {
        try write(first)
        let daemon = try TestDaemon(manifest: path, folder: folder)
        let waiting = try daemon.command(["submit", "a", "--earliest", "+1h"])
        #expect(waiting.exitCode == 0, "\(waiting.error)")
        try write(second)
        let dry = try daemon.command(["reload", "--dry-run"])
        #expect(dry.exitCode == 0, "\(dry.error)")
        #expect(dry.output.hasPrefix("dry run, nothing was changed: "), "\(dry.output)")
        try expectRun(of: "a", daemon)
        #expect(try daemon.command(["trigger", "c", "--wait"]).exitCode != 0)
        let answer = try daemon.command(["reload"])
        #expect(answer.exitCode == 0, "\(answer.error)")
        #expect(dry.output == "dry run, nothing was changed: " + answer.output)
        #expect(answer.output.contains("tasks: 1 added, 1 changed, 1 removed"), "\(answer.output)")
        #expect(answer.output.contains("requests parked: 1"))
        let lines = "+ task c\n  ~ task b: priority: not given → 7\n  - task a"
        #expect(answer.output.contains(lines), "\(answer.output)")
        #expect(daemon.program.line(containing: "task b: priority: not given → 7") != nil)
        let pending = try daemon.command(["pending"])
        #expect(pending.output.contains("no longer in the manifest"), "\(pending.output)")
        try expectRun(of: "c", daemon)

        try write(#""c": {"function": "nmae"}"#)
        let refused = try daemon.command(["reload"])
        #expect(refused.exitCode == 78)
        let dryRefused = try daemon.command(["reload", "--dry-run"])
        #expect(dryRefused.exitCode == 78 && dryRefused.error == refused.error)
        #expect(refused.error.contains("tasks.json:4:"), "\(refused.error)")
        #expect(refused.error.contains("BG4030"))
        #expect(daemon.program.line(containing: "goes on with the manifest that it has") != nil)
        try expectRun(of: "c", daemon)

        try write(first, host: #"{"slots": 2, "stateDirectory": "/elsewhere"}"#)
        let other = try daemon.command(["reload"])
        #expect(other.exitCode == 78)
        #expect(other.error.contains("`host.stateDirectory`"), "\(other.error)")
        #expect(other.error.contains("restart"))
        #expect(daemon.stop() == 0)
    }

    @Test(.timeLimit(.minutes(5)))
    func `SIGHUP reloads like the command`() throws {
        try write(first)
        let daemon = try TestDaemon(manifest: path, folder: folder)
        try write(second)
        daemon.program.signal(SIGHUP)
        #expect(daemon.program.line(containing: "tasks: 1 added, 1 changed, 1 removed") != nil)
        try expectRun(of: "c", daemon)
        try write("oops")
        daemon.program.signal(SIGHUP)
        #expect(daemon.program.line(containing: "goes on with the manifest that it has") != nil)
        try expectRun(of: "c", daemon)
        #expect(daemon.stop() == 0)
    }

    @Test(.timeLimit(.minutes(5)))
    func `A journal with a reload is replayed with both manifests`() throws {
        try write(first)
        let before = folder.file("before.json")
        try File.write(try File.read(path), to: before)
        let daemon = try TestDaemon(
            manifest: path,
            folder: folder,
            arguments: ["--record", journal]
        )
        _ = try daemon.command(["submit", "a", "--earliest", "+1h"])
        try write(second)
        #expect(try daemon.command(["reload"]).exitCode == 0)
        try expectRun(of: "c", daemon)
        #expect(daemon.stop() == 0)
        func replay(_ configs: [String]) throws -> Command.Result {
            try Command.run(
                [Artifact.path("bghost"), "replay", journal]
                    + configs.flatMap { ["--config", $0] }
            )
        }
        try File.write(try File.read(path), to: folder.file("after.json"))
        let alone = try replay([before])
        #expect(alone.exitCode == 1)
        let both = try replay([before, folder.file("after.json")])
        #expect(both.exitCode == 0, "\(both.error)")
    }

    @Test(.timeLimit(.minutes(5)))
    func `A simulation replays a reload too`() throws {
        func manifest(_ name: String, _ task: String) throws -> String {
            try folder.write(
                """
                {"version": 1, "plugins": {"p": {"library": "absent.so"}},
                 "tasks": {"\(task)": {"plugin": "p", "handler": "h", "every": "1h"}}}
                """,
                to: name
            )
        }
        let (old, new) = (try manifest("old.json", "old"), try manifest("new.json", "new"))
        let result = try Command.run([
            Artifact.path("bghost"), "run", "--config", old, "--virtual-clock", "seed=1", "--for",
            "10d", "--behavior", "perfect", "--reload", "4d=\(new)", "--json",
        ])
        #expect(result.exitCode == 0, "\(result.error)")
        let json = try JSONReader.parse(Array(result.output.utf8))
        let runs = Dictionary(
            uniqueKeysWithValues: (json["tasks"]?.array ?? []).compactMap { task in
                task["task"]?.string.map { ($0, task["runs"]?.text ?? "") }
            }
        )
        #expect(json["faults"]?.text == "0")
        #expect(runs["old"] == "96" && runs["new"] == "144", "\(result.output)")
    }
}
