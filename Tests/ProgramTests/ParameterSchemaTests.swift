// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostTestSupport
import Glibc
import Testing

/// Schemas of parameters with the real daemon, its commands, and plugins in C and Swift.
@Suite(.ownThreads, .timeLimit(.minutes(10))) struct ParameterSchemaTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    /// - Parameter strict: the keys of the task `strict`, besides its plugin.
    private func manifest(
        strict: String = "",
        defines: [String] = [],
        plugin: String? = nil
    ) throws -> String {
        let library = try plugin ?? Fixture.library("schemas", defines: defines)
        let swift = Artifact.path("libRuntimePlugin.so")
        return try folder.write(
            """
            {"version": 1,
             "plugins": {"schemas": {"library": "\(library)", "maxPending": {"refresh": 1000}},
                         "runtime": {"library": "\(swift)"}},
             "tasks": {
               "strict": {"plugin": "schemas"\(strict)},
               "free": {"plugin": "schemas"},
               "lie": {"plugin": "schemas"},
               "broken": {"plugin": "schemas"},
               "submit": {"plugin": "schemas"},
               "print": {"plugin": "runtime"}}}
            """,
            to: "tasks.json"
        )
    }

    /// The faults of a refused command; fails unless it was refused for its parameters.
    private func refusal(_ result: Command.Result) throws -> [String] {
        let error = try JSONReader.parse(result.output)["error"]
        #expect(result.exitCode == 64, "\(result.output)\(result.error)")
        #expect(error?["code"]?.string == "BG4033", "\(result.output)")
        return (error?["candidates"]?.array ?? []).compactMap(\.string)
    }

    @Test func `Wrong parameters are refused when they are submitted`() throws {
        let daemon = try TestDaemon(manifest: try manifest(), folder: folder)
        func trigger(_ task: String, _ parameters: String?) throws -> Command.Result {
            try daemon.command(
                ["trigger", task, "--wait", "--json"]
                    + (parameters.map { ["--parameters", $0] } ?? [])
            )
        }
        // The first submission waits until the schemas are known.
        #expect(
            try refusal(trigger("strict", #"{"path":"","retries":12,"mode":"big","unknown":1}"#))
                == [
                    "parameters /path: a string of 0 characters; at least 1 are wanted",
                    "parameters /retries: 12 is above the maximum 10",
                    #"parameters /mode: a string is there; one of "fast", "small" is wanted"#,
                    "parameters /unknown: there is no such parameter",
                ]
        )
        #expect(
            try refusal(trigger("strict", nil)) == [
                "parameters /path: it is missing; a string is wanted"
            ]
        )
        let right = try trigger("strict", #"{"path":"/x","retries":10}"#)
        #expect(right.exitCode == 0, "\(right.output)\(right.error)")
        let submitted = try daemon.command(
            ["submit", "strict", "--json", "--parameters", #"{"path":1}"#]
        )
        #expect(
            try refusal(submitted) == ["parameters /path: 1 is there; a string is wanted"]
        )
        // Without a schema, with one that cannot be used, and with one that lies, the handler decides.
        for task in ["free", "broken"] {
            #expect(try trigger(task, #"{"any":[1]}"#).exitCode == 0)
        }
        #expect(try trigger("lie", #"{"items":{}}"#).exitCode == 1)
        #expect(try refusal(trigger("lie", #"{"items":["x"]}"#)).count == 1)
        #expect(
            daemon.program.line(
                containing: "handler `broken` are not checked, its schema cannot be used: /typ"
            ) != nil
        )
        // People see each fault on a line of its own.
        let text = try daemon.command(["trigger", "strict", "--parameters", #"{"path":7,"a":1}"#])
        #expect(text.error.contains("error[BG4033]: the parameters of strict do not fit"))
        #expect(text.error.contains("\n  parameters /path: 7 is there; a string is wanted\n"))
        #expect(daemon.stop() == 0)
    }

    @Test func `A plugin in Swift declares its parameters by their type`() throws {
        let daemon = try TestDaemon(manifest: try manifest(), folder: folder)
        let wrong = try daemon.command(
            ["trigger", "print", "--json", "--parameters", #"{"lines":"two","last":3}"#]
        )
        #expect(
            try refusal(wrong) == [
                "parameters /lines: a string is there; an integer is wanted",
                "parameters /last: 3 is there; a string or null is wanted",
            ]
        )
        let right = try daemon.command(
            ["trigger", "print", "--wait", "--parameters", #"{"lines":1,"last":null,"more":0}"#]
        )
        #expect(right.exitCode == 0, "\(right.output)\(right.error)")
        #expect(daemon.stop() == 0)
    }

    @Test func `Deep and huge parameters get an answer`() throws {
        let daemon = try TestDaemon(manifest: try manifest(), folder: folder)
        func trigger(_ parameters: String) throws -> Command.Result {
            let file = try folder.write(parameters, to: "parameters.json")
            return try daemon.command(
                ["trigger", "strict", "--wait", "--json", "--parameters", "@" + file]
            )
        }
        func tree(_ depth: Int, _ end: String = "{}") -> String {
            let open = String(repeating: #"{"a":"#, count: depth)
            return #"{"path":"x","tree":"# + open + end + String(repeating: "}", count: depth)
                + "}"
        }
        #expect(try trigger(tree(50)).exitCode == 0)
        let fault = try refusal(trigger(tree(50, "1")))
        #expect(
            fault == [
                "parameters /tree" + String(repeating: "/a", count: 50)
                    + ": 1 is there; an object is wanted"
            ]
        )
        #expect(try trigger(tree(100)).exitCode != 0)
        let members = (0..<4000).map { #""k\#($0)":1"# }.joined(separator: ",")
        let many = try refusal(trigger(#"{"path":"x",\#(members)}"#))
        #expect(many.count == 20 && many.last == "parameters: 3981 more places do not fit")
        #expect(daemon.stop() == 0)
    }

    @Test func `A plugin's own submissions are checked`() throws {
        let daemon = try TestDaemon(manifest: try manifest(), folder: folder)
        func submit(_ parameters: String) throws -> String? {
            let outer = JSONNode(
                .object([JSONMember(key: "params", value: JSONNode(.string(parameters)))])
            )
            let run = try daemon.command(
                ["trigger", "submit", "--wait", "--json", "--parameters", outer.text]
            )
            return try JSONReader.parse(run.output)["run"]?["result"]?["status"]?.text
        }
        #expect(try submit(#"{"path":"x"}"#) == "0")
        #expect(try submit(#"{"path":"x","retries":12}"#) == "-12", "BG_E_ARG")
        #expect(
            daemon.program.line(containing: "parameters /retries: 12 is above the maximum 10")
                != nil
        )
        #expect(daemon.stop() == 0)
    }

    @Test func `A plugin that does not ask for checks gets all parameters`() throws {
        let path = try manifest(defines: ["NOTHING_CHECKED"])
        let daemon = try TestDaemon(manifest: path, folder: folder)
        let run = try daemon.command(
            ["trigger", "strict", "--wait", "--parameters", #"{"retries":12}"#]
        )
        #expect(run.exitCode == 0, "\(run.output)\(run.error)")
        #expect(daemon.stop() == 0)
    }

    @Test func `The manifest's schema holds besides that of the handler`() throws {
        let path = try manifest(
            strict: #", "parametersSchema": {"properties": {"retries": {"maximum": 3}}}"#
        )
        let daemon = try TestDaemon(manifest: path, folder: folder)
        let wrong = try daemon.command(
            ["trigger", "strict", "--json", "--parameters", #"{"retries":5}"#]
        )
        #expect(
            try refusal(wrong) == [
                "parameters /retries: 5 is above the maximum 3",
                "parameters /path: it is missing; a string is wanted",
            ]
        )
        #expect(daemon.stop() == 0)
    }

    @Test func `check and reload refuse a task whose parameters do not fit`() throws {
        let daemon = try TestDaemon(
            manifest: try manifest(strict: #", "parameters": {"retries": 1}"#),
            folder: folder
        )
        // A task that is not submitted by itself may leave the rest to its requests.
        let path = folder.file("tasks.json")
        let partial = try Command.run([Artifact.path("bghost"), "check", "--config", path])
        #expect(partial.exitCode == 0, "\(partial.output)\(partial.error)")
        for (keys, fault) in [
            (#", "parameters": {"retries": 12}"#, "/retries: 12 is above the maximum 10"),
            (#", "every": "1h""#, "/path: it is missing; a string is wanted"),
        ] {
            _ = try manifest(strict: keys)
            let checked = try Command.run([Artifact.path("bghost"), "check", "--config", path])
            #expect(checked.exitCode == 78, "\(checked.output)")
            #expect(
                checked.output.contains("tasks.json:5:4: task `strict` has wrong parameters")
                    && checked.output.contains(fault),
                "\(checked.output)"
            )
            let reloaded = try daemon.command(["reload"])
            #expect(reloaded.exitCode == 78 && reloaded.error.contains(fault), "\(reloaded)")
        }
        // With a schema of the manifest, the place is that of the value.
        _ = try manifest(
            strict: """
                , "parameters": {
                    "retries": 5},
                  "parametersSchema": {"properties": {"retries": {"maximum": 3}}}
                """
        )
        let checked = try Command.run([Artifact.path("bghost"), "check", "--config", path])
        #expect(checked.output.contains("error[BG1059]"), "\(checked.output)")
        #expect(checked.output.contains("tasks.json:6:16"), "\(checked.output)")
        #expect(daemon.stop() == 0)
    }

    @Test func `A request that was stored before the schema changed runs`() throws {
        let library = folder.file("libschemas.so")
        _ = try Command.run(["cp", try Fixture.library("schemas"), library])
        let path = try manifest(plugin: library)
        let daemon = try TestDaemon(manifest: path, folder: folder, arguments: ["--dev"])
        let stored = try daemon.command(
            ["submit", "strict", "--earliest", "+1h", "--parameters", #"{"path":"x"}"#]
        )
        #expect(stored.exitCode == 0, "\(stored.output)\(stored.error)")
        let next = try Fixture.library("schemas", defines: ["VERSION=2"])
        _ = try Command.run(["cp", next, library + ".new"])
        #expect(rename(library + ".new", library) == 0)
        #expect(try daemon.command(["reload"]).exitCode == 0)
        let again = try daemon.command(
            ["submit", "strict", "--json", "--parameters", #"{"path":"x"}"#]
        )
        #expect(
            try refusal(again) == ["parameters /owner: it is missing; a value is wanted"]
        )
        #expect(try daemon.command(["simulate", "clock", "+2h"]).exitCode == 0)
        var runs = ""
        while !runs.contains("succeeded") {
            runs = try daemon.command(["runs", "strict", "--json"]).output
        }
        #expect(runs.contains(#""path":"x""#), "\(runs)")
        #expect(daemon.stop() == 0)
    }

    @Test func `inspect --load shows the schemas, and plugin run refuses what does not fit`() throws
    {
        let library = try Fixture.library("schemas")
        let bghost = Artifact.path("bghost")
        let inspected = try Command.run([bghost, "plugin", "inspect", "--load", "--json", library])
        let answer = try JSONReader.parse(inspected.output)
        #expect(answer["checksParameters"]?.bool == true, "\(inspected)")
        let handlers = answer["handlers"]?.array ?? []
        #expect(
            handlers.map { $0["name"]?.string } == ["strict", "free", "lie", "broken", "submit"]
        )
        #expect(handlers.first?["parametersSchema"]?["required"]?.text == #"["path"]"#)
        #expect(handlers[1]["parametersSchema"]?.isNull == true)
        #expect(handlers[3]["problem"]?.string?.contains("did you mean `type`?") == true)
        let text = try Command.run([bghost, "plugin", "inspect", "--load", library])
        #expect(text.output.contains("lie  checked: {\"properties\""), "\(text.output)")
        #expect(text.output.contains("free  no schema"), "\(text.output)")

        let run = try Command.run(
            [bghost, "plugin", "run", library, "strict", "--json"]
                + ["--parameters", #"{"path":"x","retries":12}"#]
        )
        #expect(run.exitCode == 64 && run.output.contains("BG4033"), "\(run)")
        let checked = try Command.run([bghost, "plugin", "check", "--check", "schema", library])
        #expect(checked.exitCode == 1 && checked.output.contains("did you mean `type`?"))
    }
}
