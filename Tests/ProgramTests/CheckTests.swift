// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostTestSupport
import Testing

/// What `bghost check` finds by loading plugins, before any daemon does.
@Suite(.ownThreads) struct CheckTests {
    @Test(.timeLimit(.minutes(5)))
    func `Drop-ins that cannot be listed are an error, and not none`() throws {
        let folder = try TemporaryDirectory()
        let manifest = try folder.write(#"{"version": 1}"#, to: "tasks.json")
        let check = [Artifact.path("bghost"), "check", "--config", manifest]
        #expect(try Command.run(check).exitCode == 0)
        _ = try folder.write("", to: "tasks.d")
        let result = try Command.run(check)
        #expect(result.exitCode == 66, "\(result)")
        for words in [
            "BG1001", "tasks.d", "cannot read this part", "Not a directory", "move it away",
        ] {
            #expect(result.output.contains(words), "\(result)")
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `A check says which requests live in the fleet`() throws {
        let folder = try TemporaryDirectory()
        let manifest = try folder.write(
            """
            {"version": 1, "host": {"fleet": {"connection": "host=x", "name": "web-1"}},
             "plugins": {"misbehave": {"library": "\(try Fixture.library("misbehave"))"}},
             "tasks": {"job.*": {"plugin": "misbehave", "handler": "succeed", "runs": "inFleet"},
                       "own": {"plugin": "misbehave", "handler": "succeed"}}}
            """,
            to: "tasks.json"
        )
        let result = try Command.run([Artifact.path("bghost"), "check", "--config", manifest])
        #expect(result.exitCode == 0, "\(result)")
        #expect(result.output.contains("in the fleet: requests of job.*; of each host: "))
    }

    @Test(.timeLimit(.minutes(5)))
    func `A check names every unusable plugin and survives each`() throws {
        let folder = try TemporaryDirectory()
        let bad = [
            ("absent", "`libNowhere.so` is not there; looked for "),
            ("no-note", "has no bghost note"),
            ("null-start", #"handler "succeed" has no start(). Set it"#),
            ("crash-in-constructor", "loading it ended its worker (SIGSEGV); look at its constr"),
            ("crash-in-entry", "loading it ended its worker (SIGSEGV); look at its constructors"),
            ("exit-in-constructor", "loading it ended its worker (exit 0); look at its constr"),
            ("fail-in-open", "open() answered -1234; the plugin's log says why"),
        ]
        var plugins: [String] = []
        for (name, _) in bad + [("good", "")] {
            let library = name == "absent" ? "libNowhere.so" : try Fixture.library(name)
            plugins.append(#""\#(name)": {"library": "\#(library)"}"#)
        }
        let tasks = (bad.map(\.0) + ["good"]).map {
            #""\#($0)": {"plugin": "\#($0)", "handler": "succeed"}"#
        }
        let manifest = try folder.write(
            """
            {"version": 1, "plugins": {\(plugins.joined(separator: ",\n"))},
             "tasks": {\(tasks.joined(separator: ",\n"))}}
            """,
            to: "tasks.json"
        )
        let result = try Command.run([Artifact.path("bghost"), "check", "--config", manifest])
        #expect(result.exitCode == 78)
        let lines = result.output.split(separator: "\n")
        for (name, words) in bad {
            let line = lines.first { $0.contains("plugin \(name)  ") }
            #expect(line?.contains(words) == true, "\(name): \(result.output)")
        }
        let good = lines.first { $0.contains("plugin good  ") }
        #expect(good?.contains("test.good 1.0.0, ABI 1, 1 handler ") == true, "\(result.output)")
        #expect(lines.last == "\(bad.count) errors, 0 warnings")
    }

    @Test func `The runtime of Go is not loaded into the daemon`() throws {
        let folder = try TemporaryDirectory()
        let library = try Fixture.library("Checks/well-behaved", defines: ["LIKE_GO_FILE"])
        for (isolation, exitCode) in [("in-process", Int32(78)), ("worker", 0)] {
            let manifest = try folder.write(
                """
                {"version": 1,
                 "plugins": {"go": {"library": "\(library)", "isolation": "\(isolation)"}},
                 "tasks": {"work": {"plugin": "go", "handler": "work"}}}
                """,
                to: "tasks.json"
            )
            let result = try Command.run([Artifact.path("bghost"), "check", "--config", manifest])
            #expect(result.exitCode == exitCode, "\(result.output)\(result.error)")
            #expect(result.output.contains("has the runtime of Go") == (exitCode != 0))
        }
    }

    @Test(arguments: [
        (#""parameters": {"data": "hello", "crc": "no"}"#, "argument `crc`"),
        (#""parameters": {"dta": "hello"}"#, "did you mean `data`?"),
        (#""parameters": {"arguments": [0, "hello", 5, 6]}"#, "takes 3"),
        (#""parameters": {"data": "hello"}, "every": "1h""#, "is missing: give `\"crc\"`"),
        (#""parameters": {"data": "hello"}"#, nil),
        (#""parameters": {"crc": 0, "data": "hello"}, "every": "1h""#, nil),
        (#""submitAtStart": false"#, nil),
    ])
    func `Parameters that do not fit the signature of a function are refused`(
        fields: String,
        problem: String?
    ) throws {
        let folder = try TemporaryDirectory()
        let manifest = try folder.write(
            """
            {"version": 1,
             "functions": {"checksum": {
               "library": "libc.so.6", "symbol": "labs",
               "signature": "ulong(crc: ulong, data: bytes, n: uint = lengthOf(data))"}},
             "tasks": {"sum": {"function": "checksum", \(fields)}}}
            """,
            to: "tasks.json"
        )
        let result = try Command.run([Artifact.path("bghost"), "check", "--config", manifest])
        #expect(result.exitCode == (problem == nil ? 0 : 78), "\(result.output)")
        #expect(result.output.contains("error[BG1054]") == (problem != nil), "\(result.output)")
        if let problem { #expect(result.output.contains(problem), "\(result.output)") }
    }

    private static func goodManifest(_ folder: TemporaryDirectory, _ plugin: String = "") throws
        -> String
    {
        try folder.write(
            """
            {"version": 1,
             "plugins": {"good": {"library": "\(try Fixture.library("good"))"\(plugin)}},
             "tasks": {"t": {"plugin": "good", "handler": "succeed"}}}
            """,
            to: "tasks.json"
        )
    }

    @Test func `A check reports what limits the memory of workers, like the doctor`() throws {
        let folder = try TemporaryDirectory()
        let manifest = try Self.goodManifest(folder)
        let check = [Artifact.path("bghost"), "check", "--config", manifest]
        let doctor = [Artifact.path("bghost"), "doctor", "--config", manifest]
        let checked = try JSONReader.parse(try Command.run(check + ["--json"]).output)
        let examined = try JSONReader.parse(try Command.run(doctor + ["--json"]).output)
        let memory = try #require(checked["memory"])
        #expect(memory.text == examined["memory"]?.text)
        let controllers = examined["controllers"]?.array?.compactMap(\.string) ?? []
        let keeper = controllers.contains("memory") ? "kernel" : "bghost"
        #expect(memory["heldBy"]?.string == keeper)
        let detail = try #require(memory["detail"]?.string)
        #expect(detail.contains("cgroup v"), "\(detail)")
        #expect(detail.contains("RLIMIT_AS") == (keeper == "bghost"), "\(detail)")
        for command in [check, doctor] {
            let lines = try Command.run(command).output.split(separator: "\n")
            #expect(lines.count { $0.hasSuffix(detail) } == 1, "\(lines)")
        }
    }

    @Test func `A limit above the system's descriptors is a warning`() throws {
        let folder = try TemporaryDirectory()
        let manifest = try Self.goodManifest(
            folder,
            #", "runsPerWorker": 200, "limits": {"descriptors": 200}"#
        )
        let check = [Artifact.path("bghost"), "check", "--config", manifest]
        let few = try Command.run(["prlimit", "--nofile=300:300"] + check)
        #expect(few.exitCode == 0, "\(few.output)")
        #expect(
            few.output.contains("its workers get 300 descriptors instead of the 399 that"),
            "\(few.output)"
        )
        #expect(few.output.hasSuffix("0 errors, 1 warning\n"), "\(few.output)")
        let strict = try Command.run(["prlimit", "--nofile=300:300"] + check + ["--deny-warnings"])
        #expect(strict.exitCode == 78)
        let json = try JSONReader.parse(
            try Command.run(["prlimit", "--nofile=300:300"] + check + ["--json"]).output
        )
        #expect(json["warnings"]?.int64 == 1)
        #expect(json["plugins"]?.array?.first?["warning"]?.string?.contains("cancel_fd") == true)
        let enough = try Command.run(["prlimit", "--nofile=399:399"] + check + ["--deny-warnings"])
        #expect(enough.exitCode == 0, "\(enough.output)")
    }

    @Test func `A runtime that exceeds its interval is a warning`() throws {
        let folder = try TemporaryDirectory()
        let manifest = try folder.write(
            """
            {"version": 1,
             "plugins": {"good": {"library": "\(try Fixture.library("good"))"}},
             "tasks": {"t": {"plugin": "good", "handler": "succeed", "every": "10s",
                             "limits": {"runtime": "1m"}}}}
            """,
            to: "tasks.json"
        )
        let check = [Artifact.path("bghost"), "check", "--config", manifest]
        let result = try Command.run(check)
        #expect(result.exitCode == 0, "\(result.output)")
        #expect(result.output.contains("warning[BG1062]"), "\(result.output)")
        #expect(try Command.run(check + ["--deny-warnings"]).exitCode == 78)
    }
}
