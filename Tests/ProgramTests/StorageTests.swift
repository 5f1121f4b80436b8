// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostTestSupport
import Glibc
import Testing

/// The daemon's messages and actions when its disk fails.
@Suite(.ownThreads) struct StorageTests {
    private let folder: TemporaryDirectory
    private let bghost = Artifact.path("bghost")

    init() throws {
        folder = try TemporaryDirectory()
    }

    private func manifest() throws -> String {
        try folder.write(
            """
            {"version": 1,
             "plugins": {"overrun": {"library": "libOverrun.so"}},
             "tasks": {"a": {"plugin": "overrun", "handler": "overrun.ignore-cancel"}}}
            """,
            to: "tasks.json"
        )
    }

    /// A daemon does not begin with nothing where there was something.
    @Test(.timeLimit(.minutes(5)), arguments: ["bghost.sqlite", "bghost.sqlite-wal"])
    func `A damaged store is named and left as it is`(file: String) throws {
        let daemon = try TestDaemon(manifest: try manifest(), folder: folder)
        for _ in 0..<3 {
            #expect(try daemon.command(["submit", "a", "--earliest", "+1h"]).exitCode == 0)
        }
        if file.hasSuffix("-wal") {
            // The log is there only while a daemon is, or after one that was killed.
            daemon.program.signal(SIGKILL)
            #expect(daemon.program.end() == -SIGKILL)
        } else {
            #expect(daemon.stop() == 0)
        }
        let path = daemon.state + "/" + file
        var bytes = try File.read(path)
        try #require(bytes.count > 8192)
        for offset in stride(from: 4000, to: bytes.count - 4096, by: 2048) { bytes[offset] ^= 0x5A }
        try File.write(bytes, to: path)

        let second = try Command.run([
            bghost, "--config", try manifest(), "--state-dir", daemon.state,
        ])
        #expect(second.exitCode != 0 && second.exitCode != nil, "\(second)")
        let said = second.error + second.output
        #expect(said.contains(daemon.state + "/bghost.sqlite"), "\(said)")
        #expect(said.contains("bghost backup"), "\(said)")
        #expect(try File.read(path) == bytes)
    }

    /// As by a program that tidies up folders for temporary files.
    @Test(
        .timeLimit(.minutes(5)),
        arguments: [
            ["bghost.sqlite", "bghost.sqlite-wal", "bghost.sqlite-shm"], ["bghost.sqlite-wal"],
        ]
    )
    func `What is submitted after the store's files were removed is refused`(
        files: [String]
    ) throws {
        let daemon = try TestDaemon(manifest: try manifest(), folder: folder)
        #expect(try daemon.command(["submit", "a", "--earliest", "+1h"]).exitCode == 0)
        for file in files { try #require(unlink(daemon.state + "/" + file) == 0) }
        for _ in 0..<2 {
            let refused = try daemon.command(["submit", "a", "--earliest", "+2h"])
            #expect(refused.exitCode != 0 && refused.error.contains("was removed"), "\(refused)")
            #expect(refused.error.contains("bghost restore"), "\(refused.error)")
        }
        let status = try daemon.command(["status"])
        #expect(status.exitCode == 5, "\(status)")
        #expect(status.output.contains("the store has been failing since"), "\(status.output)")
        #expect(try daemon.command(["health"]).exitCode != 0)
        daemon.program.signal(SIGKILL)
        #expect(daemon.program.end() == -SIGKILL)
    }

    @Test(.timeLimit(.minutes(5)))
    func `A state directory that was moved away and back has all that was accepted`() throws {
        let control = folder.file("control.sock")
        let options = ["--control", control]
        let first = try TestDaemon(manifest: try manifest(), folder: folder, arguments: options)
        func bghost(_ words: [String]) throws -> Command.Result {
            try Command.run([self.bghost] + words + options)
        }
        let accepted = try bghost(["submit", "a", "--earliest", "+1h", "--json"])
        #expect(accepted.exitCode == 0, "\(accepted)")
        let id = try #require(JSONReader.parse(accepted.output)["request"]?["id"]?.string)
        try #require(rename(first.state, first.state + ".moved") == 0)
        let refused = try bghost(["submit", "a", "--earliest", "+2h"])
        #expect(refused.exitCode != 0 && refused.error.contains("moved away"), "\(refused)")
        first.program.signal(SIGKILL)
        #expect(first.program.end() == -SIGKILL)

        try #require(rename(first.state + ".moved", first.state) == 0)
        let second = try TestDaemon(manifest: try manifest(), folder: folder, arguments: options)
        let pending = try bghost(["pending", "--json"])
        #expect(pending.output.contains(id), "\(pending)")
        #expect(second.stop() == 0)
    }
}
