// SPDX-License-Identifier: Apache-2.0

import BghostTestSupport
import Glibc
import Testing

/// The daemon as a process: how it starts, how it ends, and what it leaves behind.
@Suite(.ownThreads) struct DaemonTests {
    private let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
    }

    /// A manifest with the plugin that ignores its cancel.
    private func overrunning(runtime: String = "60s", grace: String = "200ms") throws -> String {
        try folder.write(
            """
            {"version": 1,
             "plugins": {"overrun": {"library": "libOverrun.so"}},
             "tasks": {"a": {"plugin": "overrun", "handler": "overrun.ignore-cancel",
                             "limits": {"runtime": "\(runtime)", "grace": "\(grace)"}}}}
            """,
            to: "tasks.json"
        )
    }

    /// Has a run begin and waits until its handler does something.
    private func beginRun(_ daemon: TestDaemon) throws -> [pid_t] {
        let triggered = try daemon.command(["trigger", "a"])
        try #require(triggered.exitCode == 0, "\(triggered.error)")
        try #require(daemon.program.line(containing: "in worker") != nil)
        return descendants(of: daemon.program.pid)
    }

    @Test(.timeLimit(.minutes(5)))
    func `A daemon that is killed leaves no worker behind`() throws {
        let daemon = try TestDaemon(
            manifest: try overrunning(),
            folder: folder,
            arguments: ["--log-level", "debug"]
        )
        let workers = EndingProcesses(try beginRun(daemon))
        try #require(!workers.isEmpty)
        daemon.program.signal(SIGKILL)
        #expect(daemon.program.end() == -SIGKILL)
        #expect(workers.haveEnded(), "a worker lives on without its daemon")
    }

    @Test(.timeLimit(.minutes(5)), arguments: [SIGTERM, SIGINT])
    func `A stop signal makes the daemon drain its runs and exit 0`(signal: Int32) throws {
        let daemon = try TestDaemon(
            manifest: try overrunning(),
            folder: folder,
            arguments: ["--log-level", "debug"]
        )
        let workers = try beginRun(daemon)
        daemon.program.signal(signal)
        #expect(daemon.program.line(containing: "asked to stop (drain)") != nil)
        #expect(daemon.program.line(containing: "killed(graceExceeded)") != nil)
        #expect(daemon.program.end() == 0)
        for worker in workers { #expect(kill(worker, 0) != 0) }
    }

    @Test(.timeLimit(.minutes(5)), arguments: [[SIGTERM, SIGTERM], [SIGINT, SIGTERM]])
    func `A second signal kills what does not stop, and nothing is lost`(signals: [Int32]) throws {
        let manifest = try overrunning(grace: "60s")
        let daemon = try TestDaemon(
            manifest: manifest,
            folder: folder,
            arguments: ["--log-level", "debug"]
        )
        let workers = try beginRun(daemon)
        daemon.program.signal(signals[0])
        #expect(daemon.program.line(containing: "1 run is asked to stop") != nil)
        // It answers meanwhile, and what comes within the same 20 ms would be one signal.
        #expect(try daemon.command(["status"]).exitCode == 0)
        daemon.program.signal(signals[1])
        #expect(daemon.program.line(containing: "not waiting for 1 run") != nil)
        #expect(daemon.program.line(containing: "killed(graceExceeded)") != nil)
        #expect(daemon.program.end() == 0)
        for worker in workers { #expect(kill(worker, 0) != 0) }
    }

    @Test(.timeLimit(.minutes(5)))
    func `A second daemon on one state directory is refused and names the first`() throws {
        let manifest = try overrunning()
        let first = try TestDaemon(manifest: manifest, folder: folder)
        let second = try Command.run([
            Artifact.path("bghost"), "--config", manifest, "--state-dir", first.state,
        ])
        #expect(second.exitCode == 73)
        #expect(second.error.contains("pid \(first.program.pid)"), "\(second.error)")
        #expect(first.stop() == 0)
    }

    @Test(.timeLimit(.minutes(5)))
    func `The daemon starts although a plugin is absent`() throws {
        let manifest = try folder.write(
            """
            {"version": 1, "plugins": {"p": {"library": "libNowhere.so"}},
             "tasks": {"a": {"plugin": "p"}}}
            """,
            to: "tasks.json"
        )
        let daemon = try TestDaemon(manifest: manifest, folder: folder)
        let triggered = try daemon.command(["trigger", "a", "--wait"])
        #expect(triggered.exitCode == 75)
        #expect(triggered.error.contains("libNowhere.so"), "\(triggered.error)")
        let submitted = try daemon.command(["submit", "a"])
        #expect(submitted.exitCode == 0)
        let status = try daemon.command(["status"])
        #expect(status.output.contains("libNowhere.so"), "\(status.output)")
        #expect(daemon.stop() == 0)
    }

    /// Its thread is in the plugin for ever, and must not keep the daemon from ending.
    @Test(.timeLimit(.minutes(5)), arguments: ["sleep-forever", "spin", "ignore-cancel"])
    func `A run inside the daemon that never stops is abandoned and named`(handler: String) throws {
        let library = try Fixture.library("misbehave")
        let manifest = try folder.write(
            """
            {"version": 1,
             "plugins": {"stuck": {"library": "\(library)", "isolation": "in-process"},
                         "other": {"library": "\(library)"}},
             "tasks": {"a": {"plugin": "stuck", "handler": "\(handler)",
                             "limits": {"runtime": "100ms", "grace": "100ms"}},
                       "b": {"plugin": "other", "handler": "succeed"}}}
            """,
            to: "tasks.json"
        )
        let daemon = try TestDaemon(manifest: manifest, folder: folder)
        let run = try daemon.command(["trigger", "a", "--wait"])
        #expect(run.exitCode == 1)
        #expect((run.output + run.error).contains("abandoned"), "\(run)")
        let line = try #require(daemon.program.line(containing: "did not stop and was abandoned"))
        #expect(line.contains("`stuck`") && line.contains(#"set `"isolation": "worker"`"#))
        let again = try daemon.command(["trigger", "a", "--wait"])
        #expect(again.exitCode == 75)
        #expect(again.error.contains("`stuck` inside the daemon did not stop"), "\(again.error)")
        #expect(try daemon.command(["trigger", "b", "--wait"]).exitCode == 0)
        #expect(daemon.stop() == 0)
    }

    @Test(.timeLimit(.minutes(5)))
    func `bghost expire ends a run like its runtime limit`() throws {
        let daemon = try TestDaemon(
            manifest: try overrunning(),
            folder: folder,
            arguments: ["--log-level", "debug"]
        )
        _ = try beginRun(daemon)
        let runs = try daemon.command(["runs", "--json"]).output
        let start = try #require(runs.range(of: "\"id\":\""))
        let id = String(runs[start.upperBound...].prefix(26))
        let expired = try daemon.command(["expire", id])
        #expect(expired.exitCode == 0, "\(expired.error)")
        #expect(daemon.program.line(containing: "asked to stop (expired)") != nil)
        #expect(daemon.program.line(containing: "killed(graceExceeded)") != nil)
        #expect(daemon.stop() == 0)
    }
}

extension String {
    fileprivate func range(of text: String) -> Range<String.Index>? {
        var index = startIndex
        while index < endIndex {
            if self[index...].hasPrefix(text) {
                return index..<self.index(index, offsetBy: text.count)
            }
            index = self.index(after: index)
        }
        return nil
    }
}
