// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostModel
import BghostTestSupport
import Testing

/// `bghost run --record` and `bghost replay`.
@Suite(.ownThreads) struct ReplayTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private var journal: String { folder.file("journal") }
    private let manifest = PackageRoot.path + "/Examples/functions/tasks.json"

    /// A daemon's morning: runs, a submission that is replaced, one that is withdrawn.
    private func record() throws {
        let daemon = try TestDaemon(
            manifest: manifest,
            folder: folder,
            arguments: ["--record", journal]
        )
        for arguments in [
            ["trigger", "com.example.checksum", "--wait"],
            ["submit", "com.example.divide", "--earliest", "+1h"],
            ["submit", "com.example.divide", "--earliest", "+2h"],
            ["cancel", "com.example.divide"],
            ["submit", "com.example.is-complete-sql"],
            ["trigger", "com.example.host-name", "--wait"],
        ] {
            let answer = try daemon.command(arguments)
            #expect(answer.exitCode == 0, "\(arguments): \(answer.error)")
        }
        #expect(daemon.stop() == 0)
    }

    private func replay(_ arguments: String...) throws -> Command.Result {
        try Command.run(
            [Artifact.path("bghost"), "replay", journal, "--config", manifest] + arguments
        )
    }

    @Test(.timeLimit(.minutes(5)))
    func `Replay repeats the decisions of a daemon`() throws {
        try record()
        let answer = try replay("--json")
        #expect(answer.exitCode == 0, "\(answer.error)")
        let json = try JSONReader.parse(Array(answer.output.utf8))
        #expect(Int(json["decisions"]?.text ?? "") ?? 0 >= 10)
        // Only its owner reads what requests carried.
        #expect(try File.mode(journal) == 0o600)
    }

    /// The order of a set differs from process to process.
    @Test(.timeLimit(.minutes(5)))
    func `A manifest with lists is the same one in every process`() throws {
        let layers = SandboxLayer.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
        let manifest = try folder.write(
            """
            {"version": 1, "host": {"require": [\(layers)]},
             "plugins": {"p": {"library": "absent.so", "require": [\(layers)],
                               "permissions": {"submit": ["a", "b"]}}},
             "tasks": {"a": {"plugin": "p", "every": "1h"}, "b": {"plugin": "p"}}}
            """,
            to: "tasks.json"
        )
        let daemon = try TestDaemon(
            manifest: manifest,
            folder: folder,
            arguments: ["--record", journal]
        )
        #expect(try daemon.command(["submit", "b", "--earliest", "+1h"]).exitCode == 0)
        #expect(daemon.stop() == 0)
        for _ in 0..<5 {
            let answer = try Command.run([
                Artifact.path("bghost"), "replay", journal, "--config", manifest,
            ])
            #expect(answer.exitCode == 0, "\(answer.error)")
        }
    }

    /// It was made before events, decisions and their properties were renamed.
    @Test(.timeLimit(.minutes(5)))
    func `A recording of an older version is replayed`() throws {
        let recording = PackageRoot.path + "/Tests/Fixtures/Recordings/0.1.0"
        let folder = try TemporaryDirectory()
        let text = String(decoding: try File.read(recording + "/decisions.jsonl"), as: UTF8.self)
        // Then the clock is set, and the request of a future start was replaced: adr/0754.
        let lines = text.split(separator: "\n").prefix(66)
        try folder.write(lines.joined(separator: "\n") + "\n", to: "decisions.jsonl")
        let answer = try Command.run([
            Artifact.path("bghost"), "replay", folder.file("decisions.jsonl"),
            "--config", recording + "/before.json", "--config", recording + "/after.json",
        ])
        #expect(answer.exitCode == 0, "\(answer.error)")
        #expect(answer.output == "37 decisions, all the same\n")
    }

    @Test(.timeLimit(.minutes(5)))
    func `Replay names a decision that differs`() throws {
        try record()
        let text = String(decoding: try File.read(journal), as: UTF8.self)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: true)
        // Leaves out that the first request was stored.
        let stored = try #require(lines.firstIndex { $0.contains(#""isStored":true"#) })
        let cut = lines[..<stored] + lines[(stored + 1)...]
        let other = folder.file("other")
        try File.write((cut.joined(separator: "\n") + "\n").utf8, to: other)
        let answer = try Command.run([
            Artifact.path("bghost"), "replay", other, "--config", manifest,
        ])
        #expect(answer.exitCode == 1)
        #expect(answer.error.contains("line "), "\(answer.error)")
        #expect(answer.error.contains("comes out otherwise"), "\(answer.error)")
    }

    @Test(.timeLimit(.minutes(5)))
    func `Replay distinguishes another manifest, another file and a torn line`() throws {
        try record()
        let other = try Command.run([
            Artifact.path("bghost"), "replay", journal, "--config",
            PackageRoot.path + "/Config/tasks.json",
        ])
        #expect(other.exitCode == 1)
        #expect(other.error.contains("is not the manifest"))
        let wrong = try Command.run([
            Artifact.path("bghost"), "replay", manifest, "--config", manifest,
        ])
        #expect(wrong.exitCode == 1)
        #expect(wrong.error.contains("cannot be read"))
        let absent = try Command.run([
            Artifact.path("bghost"), "replay", folder.file("absent"), "--config", manifest,
        ])
        #expect(absent.exitCode == 66)

        // A daemon that was killed leaves half a line, which is no fault.
        let bytes = try File.read(journal)
        let half = folder.file("half")
        try File.write(bytes.dropLast(bytes.count / 4), to: half)
        let answer = try Command.run([
            Artifact.path("bghost"), "replay", half, "--config", manifest,
        ])
        #expect(answer.exitCode == 0, "\(answer.error)")
    }
}
