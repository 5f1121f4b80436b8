// SPDX-License-Identifier: Apache-2.0

import BghostTestSupport
import Glibc
import Testing

/// What the daemon says and does when its disk fails it.
@Suite struct StorageTests {
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

    private static let mayMount =
        (try? Command.run(["unshare", "--mount", "true"]).exitCode) == 0

    /// Requests that find no room are refused with a reason, those that were accepted stay, and with
    /// room all goes on without a new start.
    @Test(.timeLimit(.minutes(1)), .enabled(if: mayMount, "mounting needs root"))
    func `A full disk refuses requests and loses none`() throws {
        let state = folder.file("state")
        try #require(mkdir(state, 0o700) == 0)
        let note = #"{"note":"\#(String(repeating: "x", count: 3000))"}"#
        // All in the mount namespace that has the disk; the shell waits for the daemon's word.
        let result = try Command.run([
            "unshare", "--mount", "sh", "-ec",
            """
            mount -t tmpfs -o size=4m none \(state)
            \(bghost) --config \(try manifest()) --state-dir \(state) --log-format text \
                2> \(folder.file("log")) &
            daemon=$!
            until grep -q 'listening on' \(folder.file("log")); do kill -0 $daemon; done
            submit() { \(bghost) submit a --earliest +1h --state-dir \(state) "$@"; }
            submit > /dev/null
            cat /dev/zero > \(state)/ballast || true
            submit --parameters '\(note)' > /dev/null 2> \(folder.file("refused")) \
                && echo accepted || echo refused
            \(bghost) pending --json --state-dir \(state) > \(folder.file("kept"))
            rm \(state)/ballast
            submit --parameters '\(note)' > /dev/null && echo accepted || echo refused
            kill -TERM $daemon
            wait $daemon && echo ended
            """,
        ])
        #expect(result.output == "refused\naccepted\nended\n", "\(result)")
        let refused = String(decoding: try File.read(folder.file("refused")), as: UTF8.self)
        #expect(refused.contains("could not be stored"), "\(refused)")
        #expect(refused.contains("free some room"), "\(refused)")
        let kept = String(decoding: try File.read(folder.file("kept")), as: UTF8.self)
        #expect(kept.contains(#""a""#) && !kept.contains("xxx"), "\(kept)")
    }

    /// A daemon does not begin with nothing where there was something.
    @Test(.timeLimit(.minutes(1)), arguments: ["bghost.sqlite", "bghost.sqlite-wal"])
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
