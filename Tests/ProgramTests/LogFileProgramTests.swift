// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostLinux
import BghostTestSupport
import Glibc
import Testing

private let mayMount = (try? Command.run(["unshare", "--mount", "true"]).exitCode) == 0

/// The log's file of the real daemon, and `bghost logs`.
@Suite(.ownThreads) struct LogFileProgramTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private func manifest(_ log: String = #""file": "bghost.log""#) throws -> String {
        let library = try Fixture.library("misbehave")
        return try folder.write(
            """
            {"version": 1, "host": {"log": {\(log)}},
             "plugins": {
               "quiet": {"library": "\(library)"},
               "loud": {"library": "\(library)", "limits": {"output": "1GiB"}}},
             "tasks": {
               "quiet.say": {"plugin": "quiet", "handler": "stdout-lines"},
               "quiet.fail": {"plugin": "quiet", "handler": "fail"},
               "quiet.params": {"plugin": "quiet", "handler": "params"},
               "loud.flood": {"plugin": "loud", "handler": "flood-stdout",
                              "limits": {"runtime": "10m"}}}}
            """,
            to: "tasks.json"
        )
    }

    private var file: String { folder.file("state/bghost.log") }

    private func lines(_ path: String) throws -> [JSONNode] {
        try String(decoding: File.read(path), as: UTF8.self).split(separator: "\n")
            .map { try JSONReader.parse(String($0)) }
    }

    private func messages(_ daemon: TestDaemon, _ arguments: [String]) throws -> [String] {
        let answer = try daemon.command(["logs", "--json"] + arguments)
        let entries = try #require(
            try JSONReader.parse(answer.output)["entries"]?.array,
            "\(answer)"
        )
        return entries.compactMap { $0["message"]?.string }
    }

    /// Asks again until the answer is yes; each question takes some milliseconds.
    private func eventually(
        _ what: @autoclosure () -> String,
        _ question: () throws -> Bool
    ) throws {
        for _ in 0..<500 where try question() { return }
        Issue.record("it did not happen: \(what())")
    }

    /// The end of a file, for a message.
    private func shown(_ path: String) -> String {
        // There may be none, which the message shows.
        let bytes = try? File.read(path)
        return bytes.map { String(decoding: $0.suffix(4096), as: UTF8.self) } ?? "no file"
    }

    /// Waits until a line is in the file.
    private func wait(_ daemon: TestDaemon, for text: String) throws {
        try eventually("`\(text)` in \(shown(file))") {
            _ = try daemon.command(["status"])
            // Between two renames there is none.
            guard let bytes = try? File.read(file) else { return false }
            return String(decoding: bytes, as: UTF8.self).contains(text)
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `The log is searched over restarts, with and without a daemon`() throws {
        let path = try manifest()
        let first = try TestDaemon(manifest: path, folder: folder)
        #expect(try first.command(["trigger", "quiet.say", "--wait"]).exitCode == 0)
        #expect(try first.command(["trigger", "quiet.fail", "--wait"]).exitCode != 0)
        #expect(first.stop() == 0)
        #expect(try FileFacts(of: file, followsLinks: false).permissions & 0o777 == 0o640)

        let offline = try first.command(["logs", "--task", "quiet.say"])
        #expect(offline.exitCode == 0 && offline.output.contains("out two"), "\(offline)")
        #expect(offline.error.contains("no daemon runs"), "\(offline)")

        let second = try TestDaemon(manifest: path, folder: folder)
        #expect(
            try messages(second, ["--task", "quiet.say", "--text", "OUT"]) == [
                "out one", "out two",
            ]
        )
        #expect(
            try messages(second, ["--plugin", "quiet", "--level", "warning", "--since", "1h"]).count
                >= 3
        )
        // What the daemon logs from now on, of plugins that it looks at, is in no answer.
        let now = Timestamp.text(unixNanoseconds: WallClock.now)
        let all = try messages(second, ["--until", now, "-n", "10000"])
        #expect(all.count { $0.hasPrefix("listening on") } == 2)
        #expect(Set(all).count > 8)
        // One page after another has the same lines.
        var paged: [String] = []
        var before: [String] = []
        for _ in 0..<100 {
            let answer = try second.command(
                ["logs", "--json", "--until", now, "-n", "3"] + before
            )
            let page = try JSONReader.parse(answer.output)
            paged = (page["entries"]?.array ?? []).compactMap { $0["message"]?.string } + paged
            guard let next = page["next"]?.string else { break }
            before = ["--before", next]
        }
        #expect(paged == all)
        #expect(try messages(second, ["--until", "2h"]).isEmpty)
        let bad = try second.command(["logs", "--since", "soon"])
        #expect(bad.exitCode != 0 && bad.error.contains("`soon` is no time for `since`"), "\(bad)")
        let run = try #require(
            try lines(file).first { $0["event"]?.string == "run.ended" }?["run"]?.string
        )
        #expect(try messages(second, ["--run", run]).contains("out one"))
        #expect(second.stop() == 0)
    }

    @Test(.timeLimit(.minutes(5)))
    func `Lines since a time go on with the new ones of a daemon that was restarted`() throws {
        let path = try manifest()
        let first = try TestDaemon(manifest: path, folder: folder)
        // Their numbers are greater than those of the next daemon's lines.
        for _ in 0..<8 {
            #expect(try first.command(["trigger", "quiet.say", "--wait"]).exitCode == 0)
        }
        #expect(first.stop() == 0)
        let second = try TestDaemon(manifest: path, folder: folder)
        let follower = try RunningProgram(command: [
            "sh", "-c",
            "exec \(Artifact.path("bghost")) logs -f --since 1h --plugin quiet"
                + " --state-dir \(second.state) >&2",
        ])
        #expect(follower.has(8, linesContaining: "err two"))
        for text in ["one", "two"] {
            let parameters = #"{"text":"\#(text) after the restart"}"#
            let result = try second.command([
                "trigger", "quiet.params", "--wait", "--parameters", parameters,
            ])
            #expect(result.exitCode == 0, "\(result)")
            #expect(follower.line(containing: "\(text) after the restart") != nil)
        }
        follower.signal(SIGINT)
        _ = follower.end()
        follower.readAll()
        #expect(follower.lines.count { $0.contains("out one") } == 8, "none comes twice")
        #expect(second.stop() == 0)
    }

    @Test(.timeLimit(.minutes(5)))
    func `A killed daemon leaves no half line that is read as one`() throws {
        let path = try manifest(#""file": "bghost.log", "maxSize": "1MiB", "files": 2"#)
        for _ in 0..<5 {
            let daemon = try TestDaemon(manifest: path, folder: folder)
            let flood = try RunningProgram(command: [
                Artifact.path("bghost"), "trigger", "loud.flood", "--wait", "--state-dir",
                daemon.state,
            ])
            _ = daemon.program.has(20, linesContaining: "xxxx")
            // Another thread writes the file; this is more than the 100 lines that are looked for below.
            #expect(waitForFile(in: daemon.state, named: "bghost.log", bytes: 500 << 10))
            daemon.program.signal(SIGKILL)
            _ = daemon.program.end()
            _ = flood.end()
        }
        // As a machine that lost its power.
        // One that was killed between two renames has no file of this name.
        if access(file, F_OK) == 0 { try File.write(try File.read(file).dropLast(3), to: file) }
        let last = try TestDaemon(manifest: path, folder: folder)
        let answer = try last.command(["logs", "--json", "--since", "1h", "-n", "10000"])
        let entries = try JSONReader.parse(answer.output)["entries"]?.array ?? []
        #expect(entries.count > 100)
        for entry in entries {
            let message = entry["message"]?.string ?? ""
            #expect(
                !message.hasPrefix("xxxx") || message.utf8.count == 4095,
                "\(message.prefix(100))"
            )
        }
        #expect(last.stop() == 0)
    }

    @Test(.timeLimit(.minutes(10)))
    func `A plugin that floods takes no line of a quiet one, in memory and while files rotate`()
        throws
    {
        let path = try manifest(
            #""file": "bghost.log", "maxSize": "1MiB", "files": 2, "rate": 500"#
        )
        let daemon = try TestDaemon(manifest: path, folder: folder)
        #expect(try daemon.command(["trigger", "quiet.say", "--wait"]).exitCode == 0)
        let follower = try RunningProgram(command: [
            "sh", "-c",
            "exec \(Artifact.path("bghost")) logs -f --plugin quiet --state-dir \(daemon.state) >&2",
        ])
        #expect(follower.line(containing: "err two") != nil)
        for _ in 0..<3 {
            #expect(try daemon.command(["trigger", "loud.flood", "--wait"]).exitCode == 0)
        }
        // Of 49,152 lines of 4 KiB, memory keeps 8 MiB.
        let quiet = try messages(daemon, ["--plugin", "quiet"])
        for line in ["out one", "out two", "err one", "err two"] {
            #expect(quiet.contains(line), "\(quiet)")
        }
        #expect(try messages(daemon, ["-n", "10000"]).contains { $0.hasPrefix("listening on") })
        #expect(
            try messages(daemon, ["--plugin", "loud", "--text", "(`host.log.rate`)"]).count >= 1
        )
        // The follower is still there after all rotations.
        #expect(try daemon.command(["trigger", "quiet.fail", "--wait"]).exitCode != 0)
        #expect(follower.line(containing: "quiet.fail") != nil)
        follower.signal(SIGINT)
        _ = follower.end()
        // The lines of this run are written behind those of the flood, so no file is renamed any more.
        try wait(daemon, for: "quiet.fail")
        let names = try File.list(daemon.state).filter { $0.hasPrefix("bghost.log") }.sorted()
        #expect(names == ["bghost.log", "bghost.log.1", "bghost.log.2"])
        for name in names {
            #expect(try File.read("\(daemon.state)/\(name)").count <= 1 << 20)
        }
        let metrics = try daemon.command(["metrics"]).output
        #expect(metrics.contains("bghost_log_lines_dropped_total{reason=\"rate\"}"), "\(metrics)")
        #expect(daemon.stop() == 0)
    }

    @Test(.timeLimit(.minutes(5)))
    func `A file that was moved is opened again by SIGHUP and by a reload`() throws {
        let path = try manifest()
        let daemon = try TestDaemon(manifest: path, folder: folder)
        try wait(daemon, for: "listening on")
        #expect(rename(file, file + ".1") == 0)
        #expect(try daemon.command(["trigger", "quiet.fail", "--wait"]).exitCode != 0)
        try eventually("`was moved` in `bghost health`") {
            try daemon.command(["health"]).output.contains("was moved")
        }
        daemon.program.signal(SIGHUP)
        try wait(daemon, for: "manifest.reloaded")
        #expect(try daemon.command(["trigger", "quiet.say", "--wait"]).exitCode == 0)
        try wait(daemon, for: "out two")
        #expect(rename(file, file + ".2") == 0)
        // With a wrong manifest too, since a signal of logrotate must not be lost.
        _ = try folder.write("{", to: "tasks.json")
        daemon.program.signal(SIGHUP)
        try wait(daemon, for: "manifest.refused")
        _ = try manifest()
        #expect(try daemon.command(["reload"]).exitCode == 0)
        let all = try messages(daemon, ["--since", "1h"])
        #expect(all.contains { $0.hasPrefix("listening on") } && all.contains("out two"))
        // Another file, another format, and none.
        _ = try manifest(#""file": "sub/other.log", "format": "text""#)
        #expect(try daemon.command(["reload"]).exitCode == 0)
        #expect(try daemon.command(["trigger", "quiet.say", "--wait"]).exitCode == 0)
        _ = try manifest("")
        #expect(try daemon.command(["reload"]).exitCode == 0)
        // The reload is answered before the file has its last lines.
        let other = folder.file("state/sub/other.log")
        try eventually("the lines of the run in \(shown(other))") {
            _ = try daemon.command(["status"])
            // It is made for the first of them.
            guard let bytes = try? File.read(other) else { return false }
            return String(decoding: bytes, as: UTF8.self)
                .contains("Z info    quiet.say stdout out one\n")
        }
        #expect(daemon.stop() == 0)
    }

    @Test(.timeLimit(.minutes(5)))
    func `What is no ordinary file ends the start with its reason`() throws {
        let path = try manifest()
        #expect(mkdir(folder.file("state"), 0o700) == 0 && mkfifo(file, 0o600) == 0)
        let refused = try Command.run([
            Artifact.path("bghost"), "--config", path, "--state-dir", folder.file("state"),
        ])
        #expect(refused.exitCode == 78, "\(refused)")
        #expect(
            refused.error.contains("is a FIFO or a device")
                && refused.error.contains("host.log.file"),
            "\(refused)"
        )
        #expect(unlink(file) == 0 && symlink("/etc/passwd", file) == 0)
        let linked = try Command.run([
            Artifact.path("bghost"), "--config", path, "--state-dir", folder.file("state"),
        ])
        #expect(linked.exitCode == 78 && linked.error.contains("symbolic link"), "\(linked)")
    }

    @Test(.timeLimit(.minutes(5)))
    func `Texts of a plugin forge no line`() throws {
        let path = try manifest()
        let daemon = try TestDaemon(manifest: path, folder: folder)
        let hostile = #"a\n{\"level\":\"fault\",\"message\":\"forged\"}\u001b[2J"#
        let result = try daemon.command([
            "trigger", "quiet.params", "--wait", "--parameters", #"{"text":"\#(hostile)"}"#,
        ])
        _ = result
        #expect(daemon.stop() == 0)
        let all = try lines(file)
        #expect(!all.contains { $0["message"]?.string == "forged" })
        #expect(!(try File.read(file)).contains(0x1B))
        #expect(all.contains { $0["message"]?.string?.contains("forged") == true })
    }

    @Test(.timeLimit(.minutes(5)), .enabled(if: mayMount, "mounting needs root"))
    func `A full disk stops nothing, and the file says what is missing`() throws {
        let disk = folder.file("disk")
        #expect(mkdir(disk, 0o700) == 0)
        let holder = try RunningProgram(command: [
            "unshare", "--mount", "sh", "-ec",
            "mount -t tmpfs -o size=256k,mode=700 none \(disk); echo mounted >&2; exec sleep 600",
        ])
        try #require(holder.line(containing: "mounted") != nil)
        let daemon = try TestDaemon(
            manifest: try manifest("\"file\": \"\(disk)/bghost.log\""),
            folder: folder,
            prefix: ["nsenter", "--mount", "--target", String(holder.pid)]
        )
        let ballast = "/proc/\(holder.pid)/root\(disk)/ballast"
        let fd = open(ballast, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        try #require(fd >= 0)
        let zeros = [UInt8](repeating: 0, count: 4096)
        while write(fd, zeros, zeros.count) > 0 {}
        close(fd)
        #expect(try daemon.command(["trigger", "loud.flood", "--wait"]).exitCode == 0)
        #expect(daemon.program.line(containing: "the log's file is not written") != nil)
        // Behind the flood, stderr has room for the line that is awaited below.
        #expect(daemon.program.line(containing: "no line has this text", within: 1) == nil)
        let sick = try daemon.command(["health"])
        #expect(sick.exitCode == 1 && sick.output.contains("No space left on device"), "\(sick)")
        #expect(try daemon.command(["trigger", "quiet.say", "--wait"]).exitCode == 0)
        #expect(unlink(ballast) == 0)
        #expect(try daemon.command(["trigger", "quiet.say", "--wait"]).exitCode == 0)
        #expect(daemon.program.line(containing: "the log's file is written again") != nil)
        let well = try daemon.command(["health"])
        #expect(
            well.output.contains("is written;") && well.output.contains("not written"),
            "\(well)"
        )
        let own = try File.read("/proc/\(holder.pid)/root\(disk)/bghost.log")
        #expect(String(decoding: own, as: UTF8.self).contains("not written here: write into"))
        // Memory has what the file lacks.
        #expect(try messages(daemon, ["--plugin", "quiet"]).filter { $0 == "out one" }.count == 2)
        #expect(daemon.stop() == 0)
    }
}
