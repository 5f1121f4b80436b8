// SPDX-License-Identifier: Apache-2.0

import BghostHost
import BghostOwnerSupport
import BghostAPI
import BghostBase
@testable import BghostModel
import BghostCommand
import BghostConfiguration
import BghostControl
import BghostTestSupport
import Glibc
import Testing

/// The program as it was built, against a real server.
@Suite(.ownThreads, .timeLimit(.minutes(5)))
struct ProgramTests {
    // MARK: - Without a daemon

    @Test(arguments: [
        ["status"], ["runs"], ["show", "01"], ["logs"], ["trigger", "x"], ["submit", "x"],
        ["cancel", "x"], ["expire", "01"], ["stop", "01"], ["pending"],
        ["cancel", "--all"], ["dead"],
        ["redrive", "01"], ["discard", "--all"], ["checkpoints"],
        ["checkpoints", "delete", "01"], ["throttle"],
        ["throttle", "clear", "x"],
        ["disable", "x"], ["enable", "x"], ["backup", "x"], ["logs", "-f"], ["status", "--json"],
        ["why", "x"], ["explain", "x"], ["simulate", "launch", "x"], ["simulate", "expire", "01"],
        ["simulate", "fact", "network=off"], ["simulate", "clock", "-30m"],
        ["simulate", "clock", "+6h", "--json"],
    ])
    func `Exits three without a daemon`(arguments: [String]) async throws {
        let folder = try TemporaryDirectory()
        let path = folder.file("control.sock")
        for isStale in [false, true] {
            if isStale { try RawConnection.endedListener(path) }
            let result = try await Bghost.run(arguments + ["--control", path])
            #expect(result.exitCode == 3)
            #expect(result.output.isEmpty != arguments.contains("--json"))
            #expect(
                result.error == """
                    error[BG2101]: bghost is not running (no daemon answers at \(path))
                      fix: start it with: bghost --config tasks.json

                    """
            )
        }
    }

    @Test(arguments: [
        (["--state-dir", "/nonexistent/a"], [], "/nonexistent/a/control.sock"),
        ([], ["BGHOST_CONTROL=/nonexistent/b.sock"], "/nonexistent/b.sock"),
        (["--control", "unix:/nonexistent/c"], ["BGHOST_CONTROL=/d"], "/nonexistent/c"),
    ])
    func `Finds the socket`(arguments: [String], environment: [String], path: String) async throws {
        let result = try await Bghost.run(["status"] + arguments, environment: environment)
        #expect(result.error.contains("no daemon answers at \(path))"))
    }

    @Test func `A client finds the system's daemon`() {
        func socket(_ state: String?, _ existing: Set<String>) -> String? {
            ControlLocation.usualSocket(stateDirectory: state) { existing.contains($0) }
        }
        let system = ControlLocation.systemSocket
        #expect(socket("/s", []) == "/s/control.sock")
        #expect(socket("/s", [system]) == system)
        #expect(socket("/s", [system, "/s/control.sock"]) == "/s/control.sock")
        #expect(socket(nil, [system]) == system)
        #expect(socket(nil, []) == nil)
    }

    @Test func `The usual place of the socket`() {
        func directory(_ isRoot: Bool, _ environment: [String: String]) -> String? {
            ControlLocation.stateDirectory(isRoot: isRoot) { environment[$0] }
        }
        #expect(directory(true, ["HOME": "/root"]) == "/var/lib/bghost")
        #expect(directory(false, ["HOME": "/home/a"]) == "/home/a/.local/state/bghost")
        #expect(directory(false, ["XDG_STATE_HOME": "/s", "HOME": "/home/a"]) == "/s/bghost")
        #expect(
            directory(false, ["XDG_STATE_HOME": "s", "HOME": "/h"]) == "/h/.local/state/bghost"
        )
        #expect(directory(false, [:]) == nil)
    }

    @Test(arguments: [
        (["tirgger"], "did you mean `bghost trigger`?"),
        (["plugin", "inspct"], "did you mean `bghost plugin inspect`?"),
        (["explian", "x"], "did you mean `bghost explain`?"),
        (["simulate", "lanch", "x"], "did you mean `bghost simulate launch`?"),
        (["simulate", "launch", "x", "--timeout", "5s"], "--timeout needs --wait"),
        (["simulate", "clock"], "step"), (["simulate", "clock", "+6h", "-30m"], "give one step"),
        (["simulate", "clock", "soon"], "is no time"),
        (["simulate", "clock", "-30"], "is no step such as +6h"),
        (["simulate", "clock", "+6h", "--jsno"], "give one step"),
        (["frobnicate"], "bghost --help lists them"),
        (["--cnofig", "x"], "Did you mean '--config'?"),
        (["runs", "--limit", "0"], "--limit must be from 1 to 1000"),
        (["trigger", "x", "--timeout", "5s"], "--timeout needs --wait"),
        (["trigger", "x", "--wait", "--timeout", "5"], "is not a time such as 30s"),
        (["submit", "x", "--earliest", "soon"], "is no time such as"),
        (["submit", "x", "--latest", "soon"], "is no time such as"),
        (["submit", "x", "--tolerance", "31d"], "not a duration from 0s to 30d"),
        (["submit", "x", "--on-conflict", "fight"], "fight"),
        (["cancel"], "name one task, or give --tag or --all"),
        (["cancel", "x", "--all"], "name one task, or give --tag or --all"),
        (["redrive"], "give one request, or --task, or --all"),
        (["discard", "01", "--all"], "give one request, or --task, or --all"),
        (["pending", "--limit", "0"], "--limit must be from 1 to 10000"),
        (["dead", "--limit", "1001"], "--limit must be from 1 to 1000"),
        (["submit", "x", "--parameters", "[1]"], "the value is not an object"),
        (["submit", "x", "--parameters", "{"], "the text ends before"),
        (["--slots", "0"], "--slots must be from 1"),
        (["run", "--log-level", "loud"], "loud"),
        (
            ["status", "--control", "/" + String(repeating: "x", count: 103)],
            "longer than 103 bytes"
        ),
    ])
    func `Exits sixty four on misuse`(arguments: [String], part: String) async throws {
        let result = try await Bghost.run(arguments)
        #expect(result.exitCode == 64)
        #expect(result.output.isEmpty)
        #expect(result.error.contains(part))
    }

    @Test func `Exits sixty six without the file of parameters`() async throws {
        let result = try await Bghost.run(["submit", "x", "--parameters", "@/nonexistent/p.json"])
        #expect(result.exitCode == 66)
        #expect(result.error.contains("cannot read /nonexistent/p.json: No such file"))
    }

    @Test(.enabled(if: geteuid() == 0, "only root can act as another user"))
    func `Exits seventy seven on a foreign socket`() async throws {
        try await Serving.with { serving in
            // The folder lets others in, so that it is the socket's own mode that refuses them.
            #expect(chmod(serving.folder.path, 0o755) == 0)
            let program = try serving.folder.write(
                try File.read(Artifact.path("bghost")),
                to: "bghost"
            )
            #expect(chmod(program, 0o755) == 0)
            let libraries = getenv("LD_LIBRARY_PATH").map { String(cString: $0) } ?? ""
            let result = try await onThread {
                try Command.run([
                    "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "env",
                    "LD_LIBRARY_PATH=\(libraries)", program, "status", "--control",
                    serving.socketPath,
                ])
            }
            #expect(result.exitCode == 77)
            #expect(result.error.contains("BG2102"))
        }
    }

    // MARK: - With a daemon

    @Test func `Exits four on what is not there`() async throws {
        try await Serving.with { serving in
            for (arguments, part) in [
                (["status", "com.acme.strom"], "did you mean `com.acme.storm`?"),
                (["runs", "com.acme.strom"], "did you mean `com.acme.storm`?"),
                (["logs", "com.acme.strom"], "did you mean `com.acme.storm`?"),
                (["logs", "abc"], "there is no task `abc`"),
                (["logs", "7Z"], "no run whose id begins with 7Z"),
                (["show", "7Z"], "no run whose id begins with 7Z"),
                (["expire", "7Z"], "no run whose id begins with 7Z"),
                (["cancel", "com.acme.storm"], "no request of com.acme.storm is waiting"),
            ] {
                let result = try await Bghost.run(arguments + ["--control", serving.socketPath])
                #expect(result.exitCode == 4, "\(arguments)")
                #expect(result.error.contains(part), "\(arguments)")
            }
        }
    }

    @Test func `Tells refusals apart`() async throws {
        try await Serving.with { serving in
            let host = serving.host
            for _ in 0..<2 { try await host.begin("com.acme.storm") }
            for (arguments, status) in [
                (["trigger", "com.acme.no"], Int32(77)), (["show", "01"], 64),
                (["trigger", "no/name"], 77), (["drain", "--finish"], 0),
                (["trigger", "com.acme.storm"], 75),
            ] {
                guard arguments[0] != "drain" else {
                    _ = await host.control.drain(within: nil)
                    continue
                }
                let result = try await Bghost.run(arguments + ["--control", serving.socketPath])
                #expect(result.exitCode == status, "\(arguments)")
                #expect(result.output.isEmpty)
            }
        }
    }

    @Test(arguments: [
        (Outcome.succeeded, Int32(0)), (.failed, 1), (.killed(.memory), 1), (.cancelledClean, 1),
    ])
    func `Trigger wait tells how the run ended`(outcome: Outcome, status: Int32) async throws {
        try await Serving.with { serving in
            /// Runs the command, and ends the run for which it waits.
            func trigger(_ options: [String] = []) async throws -> Command.Result {
                let host = serving.host
                async let result = Bghost.run(
                    ["trigger", "com.acme.storm", "--wait", "--control", serving.socketPath]
                        + options
                )
                let run = try await host.nextRun()
                switch outcome {
                case .killed(let reason): await host.kill(run, for: reason, message: "said so")
                case .cancelledClean:
                    _ = await host.control.stop(run: run.id)
                    try await host.end(run, status: -3, message: "said so")
                default:
                    try await host.end(run, status: outcome == .failed ? -1 : 0, message: "said so")
                }
                return try await result
            }
            let people = try await trigger()
            #expect(people.exitCode == status)
            #expect(people.output.contains("com.acme.storm \(outcome.text) in "), "\(people)")
            #expect(people.output.contains("\n  said so\n"), "\(people)")
            let machine = try await trigger(["--json"])
            #expect(machine.exitCode == status)
            #expect(machine.error.isEmpty)
            let json = try JSONReader.parse(machine.output)
            #expect(json["schema"]?.string == "bghost.run/1")
            #expect(json["run"]?["outcome"]?.string == outcome.text)
        }
    }

    @Test func `Trigger wait ends after its timeout`() async throws {
        try await Serving.with { serving in
            let result = try await Bghost.run([
                "trigger", "com.acme.storm", "--wait", "--timeout", "50ms", "--control",
                serving.socketPath,
            ])
            #expect(result.exitCode == 75)
            #expect(result.error.contains("not ended after 50ms; the run goes on"))
            let runs = await serving.host.control.runs(task: nil, limit: 1)
            #expect(runs.first?.state == .running)
        }
    }

    @Test func `Control CL eaves the run alone`() async throws {
        try await Serving.with { serving in
            let pidFile = serving.folder.file("pid")
            // The shell becomes the program, so that its process id is known beforehand.
            async let ending = onThread {
                try Command.run([
                    "sh", "-c", "echo $$ > \(pidFile); exec \"$@\"", "sh", Artifact.path("bghost"),
                    "trigger", "com.acme.storm", "--wait", "--control", serving.socketPath,
                ])
            }
            await serving.host.untilAwaited()
            let pid = String(decoding: try File.read(pidFile).dropLast(), as: UTF8.self)
            kill(try #require(pid_t(pid)), SIGINT)
            let result = try await ending
            #expect(result.exitCode == 130)
            #expect(result.error.contains("no longer waiting; the run goes on"))
            let runs = await serving.host.control.runs(task: nil, limit: 1)
            #expect(runs.first?.state == .running)
        }
    }

    @Test func `Every JSON answer is one object`() async throws {
        var alerts = AlertSettings()
        alerts.receivers = [.ntfy(url: "https://n.example/t", token: nil)]
        let host = try await TestHost.start {
            $0.tasks[0].learnsUse = true
            $0.tasks[0].tolerance = .seconds(3600)
            $0.host.alerts = alerts
        } configuration: {
            $0.alertTransport = ScriptedTransport()
        }
        try await Serving.with(host) { serving in
            let run = try await host.end(
                try await host.begin("com.acme.storm"),
                message: "\u{9B}2J",
                result: "[1]"
            )
            let live = try await host.begin("com.acme.photos")
            let stopping = try await host.begin("com.acme.photos")
            host.say("hello")
            for (arguments, schema) in [
                (["status"], "bghost.status/1"), (["status", "com.acme.storm"], "bghost.status/1"),
                (["runs"], "bghost.runs/1"), (["show", "\(run.id)"], "bghost.run/1"),
                (["logs"], "bghost.logs/1"), (["expire", "\(live.id)"], "bghost.expire/1"),
                (["submit", "com.acme.storm", "--earliest", "+30s"], "bghost.request/1"),
                (["pending"], "bghost.pending/1"),
                (["cancel", "com.acme.storm"], "bghost.cancel/1"),
                (["cancel", "--all"], "bghost.cancel/1"), (["dead"], "bghost.dead/1"),
                (["redrive", "--all"], "bghost.redrive/1"),
                (["discard", "--all"], "bghost.discard/1"), (["throttle"], "bghost.throttle/1"),
                (["throttle", "clear", "com.acme.storm"], "bghost.throttle.clear/1"),
                (["uses"], "bghost.uses/1"), (["alerts"], "bghost.alerts/1"),
                (["alerts", "test"], "bghost.alerts.test/1"),
                (["uses", "add", "com.acme.storm"], "bghost.use/1"),
                (["uses", "clear", "com.acme.storm"], "bghost.use/1"),
                (["disable", "storm"], "bghost.switch/1"),
                (["enable", "storm"], "bghost.switch/1"),
                (["stop", "\(stopping.id)"], "bghost.stop/1"),
                (["simulate", "fact", "network=off"], "bghost.simulate/1"),
                (["simulate", "clock", "+6h"], "bghost.simulate/1"),
                (["simulate", "launch", "com.acme.storm"], "bghost.request/1"),
                (["why", "com.acme.storm"], "bghost.why/1"),
                (["explain", "com.acme.storm"], "bghost.why/1"),
                (["trigger", "com.acme.storm"], "bghost.request/1"),
                (["version"], "bghost.version/1"),
            ] {
                let connection = arguments == ["version"] ? [] : ["--control", serving.socketPath]
                let result = try await Bghost.run(arguments + ["--json"] + connection)
                #expect(result.exitCode == 0, "\(arguments)")
                #expect(result.error.isEmpty, "\(arguments)")
                #expect(!result.output.unicodeScalars.contains("\u{9B}"))
                let json = try JSONReader.parse(result.output)
                #expect(json["schema"]?.string == schema, "\(arguments)")
            }
        }
    }

    @Test func `Status shows only what was asked for`() async throws {
        try await Serving.with { serving in
            let arguments = ["status", "com.acme.storm", "--control", serving.socketPath]
            let text = try await Bghost.run(arguments).output
            #expect(text.contains("com.acme.storm") && !text.contains("com.acme.photos"))
            let json = try JSONReader.parse(try await Bghost.run(arguments + ["--json"]).output)
            #expect(json["tasks"]?.array?.compactMap { $0["id"]?.string } == ["com.acme.storm"])
        }
    }

    @Test func `Parameters come from a file`() async throws {
        try await Serving.with { serving in
            await serving.host.holdPlugin()
            let file = try serving.folder.write(#"{ "city": "Köln" }"#, to: "p.json")
            let result = try await Bghost.run([
                "submit", "com.acme.storm", "--parameters", "@\(file)", "--earliest",
                "2026-11-21T16:31:04+01:00", "--control", serving.socketPath,
            ])
            #expect(result.exitCode == 0)
            #expect(result.error.hasPrefix("waits: "), "\(result)")
            let pending = await serving.host.control.status().tasks.first?.pending
            #expect(pending?.parameters == #"{"city":"Köln"}"#)
            #expect(pending?.earliestBegin == Timestamp.unixNanoseconds("2026-11-21T15:31:04Z"))
        }
    }

    @Test func `Logs follow until the daemon stops`() async throws {
        let (ended, continuation) = AsyncStream<Command.Result>.makeStream()
        try await Serving.with { serving in
            let host = serving.host
            let run = try await host.begin("com.acme.storm")
            host.say("first", task: "com.acme.storm", run: run.id)
            host.say("other", task: "com.acme.photos")
            // Awaited below, once the server has shut down.
            Task {
                defer { continuation.finish() }
                continuation.yield(
                    try await Bghost.run([
                        "logs", "-f", run.id.description.lowercased(),
                        "--control", serving.socketPath,
                    ])
                )
            }
            await host.untilFollowed(by: 1)
        }
        for await result in ended {
            #expect(result.exitCode == 0)
            #expect(result.output.hasSuffix("info    com.acme.storm first\n"))
            #expect(!result.output.contains("other"))
        }
    }
}
