// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostTestSupport
import Glibc
import Testing

private let mayMount = (try? Command.run(["unshare", "--mount", "true"]).exitCode) == 0

/// Files that change because a file system is mounted over their folder, or unmounted: inotify has no event for
/// that.
@Suite(.ownThreads, .timeLimit(.minutes(5)), .enabled(if: mayMount, "mounting needs root"))
struct MountedFilesTests {
    private let folder: TemporaryDirectory
    /// A process in the mount namespace of the daemon.
    private let holder: RunningProgram

    init() throws {
        folder = try TemporaryDirectory()
        holder = try RunningProgram(command: [
            "unshare", "--mount", "sh", "-ec", "echo mounted >&2; exec sleep 600",
        ])
        try #require(holder.line(containing: "mounted") != nil, "\(holder.lines)")
        for name in ["place", "other"] { try #require(mkdir(folder.file(name), 0o755) == 0) }
    }

    private var prefix: [String] { ["nsenter", "--mount", "--target", String(holder.pid)] }

    private func inNamespace(_ command: String...) throws {
        let result = try Command.run(prefix + command)
        try #require(result.exitCode == 0, "\(result)")
    }

    @Test func `A library is noticed that a mount covers, and again without the mount`() throws {
        let bytes = try File.read(try Fixture.library("misbehave"))
        let library = try folder.write(bytes, to: "place/plugin.so")
        try folder.write(bytes + [0], to: "other/plugin.so")
        let manifest = try folder.write(
            """
            {"version": 1, "plugins": {"p": {"library": "\(library)"}},
             "tasks": {"t": {"plugin": "p", "handler": "succeed"}}}
            """,
            to: "tasks.json"
        )
        let daemon = try TestDaemon(manifest: manifest, folder: folder, prefix: prefix)
        let replaced = "its library was replaced and taken up"
        try inNamespace("mount", "--bind", folder.file("other"), folder.file("place"))
        #expect(daemon.program.has(1, linesContaining: replaced))
        // Those who have the library mapped keep the file system busy.
        try inNamespace("umount", "--lazy", folder.file("place"))
        #expect(daemon.program.has(2, linesContaining: replaced))
        try inNamespace("mount", "-t", "tmpfs", "none", folder.file("place"))
        #expect(daemon.program.line(containing: "is not there any more") != nil)
        try inNamespace("umount", folder.file("place"))
        let run = try daemon.command(["trigger", "t", "--wait"])
        #expect(run.exitCode == 0, "\(run)")
        #expect(daemon.stop() == 0)
    }

    @Test func `A manifest is noticed that a mount covers`() throws {
        func text(_ task: String) -> String {
            """
            {"version": 1, "host": {"onChange": "reload"},
             "functions": {"name": {"library": "libc.so.6", "symbol": "getppid",
                                    "signature": "int()"}},
             "tasks": {"\(task)": {"function": "name"}}}
            """
        }
        let manifest = try folder.write(text("first"), to: "place/tasks.json")
        try folder.write(text("second"), to: "other/tasks.json")
        let daemon = try TestDaemon(manifest: manifest, folder: folder, prefix: prefix)
        try inNamespace("mount", "--bind", folder.file("other"), folder.file("place"))
        #expect(daemon.program.line(containing: "+ task second; - task first") != nil)
        try folder.write(text("third"), to: "other/tasks.json")
        #expect(daemon.program.line(containing: "+ task third; - task second") != nil)
        try inNamespace("umount", "--lazy", folder.file("place"))
        #expect(daemon.program.line(containing: "+ task first; - task third") != nil)
        #expect(daemon.stop() == 0)
    }
}
