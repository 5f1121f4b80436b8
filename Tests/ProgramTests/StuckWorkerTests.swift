// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostTestSupport
import Glibc
import Testing

/// Whether a file system in user space can be mounted here.
private let mountsInUserSpace = geteuid() == 0 && access("/dev/fuse", R_OK | W_OK) == 0

/// A worker that the kernel cannot kill: asleep in a file system that does not answer.
@Suite(
    .ownThreads,
    .enabled(if: mountsInUserSpace, "only root can mount, and only where there is /dev/fuse")
)
struct StuckWorkerTests {
    private func manifest(_ folder: TemporaryDirectory, reads: String) throws -> String {
        try folder.write(
            """
            {"version": 1,
             "plugins": {"reader": {"library": "\(try Fixture.library("read-file"))",
                                    "permissions": {"read": ["\(reads)"],
                                                    "network": ["127.0.0.1:1"]}},
                         "witness": {"library": "\(try Fixture.library("misbehave"))"}},
             "tasks": {"read": {"plugin": "reader",
                                "limits": {"runtime": "10m", "grace": "200ms"}},
                       "send": {"plugin": "reader",
                                "limits": {"runtime": "10m", "grace": "200ms"}},
                       "echo": {"plugin": "witness"}}}
            """,
            to: "tasks.json"
        )
    }

    /// The folder with the file system, which is mounted until the program ends.
    private func mount(in folder: TemporaryDirectory) throws -> (path: String, RunningProgram) {
        let path = folder.file("stuck")
        try #require(mkdir(path, 0o755) == 0)
        let files = try RunningProgram(command: [try Fixture.program("stuck-fs"), path])
        try #require(files.line(containing: "mounted") != nil, "\(files.lines)")
        return (path, files)
    }

    private func daemon(in folder: TemporaryDirectory, reads path: String) throws -> TestDaemon {
        try TestDaemon(
            manifest: try manifest(folder, reads: path),
            folder: folder,
            arguments: ["--log-level", "debug"]
        )
    }

    private func isAlive(_ pid: Int32) -> Bool { kill(pid, 0) == 0 || errno != ESRCH }

    @Test(.timeLimit(.minutes(10)))
    func `The run of a stuck worker ends without it, and other runs continue`() throws {
        let folder = try TemporaryDirectory()
        let (mount, files) = try mount(in: folder)
        defer { umount2(mount, Int32(MNT_DETACH)) }
        let daemon = try daemon(in: folder, reads: mount)
        let begun = try daemon.command([
            "trigger", "read", "--parameters", #"{"path":"\#(mount)/file"}"#,
        ])
        #expect(begun.exitCode == 0, "\(begun.error)")
        #expect(files.line(containing: "read") != nil)
        let begunRuns = try JSONReader.parse(try daemon.command(["runs", "read", "--json"]).output)
        let id = try #require(begunRuns["runs"]?.array?.first?["id"]?.string)
        #expect(try daemon.command(["expire", id]).exitCode == 0)

        // Other runs continue while it hangs and ignores cancel and kill.
        #expect(try daemon.command(["trigger", "echo", "--wait"]).exitCode == 0)
        #expect(daemon.program.line(containing: "read killed(graceExceeded) after") != nil)
        let runs = try JSONReader.parse(
            try daemon.command(["runs", "read", "--json"]).output
        )
        let run = try #require(runs["runs"]?.array?.first)
        let pid = try #require(run["pid"]?.int64.map { Int32(truncatingIfNeeded: $0) })
        let stuck = EndingProcesses([pid])
        #expect(isAlive(pid))
        // The kill wakes it once more, and on a busy machine it waits for a processor before it sleeps on.
        var status = ""
        for _ in 0..<100_000 where !status.contains(") D ") {
            status = String(decoding: try File.read("/proc/\(pid)/stat"), as: UTF8.self)
        }
        #expect(status.contains(") D "), "\(status)")
        // Its slot and its task are free again, for another worker.
        for task in ["echo", "read"] {
            let next = try daemon.command([
                "trigger", task, "--wait", "--parameters", #"{"path":""}"#,
            ])
            #expect(next.exitCode == 0, "\(next)")
        }
        files.signal(SIGKILL)
        #expect(files.end() == -SIGKILL)
        #expect(daemon.stop() == 0)
        #expect(!stuck.isEmpty && stuck.haveEnded())
    }

    /// The daemon opens the file of a fetch, and the plugin names it.
    @Test(.timeLimit(.minutes(10)))
    func `A file that cannot be opened holds up its own run only`() throws {
        let folder = try TemporaryDirectory()
        let (mount, files) = try mount(in: folder)
        defer { umount2(mount, Int32(MNT_DETACH)) }
        let daemon = try daemon(in: folder, reads: mount)
        let begun = try daemon.command([
            "trigger", "send", "--parameters", #"{"path":"\#(mount)/door"}"#,
        ])
        #expect(begun.exitCode == 0, "\(begun.error)")
        #expect(files.line(containing: "looked up") != nil, "\(daemon.program.lines)")
        // A daemon that waits for the file would not answer any more; the file system's end lets it go.
        let echo = try RunningProgram(command: [
            "timeout", "60", Artifact.path("bghost"), "trigger", "echo", "--wait", "--control",
            daemon.state + "/control.sock",
        ])
        #expect(echo.end() == 0, "\(echo.lines)")
        let runs = try JSONReader.parse(try daemon.command(["runs", "send", "--json"]).output)
        let id = try #require(runs["runs"]?.array?.first?["id"]?.string)
        #expect(try daemon.command(["expire", id]).exitCode == 0)
        #expect(daemon.program.line(containing: "send killed(graceExceeded) after") != nil)
        files.signal(SIGKILL)
        #expect(files.end() == -SIGKILL)
        #expect(daemon.stop() == 0)
    }
}
