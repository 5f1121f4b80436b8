// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostTestSupport
import Glibc
import Testing

/// Whether this kernel has time namespaces, and permits them.
private let hasClocks =
    geteuid() == 0
    && (try? Command.run(["unshare", "--time", "--boottime", "60", "true"]))?.exitCode == 0

/// A daemon that starts after a reboot: both clocks of the machine restart, and only the date
/// continues.
@Suite(.ownThreads, .enabled(if: hasClocks, "only root can have clocks of its own"))
struct RebootTests {
    private let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
    }

    private func daemon(clocks: Int) throws -> TestDaemon {
        let manifest = try folder.write(
            """
            {"version": 1,
             "plugins": {"witness": {"library": "\(try Fixture.library("misbehave"))",
                                     "maxPending": {"refresh": 2}}},
             "tasks": {"soon": {"plugin": "witness", "handler": "echo"},
                       "later": {"plugin": "witness", "handler": "echo"}}}
            """,
            to: "tasks.json"
        )
        return try TestDaemon(
            manifest: manifest,
            folder: folder,
            prefix: [
                "unshare", "--time", "--boottime", "\(clocks)", "--monotonic", "\(clocks)",
                "--fork",
                "--kill-child", "--",
            ]
        )
    }

    /// The daemon is the child of the one that made its clocks, and hands its exit status on.
    private func send(_ signal: Int32, to daemon: TestDaemon) throws {
        let pid = try #require(descendants(of: daemon.program.pid).first)
        try #require(kill(pid, signal) == 0)
    }

    // Ahead by eight hours, as after a sleep that only some clocks count; and back, as after a boot.
    @Test(.timeLimit(.minutes(5)), arguments: [8 * 3600, -30])
    func `Dates survive a reboot with other clocks`(clocks: Int) throws {
        let first = try daemon(clocks: 0)
        // `soon` comes last, and not too soon: it must not begin before the daemon is killed.
        for (task, after) in [("later", "+1h"), ("soon", "+20s")] {
            let end = try first.command(["submit", task, "--earliest", after])
            try #require(end.exitCode == 0, "\(end.error)")
        }
        try send(SIGKILL, to: first)
        _ = first.program.end()
        let second = try daemon(clocks: clocks)
        #expect(second.program.line(containing: "soon succeeded") != nil)
        let runs = try JSONReader.parse(try second.command(["runs", "--json"]).output)
        let ended = try #require(runs["runs"]?.array)
        #expect(ended.count == 1)
        let run = try #require(ended.first)
        #expect(run["task"]?.string == "soon")
        // Runs without duration have none by either clock.
        let seconds = try #require(run["durationSeconds"]?.double)
        #expect(seconds < 20)
        let pending = try JSONReader.parse(try second.command(["pending", "--json"]).output)
        #expect(pending["requests"]?.array?.compactMap { $0["task"]?.string } == ["later"])
        try send(SIGTERM, to: second)
        #expect(second.program.end() == 0)
    }
}
