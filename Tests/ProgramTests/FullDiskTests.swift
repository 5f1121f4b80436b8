// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostTestSupport
import Glibc
import Testing

private let mayMount = (try? Command.run(["unshare", "--mount", "true"]).exitCode) == 0

/// Runs that end while the disk is full.
@Suite(
    .ownThreads,
    .enabled(if: mayMount, "mounting needs root")
)
struct FullDiskTests {
    private let folder: TemporaryDirectory
    private let state: String
    private let manifest: String
    /// The mount lives as long as this does.
    private let holder: RunningProgram

    init() throws {
        folder = try TemporaryDirectory()
        state = folder.file("state")
        try #require(mkdir(state, 0o700) == 0)
        manifest = try folder.write(Self.text(isAuditRequired: false), to: "tasks.json")
        holder = try RunningProgram(command: [
            "unshare", "--mount", "sh", "-ec",
            "mount -t tmpfs -o size=3m,mode=700 none \(state); echo mounted >&2; exec sleep 600",
        ])
        try #require(holder.line(containing: "mounted") != nil)
    }

    private static func text(isAuditRequired: Bool, host: String = "") throws -> String {
        """
        {"version": 1,
         "host": {"audit": {"required": \(isAuditRequired)}\(host)},
         "plugins": {"misbehave": {"library": "\(try Fixture.library("misbehave"))",
                                   "maxPending": {"refresh": 1000}}},
         "tasks": {
           "tick": {"plugin": "misbehave", "handler": "succeed", "every": "1s"},
           "long": {"plugin": "misbehave", "handler": "honour-cancel",
                    "limits": {"runtime": "10m", "grace": "20s"}},
           "later.*": {"plugin": "misbehave", "handler": "succeed"}}}
        """
    }

    private func daemon() throws -> TestDaemon {
        try TestDaemon(
            manifest: manifest,
            folder: folder,
            arguments: ["--control", control, "--log-level", "debug"],
            prefix: ["nsenter", "--mount", "--target", String(holder.pid)]
        )
    }

    private var control: String { folder.file("control.sock") }

    private func bghost(_ arguments: [String]) throws -> Command.Result {
        try Command.run([Artifact.path("bghost")] + arguments + ["--control", control])
    }

    private var ballast: String { "/proc/\(holder.pid)/root\(state)/ballast" }

    /// Fills the disk to its last byte, and the pages that the store has in reserve, until a commit
    /// fails.
    private func fill(_ daemon: TestDaemon) throws {
        let file = open(ballast, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        try #require(file >= 0)
        defer { close(file) }
        var size = 1 << 16
        let zeros = [UInt8](repeating: 0, count: size)
        while size > 0 {
            if write(file, zeros, size) <= 0 { size /= 2 }
        }
        let note = #"{"note":"\#(String(repeating: "x", count: 60_000))"}"#
        for number in 0..<40 {
            let result = try bghost([
                "submit", "later.\(number)", "--earliest", "+1h", "--parameters", note,
            ])
            if result.exitCode != 0 { return }
        }
        Issue.record("the disk is not full")
    }

    private func runs(_ task: String) throws -> [JSONNode] {
        let answer = try bghost(["runs", task, "--json", "--limit", "1000"])
        return try #require(try JSONReader.parse(answer.output)["runs"]?.array)
    }

    /// Waits until so many more runs of `tick` have ended.
    private func letTick(_ daemon: TestDaemon, _ count: Int) throws {
        let before = daemon.program.lines.count { $0.contains("tick succeeded") }
        try #require(
            daemon.program.has(before + count, linesContaining: "tick succeeded"),
            "\(daemon.program.lines.suffix(20))"
        )
    }

    /// Lets runs end until so many transactions wait: small ones may find room when a large one does
    /// not.
    private func letWait(_ daemon: TestDaemon, _ count: Int64) throws {
        for _ in 0..<60 {
            let status = try JSONReader.parse(try bghost(["status", "--json"]).output)
            // On a busy machine, transactions also wait that will be written in a moment.
            let isFailing = status["store"]?["failingSince"]?.string != nil
            if isFailing, status["store"]?["waiting"]?.int64 ?? 0 >= count { return }
            try letTick(daemon, 1)
        }
        Issue.record("nothing waits: \(daemon.program.lines.suffix(20))")
    }

    private func expectNothingLost() throws {
        for task in ["tick", "long"] {
            for run in try runs(task) { #expect(run["outcome"]?.string != "lost", "\(run)") }
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `With a full disk ends of runs wait for room, and none is lost`() throws {
        let first = try daemon()
        try letTick(first, 1)
        // Begun with room, ended without.
        let trigger = try RunningProgram(command: [
            Artifact.path("bghost"), "trigger", "long", "--wait", "--control", control,
        ])
        try #require(first.program.line(containing: "long in worker") != nil)
        try fill(first)
        #expect(first.program.line(containing: "cannot keep a transaction") != nil)
        try letWait(first, 6)
        let run = try #require(try runs("long").first?["id"]?.string)
        #expect(try bghost(["stop", run]).exitCode == 0)
        #expect(first.program.line(containing: "long cancelledClean") != nil)
        // It is answered only with what is kept.
        #expect(kill(trigger.pid, 0) == 0 && waitpid(trigger.pid, nil, WNOHANG) == 0)
        let status = try bghost(["status"])
        #expect(status.output.contains("the store has been failing since"), "\(status.output)")
        let json = try JSONReader.parse(try bghost(["status", "--json"]).output)
        #expect(json["store"]?["failingSince"]?.string != nil)
        #expect(json["store"]?["waiting"]?.int64 ?? 0 >= 3)
        let doctor = try bghost(["doctor"])
        #expect(doctor.exitCode != 0)
        #expect(doctor.output.contains("the store has been failing since"), "\(doctor.output)")
        #expect(status.exitCode == 5, "\(status)")
        let ready = try UnixClient(control).get("/readyz")
        #expect(ready.contains(" 503 ") && ready.contains("the store has been failing"), "\(ready)")

        unlink(ballast)
        // An operator's command is tried at once.
        #expect(try bghost(["submit", "later.100", "--earliest", "+1h"]).exitCode == 0)
        #expect(first.program.line(containing: "the store keeps what it is given again") != nil)
        #expect([0, 1].contains(trigger.end()))
        let healthy = try JSONReader.parse(try bghost(["status", "--json"]).output)
        #expect(healthy["store"]?["failingSince"]?.string == nil)
        try letTick(first, 1)
        let told = try runs("tick").filter { $0["state"]?.string == "ended" }.count
        #expect(first.stop() == 0)

        let second = try daemon()
        #expect(try runs("tick").filter { $0["state"]?.string == "ended" }.count >= told)
        try expectNothingLost()
        #expect(second.stop() == 0)
    }

    @Test(.timeLimit(.minutes(10)))
    func `With a full disk the daemon tells that its store fails, and that it is well again`()
        throws
    {
        let server = try HTTPReceiver()
        server.start()
        defer { server.stop() }
        let host = #", "alerts": {"to": [{"ntfy": "\#(server.url)/topic"}], "digest": "100ms"}"#
        _ = try folder.write(Self.text(isAuditRequired: false, host: host), to: "tasks.json")
        let daemon = try daemon()
        try letTick(daemon, 1)
        try fill(daemon)
        // Until small transactions find no room either, the alert may end by itself.
        try letWait(daemon, 3)
        let alarm = server.request { $0.body.hasPrefix("FIRING the store fails") }
        #expect(alarm?.headers["priority"] == "5", "\(server.requests)")
        let alerts = try bghost(["alerts"])
        #expect(alerts.output.contains("store"), "\(alerts)")
        unlink(ballast)
        #expect(try bghost(["submit", "later.100", "--earliest", "+1h"]).exitCode == 0)
        #expect(server.request { $0.body.contains("RESOLVED the store fails") } != nil)
        #expect(daemon.stop() == 0)
    }

    @Test(.timeLimit(.minutes(10)))
    func `With a full disk a drain waits for room`() throws {
        let first = try daemon()
        try letTick(first, 1)
        try fill(first)
        try letWait(first, 6)
        first.program.signal(SIGTERM)
        #expect(
            first.program.line(containing: "not stored yet: ") != nil,
            "\(first.program.lines.suffix(20))"
        )
        unlink(ballast)
        #expect(first.program.end() == 0)
        let second = try daemon()
        try expectNothingLost()
        #expect(second.stop() == 0)
    }

    @Test(.timeLimit(.minutes(10)))
    func `A second signal ends the wait for room and logs what is lost`() throws {
        let daemon = try daemon()
        try letTick(daemon, 1)
        try fill(daemon)
        try letWait(daemon, 6)
        daemon.program.signal(SIGTERM)
        #expect(
            daemon.program.line(containing: "not stored yet: ") != nil,
            "\(daemon.program.lines.suffix(20))"
        )
        // Two signals within 20 ms are taken for one; this takes longer.
        _ = try bghost(["status"])
        daemon.program.signal(SIGTERM)
        let line = daemon.program.line(containing: "before the end: runs")
        #expect(line?.contains("recorded as lost") == true)
        _ = daemon.program.end()
    }

    @Test(.timeLimit(.minutes(10)))
    func `With a full disk what cannot be audited is refused, and nothing is done`() throws {
        _ = try folder.write(Self.text(isAuditRequired: true), to: "tasks.json")
        let first = try daemon()
        try letTick(first, 1)
        let trigger = try RunningProgram(command: [
            Artifact.path("bghost"), "trigger", "long", "--wait", "--control", control,
        ])
        try #require(first.program.line(containing: "long in worker") != nil)
        try fill(first)
        try letWait(first, 6)
        let run = try #require(try runs("long").first?["id"]?.string)
        for command in [
            ["disable", "misbehave"], ["throttle", "clear", "tick"], ["cancel", "--all"],
        ] {
            let refused = try bghost(command)
            #expect(refused.exitCode == 73 && refused.error.contains("BG4028"), "\(refused)")
        }
        let status = try JSONReader.parse(try bghost(["status", "--json"]).output)
        let plugin = status["plugins"]?.array?.first
        #expect(plugin?["switchedOff"]?.string == nil, "\(status)")
        #expect(try bghost(["pending", "later.0"]).exitCode == 0, "it was withdrawn")

        unlink(ballast)
        #expect(try bghost(["submit", "later.100", "--earliest", "+1h"]).exitCode == 0)
        #expect(first.program.line(containing: "the store keeps what it is given again") != nil)
        #expect(try bghost(["stop", run]).exitCode == 0)
        #expect([0, 1].contains(trigger.end()))
        let verdict = try bghost(["audit", "verify"])
        #expect(verdict.exitCode == 0 && verdict.output.contains("intact"), "\(verdict)")
        let rows = try bghost(["audit", "--verb", "stop"]).output
        #expect(rows.contains("begun") && rows.contains("done"), "\(rows)")
        // A drain is never refused.
        #expect(first.stop() == 0)
        let second = try daemon()
        try fill(second)
        try letWait(second, 6)
        #expect(try bghost(["drain", "--finish"]).exitCode == 0)
        // What waited for room is lost, which the log says.
        #expect(second.program.line(containing: "could not store") != nil)
        #expect(second.program.end() == 0)
    }
}
