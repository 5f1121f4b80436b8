// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostTestSupport
import Glibc
import Testing

/// The daemon with `"onChange": "reload"`, whose files change.
@Suite(.ownThreads, .timeLimit(.minutes(5))) struct ManifestWatchTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    @discardableResult
    private func write(_ task: String, onChange: String = "reload") throws -> String {
        try folder.write(
            """
            {"version": 1, "host": {"slots": 2, "onChange": "\(onChange)"},
             "functions": {"name": {"library": "libc.so.6", "symbol": "getppid",
                                    "signature": "int()"}},
             "tasks": {"\(task)": {"function": "name"}}}
            """,
            to: "tasks.json"
        )
    }

    private func dropIn(_ task: String) -> String {
        #"{"tasks": {"\#(task)": {"function": "name"}}}"#
    }

    /// Replaces a drop-in in one step, as a package manager does it.
    private func replace(_ name: String, with text: String) throws {
        // Elsewhere: a look for the draft could find the whole file, and the next one would refuse it again.
        let drafts = try TemporaryDirectory()
        let draft = try drafts.write(text, to: name)
        try #require(rename(draft, folder.file("tasks.d/\(name)")) == 0)
    }

    private func started() throws -> TestDaemon {
        try TestDaemon(manifest: try write("main"), folder: folder)
    }

    /// Whether the manifest in force has a task.
    ///
    /// A run would need a worker, which may not start in time on a busy machine.
    private func isTaken(_ task: String, _ daemon: TestDaemon) throws -> Bool {
        let shown = try daemon.command(["status", task])
        // 5: a part needs attention.
        let isKnown = [0, 5].contains(shown.exitCode)
        #expect(isKnown || shown.error.contains(task), "\(shown)")
        return isKnown
    }

    @Test func `A drop-in is taken up when it is written, changed, linked and removed`() throws {
        let daemon = try started()
        let program = daemon.program
        #expect(mkdir(folder.file("tasks.d"), 0o755) == 0)
        try replace("one.json", with: dropIn("one"))
        #expect(program.line(containing: "+ task one") != nil)
        #expect(try isTaken("one", daemon))
        try folder.write(dropIn("other"), to: "tasks.d/one.json")
        #expect(program.line(containing: "+ task other; - task one") != nil)
        let outside = try folder.write(dropIn("linked"), to: "linked.json")
        #expect(symlink(outside, folder.file("tasks.d/two.json")) == 0)
        #expect(program.line(containing: "+ task linked") != nil)
        #expect(unlink(folder.file("tasks.d/one.json")) == 0)
        #expect(program.line(containing: "- task other") != nil)
        try write("renamed")
        #expect(program.line(containing: "+ task renamed; - task main") != nil)
        #expect(try isTaken("renamed", daemon))
        let audited = try daemon.command(["audit", "--json"]).output
        let rows = try #require(try JSONReader.parse(audited)["rows"]?.array)
        let ends = rows.filter { $0["via"]?.string == "files" && $0["status"]?.string == "done" }
        #expect(ends.allSatisfy { $0["verb"]?.string == "reload" }, "\(audited)")
        #expect(ends.first?["detail"]?.string == "+ task renamed\n- task main", "\(audited)")
        #expect(daemon.stop() == 0)
    }

    @Test func `A wrong file is refused, and the daemon goes on until it is corrected`() throws {
        // Before the daemon looks for it, so that the file is the only change.
        #expect(mkdir(folder.file("tasks.d"), 0o755) == 0)
        let daemon = try started()
        let clock = ContinuousClock()
        let start = clock.now
        // In one step: the daemon could refuse it once empty and once as it is.
        try replace("half.json", with: #"{"tasks": {"half": {"#)
        let refused = try #require(daemon.program.line(containing: "bghost goes on with the"))
        #expect(refused.contains("tasks.json has 1 error"), "\(refused)")
        #expect(try isTaken("main", daemon))
        // Files beside the manifest are no reason to refuse it again.
        for name in ["notes.txt", "tasks.dev.json"] { try folder.write("", to: name) }
        #expect(daemon.program.line(containing: "no line has this text", within: 2) == nil)
        let refusals = daemon.program.lines.count { $0.contains("bghost goes on with the") }
        // It tries again by itself after 5, 15 and 35 s, which may have passed on a busy machine.
        let retries = [5, 15, 35, 75].count { clock.now - start >= .seconds($0) }
        #expect(refusals <= 1 + retries, "\(daemon.program.lines)")
        try replace("half.json", with: dropIn("half"))
        #expect(daemon.program.line(containing: "+ task half") != nil)
        #expect(try isTaken("half", daemon))
        #expect(daemon.stop() == 0)
    }

    @Test func `A refused file is tried again when its library comes, and after a chmod`() throws {
        let daemon = try started()
        #expect(mkdir(folder.file("tasks.d"), 0o755) == 0)
        let library = folder.file("late.so")
        try replace(
            "late.json",
            with: """
                {"plugins": {"late": {"library": "\(library)"}},
                 "tasks": {"late": {"plugin": "late", "handler": "succeed"}}}
                """
        )
        #expect(daemon.program.line(containing: "bghost goes on with the") != nil)
        try File.write(try File.read(try Fixture.library("misbehave")), to: library)
        #expect(daemon.program.line(containing: "+ task late") != nil)
        #expect(try isTaken("late", daemon))

        try replace("other.json", with: dropIn("other"))
        #expect(daemon.program.line(containing: "+ task other") != nil)
        #expect(chmod(folder.file("tasks.d"), 0o777) == 0)
        try replace("third.json", with: dropIn("third"))
        #expect(daemon.program.line(containing: "is not to be trusted") != nil)
        #expect(chmod(folder.file("tasks.d"), 0o755) == 0)
        #expect(daemon.program.line(containing: "+ task third") != nil)
        #expect(daemon.stop() == 0)
    }

    @Test func `A folder that is made again is watched again`() throws {
        let place = folder.file("etc")
        #expect(mkdir(place, 0o755) == 0)
        let text = String(decoding: try File.read(try write("main")), as: UTF8.self)
        let path = try folder.write(text, to: "etc/tasks.json")
        let daemon = try TestDaemon(manifest: path, folder: folder)
        #expect(try Command.run(["rm", "-r", place]).exitCode == 0)
        #expect(daemon.program.line(containing: "the folder is gone") != nil)
        #expect(mkdir(place, 0o755) == 0)
        try folder.write(text.replacing("\"main\"", with: "\"again\""), to: "etc/tasks.json")
        #expect(daemon.program.line(containing: "+ task again") != nil)
        #expect(daemon.stop() == 0)
    }

    @Test(arguments: ["release", "release/conf"])
    func `A folder above that is exchanged is taken up and watched`(moved: String) throws {
        let text = String(decoding: try File.read(try write("main")), as: UTF8.self)
        func make(_ name: String, _ task: String) throws -> String {
            for part in [name, "\(name)/conf", "\(name)/conf/tasks.d"] {
                try #require(mkdir(folder.file(part), 0o755) == 0)
            }
            let new = text.replacing("\"main\"", with: "\"\(task)\"")
            return try folder.write(new, to: "\(name)/conf/tasks.json")
        }
        let path = try make("release", "first")
        _ = try make("next", "second")
        let daemon = try TestDaemon(manifest: path, folder: folder)
        let new = moved.replacing("release", with: "next")
        #expect(rename(folder.file(moved), folder.file("old")) == 0)
        #expect(rename(folder.file(new), folder.file(moved)) == 0)
        #expect(daemon.program.line(containing: "+ task second; - task first") != nil)
        try folder.write(dropIn("one"), to: "release/conf/tasks.d/one.json")
        #expect(daemon.program.line(containing: "+ task one") != nil)
        try folder.write(text, to: "release/conf/tasks.json")
        #expect(daemon.program.line(containing: "+ task main; - task second") != nil)
        #expect(daemon.stop() == 0)
    }

    @Test func `A main file behind a link is watched`() throws {
        let path = try write("main")
        let text = String(decoding: try File.read(path), as: UTF8.self)
        try #require(mkdir(folder.file("elsewhere"), 0o755) == 0)
        try folder.write(text, to: "elsewhere/real.json")
        try #require(unlink(path) == 0 && symlink("elsewhere/real.json", path) == 0)
        let daemon = try TestDaemon(manifest: path, folder: folder)
        try folder.write(
            text.replacing("\"main\"", with: "\"linked\""),
            to: "elsewhere/real.json"
        )
        #expect(daemon.program.line(containing: "+ task linked; - task main") != nil)
        #expect(daemon.stop() == 0)
    }

    @Test func `A folder of drop-ins behind a link is watched, and what takes its place`() throws {
        for name in ["real", "next", "last"] { try #require(mkdir(folder.file(name), 0o755) == 0) }
        try #require(symlink("real", folder.file("tasks.d")) == 0)
        let daemon = try started()
        try folder.write(dropIn("one"), to: "real/one.json")
        #expect(daemon.program.line(containing: "+ task one") != nil)
        // Another folder where the link leads.
        try folder.write(dropIn("two"), to: "next/two.json")
        try #require(rename(folder.file("real"), folder.file("old")) == 0)
        try #require(rename(folder.file("next"), folder.file("real")) == 0)
        #expect(daemon.program.line(containing: "+ task two; - task one") != nil)
        try folder.write(dropIn("three"), to: "real/three.json")
        #expect(daemon.program.line(containing: "+ task three") != nil)
        // Another link.
        try folder.write(dropIn("four"), to: "last/four.json")
        try #require(symlink("last", folder.file("link")) == 0)
        try #require(rename(folder.file("link"), folder.file("tasks.d")) == 0)
        #expect(daemon.program.line(containing: "+ task four; - task") != nil)
        try folder.write(dropIn("five"), to: "last/five.json")
        #expect(daemon.program.line(containing: "+ task five") != nil)
        #expect(daemon.stop() == 0)
    }

    @Test func `Without it a change waits for the operator`() throws {
        let path = try write("main", onChange: "ask")
        let daemon = try TestDaemon(manifest: path, folder: folder)
        #expect(mkdir(folder.file("tasks.d"), 0o755) == 0)
        try folder.write(dropIn("one"), to: "tasks.d/one.json")
        #expect(daemon.program.line(containing: "+ task one", within: 2) == nil)
        #expect(try !isTaken("one", daemon))
        #expect(try daemon.command(["reload"]).exitCode == 0)
        #expect(try isTaken("one", daemon))
        // Whether it watches is decided at the start.
        try write("main")
        let refused = try daemon.command(["reload"])
        #expect(refused.exitCode == 78 && refused.error.contains("`host.onChange`"), "\(refused)")
        #expect(daemon.stop() == 0)
    }

    @Test func `Many changes at once are few reloads`() throws {
        let daemon = try started()
        #expect(mkdir(folder.file("tasks.d"), 0o755) == 0)
        // For a daemon that stands still they come at once, however long this takes on a busy machine.
        daemon.program.signal(SIGSTOP)
        for number in 0..<200 {
            try folder.write(dropIn("t\(number)"), to: "tasks.d/\(number).json")
        }
        daemon.program.signal(SIGCONT)
        // It hears of one after the other, and the last reload has the last.
        var reloads = 1
        #expect(daemon.program.has(1, linesContaining: "tasks: "))
        while try !isTaken("t199", daemon) {
            reloads += 1
            try #require(daemon.program.has(reloads, linesContaining: "tasks: "))
        }
        #expect(try isTaken("t0", daemon))
        #expect(reloads <= 10)
        #expect(daemon.stop() == 0)
    }
}
