// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import BghostAPI
import BghostBase
@testable import BghostCommand
import BghostControl
import BghostTestSupport
import Testing

/// How commands fail: one answer for one fault, the same for people and for scripts.
@Suite(.ownThreads, .timeLimit(.minutes(5)))
struct FailureTests {
    @Test func `The first words name a command without the tree of all commands`() async throws {
        func name(_ words: String...) -> String? {
            CommandWord.named(words).map { "\($0.command) \($0.options)" }
        }
        #expect(name("status", "--json") == #"Status ["--json"]"#)
        #expect(name("explain", "a", "status") == #"Why ["a", "status"]"#)
        #expect(name("plugin", "check", "a.so") == #"Check ["a.so"]"#)
        // The tree knows the default commands, and has the answers for what names no command.
        for words in [
            [], ["--json", "status"], ["plugin"], ["plugin", "help"], ["throttle"], ["nosuch"],
        ] {
            #expect(CommandWord.named(words) == nil, "\(words)")
        }
        for words in [
            ["status", "a", "--utc"], ["trigger", "a", "--wait"], ["version"], ["why", "a"],
            ["simulate", "clock", "+5m"], ["simulate", "expire", "a"], ["plugin", "check", "a.so"],
            ["submit", "a", "--parameters", "{}", "--control=/b"], ["runs", "--json", "--", "-a"],
        ] {
            let own = await Program.named(words).map { "\($0)" }
            #expect(own == "\(try Root.parseAsRoot(words))", "\(words)")
        }
        for words in [[], ["run"], ["--config", "a.json"], ["run", "--slots", "3", "--dev"]] {
            let own = await Program.daemon(words).map { "\($0)" }
            #expect(own == "\(try Root.parseAsRoot(words))", "\(words)")
        }
        // The whole tree answers these.
        for words in [
            ["status", "--help"], ["status", "-h"], ["status", "--nosuch"], ["why"],
            ["status", "--generate-completion-script"], ["status", "--experimental-dump-help"],
        ] {
            #expect(await Program.named(words) == nil, "\(words)")
        }
        for words in [
            ["status"], ["--help"], ["--version"], ["run", "--slots", "0"], ["run", "a"],
            ["--generate-completion-script", "bash"],
        ] {
            #expect(await Program.daemon(words) == nil, "\(words)")
        }
    }

    @Test func `Every command reports an unknown task in the same way`() async throws {
        try await Serving.with { serving in
            for command in [
                ["status"], ["logs"], ["why"], ["runs"], ["pending"], ["dead"], ["throttle"],
                ["uses"], ["throttle", "clear"], ["cancel"],
            ] {
                let result = try await Bghost.run(
                    command + ["nosuch", "--control", serving.socketPath]
                )
                #expect(result.exitCode == 4, "\(command)")
                #expect(
                    result.error == """
                        error[BG4013]: there is no task `nosuch`
                          fix: `bghost status` lists them

                        """,
                    "\(command)"
                )
            }
        }
    }

    @Test(arguments: [
        (["status", "com.acme.strom"], "BG4013", "did you mean `com.acme.storm`?", Int32(4)),
        (["why", "com.acme.strom"], "BG4013", "did you mean `com.acme.storm`?", 4),
        (["logs", "com.acme.strom"], "BG4013", "did you mean `com.acme.storm`?", 4),
        (["show", "7Z"], "BG4010", "bghost runs lists them", 4),
        (["trigger", "com.acme.storm"], "BG4001", "", 75),
    ])
    func `With --json a failure is JSON on stdout`(
        arguments: [String],
        code: String,
        fix: String,
        status: Int32
    ) async throws {
        try await Serving.with { serving in
            if status == 75 { _ = await serving.host.control.drain(within: nil) }
            let result = try await Bghost.run(
                arguments + ["--json", "--control", serving.socketPath]
            )
            #expect(result.exitCode == status)
            let json = try JSONReader.parse(result.output)
            #expect(json["schema"]?.string == "bghost.error/1")
            #expect(json["error"]?["code"]?.string == code)
            #expect(json["error"]?["fix"]?.string == fix)
            #expect(json["error"]?["exit"]?.int64 == Int64(status))
            // The text form says the same.
            let message = try #require(json["error"]?["message"]?.string)
            #expect(result.error.contains("error[\(code)]: \(message)\n"))
            #expect(result.error.contains(fix))
        }
    }

    @Test func `Failures are JSON without a daemon and for an invalid command line too`()
        async throws
    {
        let absent = try await Bghost.run(["status", "--json", "--control", "/nonexistent/c"])
        #expect(absent.exitCode == 3)
        let fault = try JSONReader.parse(absent.output)["error"]
        #expect(fault?["code"]?.string == "BG2101")
        #expect(fault?["fix"]?.string == "start it with: bghost --config tasks.json")

        let wrong = try await Bghost.run(["runs", "--json", "--limit", "0"])
        #expect(wrong.exitCode == 64)
        let usage = try JSONReader.parse(wrong.output)["error"]
        #expect(usage?["message"]?.string?.contains("--limit must be from 1") == true)
        #expect(usage?["fix"]?.string?.contains("Usage: bghost runs") == true)
    }

    @Test func `The API's failures have a schema`() async throws {
        let fault = ControlFault(.noSuchTask, "m", fix: "f")
        let bytes = APICoder.json(Schema.error, API.Failure(fault))
        let json = try JSONReader.parse(bytes)
        #expect(json["schema"]?.string == Schema.error.name)
        #expect(ControlFault(answer: bytes, parsed: json) == fault)
    }

    @Test func `The texts of codes about sockets name the limit that holds`() {
        let limit = "\(SocketPath.bytesMax) bytes"
        for code in ["BG1040", "BG2106"] {
            #expect(ErrorCatalog.explanation(of: code)?.contains(limit) == true, "\(code)")
        }
    }

    @Test func `A secret without a value does what its code's text says`() async throws {
        let text = try #require(ErrorCatalog.explanation(of: "BG2004"))
        #expect(text.contains("The daemon does not start with it, and `bghost check` fails"))
        #expect(text.contains("with --no-env") && text.contains("`bghost check` does not look"))
        let folder = try TemporaryDirectory()
        let file = try folder.write(
            #"""
            {"version": 1, "host": {"heartbeat": {"url": "https://a.example/${env:BGHOST_NOT_SET}"}}}
            """#,
            to: "tasks.json"
        )
        for command in [["check"], ["run", "--state-dir", folder.path + "/state"]] {
            let result = try await Bghost.run(command + ["-c", file])
            #expect(result.exitCode == 78, "\(command) \(result.error)")
            #expect((result.error + result.output).contains("error[BG2004]"), "\(command)")
        }
        let other = try await Bghost.run(["check", "--no-env", "-c", file])
        #expect(other.exitCode == 0 && !(other.error + other.output).contains("BG2004"))
    }

    @Test func `A secret that is too long is refused, and not cut off`() async throws {
        let folder = try TemporaryDirectory()
        let file = try folder.write(
            #"{"version": 1, "plugins": {}, "host": {"traces": {"endpoint": "https://a.example/t","#
                + #" "headers": {"Authorization": "${file:secret}"}}}}"#,
            to: "tasks.json"
        )
        try folder.write(String(repeating: "a", count: (64 << 10) + 1), to: "secret")
        let result = try await Bghost.run(["check", "-c", file])
        #expect(result.exitCode == 78)
        let text = result.error + result.output
        #expect(text.contains("error[BG2004]") && text.contains("more than 64 KiB"), "\(text)")
    }

    @Test func `The names of time zones are those that their code's text says`() async throws {
        let text = try #require(ErrorCatalog.explanation(of: "BG1047"))
        let folder = try TemporaryDirectory()
        for (name, isZone) in [
            ("Europe/Berlin", true), ("UTC", true), ("CET", true), ("EST", true), ("PST", false),
            ("CEST", false),
        ] {
            #expect(text.contains(name))
            let file = try folder.write(
                #"{"version": 1, "host": {"timeZone": "\#(name)"}}"#,
                to: "tasks.json"
            )
            let result = try await Bghost.run(["check", "-c", file])
            #expect(result.exitCode == (isZone ? 0 : 78), "\(name) \(result.error)")
            let isReported = (result.error + result.output).contains("error[BG1047]")
            #expect(isReported != isZone, "\(name)")
        }
    }

    @Test func `BGHOST_CONTROL is found with a manifest too`() async throws {
        let folder = try TemporaryDirectory()
        let manifest = try folder.write(#"{"version": 1}"#, to: "tasks.json")
        let named = try folder.write(
            #"{"version": 1, "host": {"control": "unix:/nonexistent/named"}}"#,
            to: "named.json"
        )
        try await Serving.with { serving in
            let environment = ["BGHOST_CONTROL=\(serving.socketPath)"]
            for file in [manifest, named] {
                let result = try await Bghost.run(
                    ["pending", "-c", file],
                    environment: environment
                )
                #expect(result.exitCode == 0, "\(result.error)")
            }
            let other = try await Bghost.run(
                ["pending", "-c", manifest, "--control", "/nonexistent/c"],
                environment: environment
            )
            #expect(other.exitCode == 3)
        }
    }

    @Test func `A missing manifest is missing input`() async throws {
        for command in [["status"], ["check"], ["plan"], ["doctor"], []] {
            let result = try await Bghost.run(command + ["-c", "/nonexistent/tasks.json"])
            #expect(result.exitCode == 66, "\(command) \(result.error)")
            #expect((result.error + result.output).contains("BG1001"), "\(command)")
        }
    }
}
