// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostModel
import BghostTestSupport
import Glibc
import Testing

/// `bghost doctor`, here and on kernels that can do less, and what a daemon makes of the same.
@Suite(.ownThreads) struct DoctorTests {
    private static func doctor(
        _ manifest: String,
        without layers: [String] = []
    ) throws -> (exitCode: Int32?, json: JSONNode) {
        let folder = try TemporaryDirectory()
        let path = try folder.write(manifest, to: "tasks.json")
        var command = [Artifact.path("bghost"), "doctor", "--json", "--config", path]
        if !layers.isEmpty { command = [try shim()] + layers + ["--"] + command }
        let result = try Command.run(command)
        return (
            result.exitCode,
            try JSONReader.parse(Array(result.output.utf8), dialect: .strict)
        )
    }

    /// A program that starts another one in a world where system calls fail.
    private static func shim() throws -> String { try Fixture.program("deny") }

    private static func states(_ json: JSONNode) -> [String: String] {
        var states: [String: String] = [:]
        for layer in json["layers"]?.array ?? [] {
            if let name = layer["layer"]?.string { states[name] = layer["state"]?.string }
        }
        return states
    }

    @Test(.timeLimit(.minutes(5)))
    func `The doctor tests each sandbox layer in a worker`() throws {
        let (exitCode, json) = try Self.doctor(
            #"{"version": 1, "host": {"require": ["landlock", "seccomp", "no-new-privs"]}}"#
        )
        #expect(exitCode == 0)
        let states = Self.states(json)
        #expect(Set(states.keys) == Set(SandboxLayer.allCases.map(\.rawValue)))
        #expect(states["landlock"] == "holds" && states["seccomp"] == "holds")
        #expect(states["user"] == (geteuid() == 0 ? "holds" : "missing"))
        let trials = try #require(json["trials"]?.array)
        #expect(trials.count == 12)
        for trial in trials { #expect(trial["stopped"]?.bool == true, "\(trial.text)") }
    }

    @Test(
        .timeLimit(.minutes(5)),
        arguments: [
            ("landlock", ["landlock"]), ("namespaces", ["mounts", "network", "ipc"]),
        ]
    )
    func `The doctor reports a missing layer and fails if it is required`(
        denied: String,
        layers: [String]
    ) throws {
        let optional = try Self.doctor(#"{"version": 1}"#, without: [denied])
        #expect(optional.exitCode == 0)
        let states = Self.states(optional.json)
        for layer in layers { #expect(states[layer] == "missing", "\(layer)") }
        #expect(states["seccomp"] == "holds")
        let trials = try #require(optional.json["trials"]?.array)
        // Each act but two has more than one wall before it.
        let stopped = trials.count { $0["stopped"]?.bool == true }
        #expect(stopped >= trials.count - 2, "\(stopped)")

        let required = try Self.doctor(
            #"{"version": 1, "host": {"require": ["\#(layers[0])"]}}"#,
            without: [denied]
        )
        #expect(required.exitCode == 1)
        #expect(required.json["unmet"]?.array?.compactMap(\.string) == [layers[0]])
    }

    /// The doctor reports what the sandbox does not cover, and not only the documentation.
    @Test(.timeLimit(.minutes(5)), arguments: [[], ["namespaces"]])
    func `The doctor says which programs the loader can start`(denied: [String]) throws {
        let (_, json) = try Self.doctor(#"{"version": 1}"#, without: denied)
        let text = try #require(json["uncovered"]?.array?.first?.string)
        #expect(text.contains("limits.processes") && text.contains("dynamic loader"), "\(text)")
        let hasMounts = Self.states(json)["mounts"] == "holds"
        #expect(text.contains("/usr/lib/git-core") == hasMounts, "\(text)")
        #expect(text.contains("`mounts` does not hold") == !hasMounts, "\(text)")
        #expect(denied.isEmpty || !hasMounts)
    }

    @Test(.timeLimit(.minutes(5)))
    func `Without the kernel's rule the seccomp filter forbids writable code`() throws {
        let (exitCode, json) = try Self.doctor(
            #"{"version": 1, "host": {"require": ["write-xor-execute"]}}"#,
            without: ["mdwe"]
        )
        #expect(exitCode == 0)
        let layer = json["layers"]?.array?.first { $0["layer"]?.string == "write-xor-execute" }
        #expect(layer?["state"]?.string == "holds")
        #expect(layer?["detail"]?.string == "by the list of system calls")
        let trials = try #require(json["trials"]?.array)
        for trial in trials { #expect(trial["stopped"]?.bool == true, "\(trial.text)") }
    }

    @Test(.timeLimit(.minutes(5)))
    func `A daemon refuses a plugin whose sandbox is missing`() throws {
        let folder = try TemporaryDirectory()
        let library = try Fixture.library("good")
        let path = try folder.write(
            """
            {"version": 1, "plugins": {"p": {"library": "\(library)", "require": ["landlock"]}},
             "tasks": {"t": {"plugin": "p", "handler": "succeed"}}}
            """,
            to: "tasks.json"
        )
        let check = [Artifact.path("bghost"), "check", "--config", path]
        #expect(try Command.run(check).exitCode == 0)
        let result = try Command.run([try Self.shim(), "landlock", "--"] + check)
        #expect(result.exitCode == 78)
        #expect(
            result.output.contains(
                "the manifest requires layers of the sandbox that do not hold here: landlock"
            ),
            "\(result.output)"
        )
    }
}
