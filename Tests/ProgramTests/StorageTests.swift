// SPDX-License-Identifier: Apache-2.0

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
}
