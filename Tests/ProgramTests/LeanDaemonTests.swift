// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostTestSupport
import Glibc
import Testing

/// A daemon whose user may have no more processes.
@Suite(.ownThreads, .enabled(if: geteuid() == 0, "only root can run the daemon as another user"))
struct LeanDaemonTests {
    /// A user of this test alone, because the kernel counts all processes of a user.
    private let user = "\(54_400 + getpid() % 1000)"

    /// Of fewer threads the runtime would wait for ever, without a word, and the network would crash.
    @Test(.timeLimit(.minutes(5)), arguments: [1, 2, 3, 5, 8, 9, 10, 12, 16])
    func `The daemon refuses to start if its user may have no threads`(threads: Int) throws {
        let folder = try TemporaryDirectory()
        let other = try #require(UInt32(user)) + 1000 + UInt32(threads)
        try #require(chown(folder.path, other, other) == 0 && chmod(folder.path, 0o755) == 0)
        let manifest = try folder.write(
            """
            {"version": 1,
             "plugins": {"witness": {"library": "\(try Fixture.library("misbehave"))"}},
             "tasks": {"echo": {"plugin": "witness"}}}
            """,
            to: "tasks.json"
        )
        let id = "\(other)"
        let start = [
            "setpriv", "--reuid", id, "--regid", id, "--clear-groups", "prlimit",
            "--nproc=\(threads)", Artifact.path("bghost"), "--config", manifest, "--state-dir",
            folder.file("state"),
        ]
        let end = try Command.run(start)
        #expect(end.exitCode == 75, "\(end)")
        #expect(end.error.contains("bghost needs 16 threads"), "\(end.error)")
        #expect(end.error.contains("ulimit -u"), "\(end.error)")
        #expect(access(folder.file("state"), F_OK) != 0, "it was made for nothing")
    }

    /// A check that cannot be made is not passed, and is no fault of the plugin.
    @Test(.timeLimit(.minutes(5)))
    func `A check of a plugin needs threads too`() throws {
        let id = "\((UInt32(user) ?? 0) + 2000)"
        let check = [Artifact.path("bghost"), "plugin", "check", try Fixture.library("good")]
        for threads in [17, 18, 20, 24] {
            let end = try Command.run(
                ["setpriv", "--reuid", id, "--regid", id, "--clear-groups", "prlimit"]
                    + ["--nproc=\(threads)"] + check
            )
            #expect([0, 1, 75].contains(end.exitCode), "\(threads): \(end)")
            // Whatever failed, failed for want of threads.
            guard end.exitCode != 0 else { continue }
            let text = end.output + end.error
            #expect(
                text.contains("no thread for it") || text.contains("temporarily unavailable"),
                "\(threads): \(text)"
            )
        }
    }

    private func prlimit(_ daemon: TestDaemon, _ limit: String) throws {
        // Root itself may lack the right to set limits of others.
        let end = try Command.run(
            become + ["prlimit", "--pid", "\(daemon.program.pid)", "--nproc=\(limit):"]
        )
        try #require(end.exitCode == 0, "\(end.error)")
    }

    private var become: [String] {
        ["setpriv", "--reuid", user, "--regid", user, "--clear-groups"]
    }

    @Test(.timeLimit(.minutes(5)))
    func `A run that lacks processes waits for them and is not lost`() throws {
        let folder = try TemporaryDirectory()
        let id = try #require(UInt32(user))
        try #require(chown(folder.path, id, id) == 0 && chmod(folder.path, 0o755) == 0)
        let manifest = try folder.write(
            """
            {"version": 1,
             "plugins": {"witness": {"library": "\(try Fixture.library("misbehave"))"}},
             "tasks": {"echo": {"plugin": "witness"}}}
            """,
            to: "tasks.json"
        )
        let daemon = try TestDaemon(manifest: manifest, folder: folder, prefix: become)
        // It has more than one by now, which stay.
        try prlimit(daemon, "1")
        #expect(try daemon.command(["submit", "echo"]).exitCode == 0)
        let line = daemon.program.line(containing: "no worker could be started")
        #expect(line?.contains("next worker start delayed") == true, "\(daemon.program.lines)")
        try prlimit(daemon, "500")
        #expect(daemon.program.line(containing: "echo succeeded") != nil)
        let runs = try JSONReader.parse(try daemon.command(["runs", "echo", "--json"]).output)
        let outcomes = runs["runs"]?.array?.compactMap { $0["outcome"]?.string } ?? []
        #expect(outcomes.first == "succeeded")
        #expect(outcomes.count > 1 && outcomes.dropFirst().allSatisfy { $0 == "lost" })
        #expect(daemon.stop() == 0)
    }
}
