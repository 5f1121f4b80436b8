// SPDX-License-Identifier: Apache-2.0

import BghostTestSupport
import Glibc
import Testing

private let mayMount = (try? Command.run(["unshare", "--mount", "true"]).exitCode) == 0

/// `bghost run --record` on a disk that becomes full, while the state is on another one.
@Suite(.ownThreads, .enabled(if: mayMount, "mounting needs root"))
struct RecordingTests {
    private let folder: TemporaryDirectory
    private let small: String
    /// The mount lives as long as this does.
    private let holder: RunningProgram

    init() throws {
        folder = try TemporaryDirectory()
        small = folder.file("small")
        try #require(mkdir(small, 0o700) == 0)
        holder = try RunningProgram(command: [
            "unshare", "--mount", "sh", "-ec",
            "mount -t tmpfs -o size=64k,mode=700 none \(small); echo mounted >&2; exec sleep 600",
        ])
        try #require(holder.line(containing: "mounted") != nil)
    }

    @Test(.timeLimit(.minutes(10)))
    func `A recording ends at the first write that fails, and can be replayed`() throws {
        let manifest = try folder.write(
            """
            {"version": 1,
             "plugins": {"misbehave": {"library": "\(try Fixture.library("misbehave"))",
                                       "maxPending": {"refresh": 1000}}},
             "tasks": {"later.*": {"plugin": "misbehave", "handler": "succeed"}}}
            """,
            to: "tasks.json"
        )
        let daemon = try TestDaemon(
            manifest: manifest,
            folder: folder,
            arguments: ["--record", "\(small)/journal"],
            prefix: ["nsenter", "--mount", "--target", String(holder.pid)]
        )
        let note = #"{"note":"\#(String(repeating: "x", count: 20_000))"}"#
        // Four of them exceed the disk; the daemon accepts those after it too.
        for number in 0..<6 {
            let answer = try daemon.command([
                "submit", "later.\(number)", "--earliest", "+1h", "--parameters", note,
            ])
            #expect(answer.exitCode == 0, "\(answer.error)")
        }
        let line = try #require(daemon.program.line(containing: "the recording"))
        #expect(line.contains("No space left on device"), "\(line)")
        // There is room again, which the recording does not use: it would have a gap.
        let answer = try daemon.command(["submit", "later.6", "--earliest", "+1h"])
        #expect(answer.exitCode == 0, "\(answer.error)")
        #expect(daemon.stop() == 0)
        daemon.program.readAll()
        #expect(daemon.program.lines.count { $0.contains("the recording") } == 1)
        let journal = try File.read("/proc/\(holder.pid)/root\(small)/journal")
        #expect(journal.last == UInt8(ascii: "\n"))
        #expect(journal.count <= 64 << 10)
        let whole = try folder.write(journal, to: "journal")
        let replay = try Command.run([
            Artifact.path("bghost"), "replay", whole, "--config", manifest,
        ])
        #expect(replay.exitCode == 0, "\(replay.error)")
    }
}
