// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostTestSupport
import Glibc
import Testing

// One after the other: each blocks a thread of the pool until its programs have ended.
/// A state directory or a socket that is taken, read-only, full or something else.
@Suite(.ownThreads, .serialized, .timeLimit(.minutes(5))) struct StateDirectoryTests {
    private let folder: TemporaryDirectory
    private let state: String
    private let manifest: String

    init() throws {
        folder = try TemporaryDirectory()
        state = folder.file("state")
        manifest = try folder.write(
            """
            {"version": 1,
             "plugins": {"m": {"library": "\(try Fixture.library("misbehave"))",
                               "maxPending": {"refresh": 1000}}},
             "tasks": {"later.*": {"plugin": "m", "handler": "succeed"},
                       "long": {"plugin": "m", "handler": "honour-cancel",
                                "limits": {"runtime": "10m"}}}}
            """,
            to: "tasks.json"
        )
    }

    /// Who may mount has a namespace of mounts of their own, which no other process sees.
    static let mayMount = (try? Command.run(["unshare", "--mount", "true"]).exitCode) == 0

    /// Runs the daemon, which ends by itself, after a shell command in a namespace of its own.
    private func refusal(
        _ script: String = "true",
        state: String? = nil,
        control: String? = nil
    ) throws -> Command.Result {
        let daemon =
            "exec \(Artifact.path("bghost")) --config \(manifest) --state-dir \(state ?? self.state)"
            + (control.map { " --control \($0)" } ?? "")
        let shell = ["sh", "-ec", "\(script)\n\(daemon)"]
        return try Command.run((script == "true" ? [] : ["unshare", "--mount"]) + shell)
    }

    @Test func `A state directory that is a file is refused`() throws {
        try folder.write("precious", to: "state")
        let result = try refusal()
        #expect(result.exitCode == 73)
        #expect(
            result.error.contains(
                "cannot make the state directory \(state)/data: Not a directory; name another one"
            )
                || result.error.contains(
                    "\(state) is not a directory; name another one with --state-dir"
                ),
            "\(result.error)"
        )
        #expect(try File.read(state) == Array("precious".utf8))
    }

    @Test(.enabled(if: getuid() == 0, "giving a directory away needs root"))
    func `The daemon refuses a state directory of another user`() throws {
        try #require(mkdir(state, 0o777) == 0)
        try #require(chown(state, 12345, 12345) == 0)
        let result = try refusal()
        #expect(result.exitCode == 73)
        #expect(
            result.error.contains(
                "\(state) belongs to user 12345, not to user 0, who runs bghost;"
            ),
            "\(result.error)"
        )
        #expect(result.error.contains("chown it or name another one with --state-dir"))
    }

    /// Root would make folders and files wherever another user's link leads.
    @Test(
        .enabled(if: getuid() == 0, "giving a directory away needs root"),
        arguments: ["stranger/state", "stranger/link/state", "stranger/link", "shared/state"]
    )
    func `A state directory that others could replace is refused`(place: String) throws {
        let (stranger, shared) = (folder.file("stranger"), folder.file("shared"))
        let target = folder.file("target")
        for path in [stranger, shared, target] { try #require(mkdir(path, 0o755) == 0) }
        try #require(symlink(target, stranger + "/link") == 0)
        try #require(lchown(stranger + "/link", 12345, 12345) == 0)
        try #require(chown(stranger, 12345, 12345) == 0)
        try #require(chmod(shared, 0o777) == 0)
        let result = try refusal(state: folder.file(place))
        #expect(result.exitCode == 73)
        let why =
            place.hasPrefix("shared")
            ? "\(shared) can be written by everybody" : "\(stranger) belongs to user 12345"
        #expect(result.error.contains(why), "\(result.error)")
        #expect(result.error.contains("--state-dir"))
        #expect(try File.list(target).isEmpty)
        #expect(try File.list(stranger) == ["link"])
        #expect(try File.list(shared).isEmpty)
    }

    /// A folder such as /tmp is everybody's, but what lies in it is its owner's.
    @Test(
        .enabled(if: getuid() == 0, "giving a directory away needs root"),
        arguments: [true, false]
    )
    func `A link in a folder such as /tmp counts by its owner`(isOwn: Bool) throws {
        let (shared, target) = (folder.file("tmp"), folder.file("target"))
        try #require(mkdir(shared, 0o755) == 0 && chmod(shared, 0o1777) == 0)
        try #require(mkdir(target, 0o700) == 0)
        try #require(symlink(target, shared + "/link") == 0)
        guard isOwn else {
            try #require(lchown(shared + "/link", 12345, 12345) == 0)
            let result = try refusal(state: shared + "/link/state")
            #expect(result.exitCode == 73)
            #expect(result.error.contains("\(shared)/link belongs to user 12345"))
            #expect(try File.list(target).isEmpty)
            return
        }
        let daemon = try RunningProgram(command: [
            Artifact.path("bghost"), "--config", manifest, "--state-dir", shared + "/link/state",
        ])
        #expect(daemon.line(containing: "listening on") != nil)
        daemon.signal(SIGTERM)
        #expect(daemon.end() == 0)
    }

    @Test(.enabled(if: mayMount, "mounting needs root"), arguments: ["", "/absent"])
    func `A state directory that is read-only is refused`(below: String) throws {
        try #require(mkdir(state, 0o700) == 0)
        let result = try refusal(
            "mount --bind \(state) \(state); mount -o remount,bind,ro \(state)",
            state: state + below
        )
        #expect(result.exitCode == 73)
        let what =
            below.isEmpty
            ? "cannot write into \(state)" : "cannot make the state directory \(state)"
        #expect(
            result.error.contains("\(what)\(below): Read-only file system; name another one with"),
            "\(result.error)"
        )
        #expect(try File.list(state).isEmpty)
    }

    @Test(.enabled(if: mayMount, "mounting needs root"))
    func `A state directory that is full from the start is refused`() throws {
        try #require(mkdir(state, 0o700) == 0)
        let result = try refusal(
            """
            mount -t tmpfs -o size=64k,mode=700 none \(state)
            head -c 100000 /dev/zero >\(state)/ballast 2>/dev/null || true
            """
        )
        #expect(result.exitCode == 73)
        #expect(
            result.error.contains(
                "cannot write \(state)/lock: No space left on device; free some space or name another"
            ),
            "\(result.error)"
        )
    }

    @Test(.enabled(if: mayMount, "mounting needs root"))
    func `A state directory that fills up loses nothing that was accepted`() throws {
        try #require(mkdir(state, 0o700) == 0)
        // The mount lives as long as this does.
        let holder = try RunningProgram(command: [
            "unshare", "--mount", "sh", "-ec",
            "mount -t tmpfs -o size=2m,mode=700 none \(state); echo mounted >&2; exec sleep 600",
        ])
        try #require(holder.line(containing: "mounted") != nil)
        let inside = ["nsenter", "--mount", "--target", String(holder.pid)]
        let control = folder.file("control.sock")
        func daemon() throws -> TestDaemon {
            try TestDaemon(
                manifest: manifest,
                folder: folder,
                arguments: ["--control", control, "--log-level", "debug"],
                prefix: inside
            )
        }
        func bghost(_ arguments: [String]) throws -> Command.Result {
            try Command.run([Artifact.path("bghost")] + arguments + ["--control", control])
        }
        // Large, so that few of them fill what the database had in reserve.
        let note = #"{"note":"\#(String(repeating: "x", count: 60_000))"}"#
        func submit(_ number: Int) throws -> Command.Result {
            try bghost(["submit", "later.\(number)", "--earliest", "+1h", "--parameters", note])
        }

        let first = try daemon()
        for number in 0..<3 { try #require(submit(number).exitCode == 0) }
        try #require(bghost(["submit", "long"]).exitCode == 0)
        let begun = try #require(first.program.line(containing: "in worker"))
        // To the last page, which the log of the database may be in the midst of.
        let ballast = "/proc/\(holder.pid)/root\(state)/ballast"
        try fill(ballast)
        var accepted = [0, 1, 2]
        var refusal: Command.Result?
        for number in 3..<40 {
            let result = try submit(number)
            guard result.exitCode == 0 else {
                refusal = result
                break
            }
            accepted.append(number)
        }
        let refused = try #require(refusal, "the disk is not full")
        #expect(refused.exitCode == 73, "\(refused.error)")
        #expect(refused.error.contains("\(state)/bghost.sqlite"), "\(refused.error)")
        #expect(refused.error.contains("full"), "\(refused.error)")
        #expect(first.program.line(containing: "cannot keep a transaction") != nil)
        // Active runs continue and can be stopped; the daemon triggers no new run.
        // It may have recovered meanwhile: something smaller than what was refused may fit.
        let status = try bghost(["status", "--json"])
        let json = try JSONReader.parse(status.output)
        let isFailing = json["store"]?["failingSince"]?.string != nil
        #expect(json["store"]?["waiting"]?.int64 == 0, "\(status.output)")
        #expect(
            json["problems"]?.array?.map { $0["kind"]?.string } == (isFailing ? ["store"] : []),
            "\(status.output)"
        )
        #expect(status.exitCode == (isFailing ? 5 : 0))
        var code: Int32? = 0
        for number in 101..<200 where code == 0 {
            code = try bghost(["trigger", "later.\(number)"]).exitCode
        }
        #expect(code == 73)
        #expect(begun.contains("long"))
        let runs = try bghost(["runs", "long", "--json"])
        #expect(runs.output.contains("\"running\""), "\(runs.output)\(runs.error)")

        unlink(ballast)
        try #require(submit(50).exitCode == 0)
        accepted.append(50)
        // What was refused is its submitter's to repeat: of a store that keeps what it is given again
        // nothing is left to tell (adr 0701).
        #expect(first.program.line(containing: "the store keeps what it is given again") != nil)
        #expect(try bghost(["status"]).exitCode == 0)
        #expect(first.stop() == 0)

        let second = try daemon()
        let pending = try bghost(["pending", "--json"]).output
        for number in 0..<100 {
            #expect(
                pending.contains("\"later.\(number)\"") == accepted.contains(number),
                "later.\(number): \(pending)"
            )
        }
        // The one that was under way begins again.
        #expect(second.program.line(containing: "in worker") != nil)
        #expect(second.stop() == 0)
        holder.signal(SIGKILL)
        #expect(holder.end() == -SIGKILL)
    }

    /// Writes until there is no room for another byte.
    private func fill(_ path: String) throws {
        let file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        try #require(file >= 0)
        defer { close(file) }
        var size = 1 << 16
        let zeros = [UInt8](repeating: 0, count: size)
        while size > 0 {
            if write(file, zeros, size) <= 0 { size /= 2 }
        }
    }

    // MARK: The socket

    @Test func `A socket that another daemon serves is refused and names it`() throws {
        let control = folder.file("control.sock")
        let first = try TestDaemon(
            manifest: manifest,
            folder: folder,
            arguments: ["--control", control]
        )
        let other = folder.file("other")
        let second = try refusal(state: other, control: control)
        #expect(second.exitCode == 73)
        // It has not come so far as to look for what it could run.
        #expect(access(other + "/lock", F_OK) == 0)
        #expect(access(other + "/bghost.sqlite", F_OK) != 0)
        #expect(!second.error.contains("host.started"), "\(second.error)")
        #expect(
            second.error.contains(
                "process \(first.program.pid) serves the control socket \(control) already"
            ),
            "\(second.error)"
        )
        #expect(
            second.error.contains("fix: stop it (kill \(first.program.pid)), or choose another")
        )
        let status = try Command.run([Artifact.path("bghost"), "status", "--control", control])
        #expect(status.output.contains("process \(first.program.pid)"), "\(status.error)")
        // The state of the second is not taken by what is gone.
        let third = try TestDaemon(
            manifest: manifest,
            folder: folder,
            arguments: ["--state-dir", other, "--control", folder.file("third.sock")]
        )
        #expect(third.stop() == 0)
        #expect(first.stop() == 0)
    }

    @Test func `A file at the socket's place is left alone`() throws {
        let control = try folder.write("precious", to: "control.sock")
        let result = try refusal(control: control)
        #expect(result.exitCode == 73)
        #expect(result.error.contains("\(control) exists and is not a socket"), "\(result.error)")
        #expect(result.error.contains("fix: move it away, or choose another --control"))
        #expect(try File.read(control) == Array("precious".utf8))
    }
}
