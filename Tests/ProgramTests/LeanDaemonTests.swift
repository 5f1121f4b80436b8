// SPDX-License-Identifier: Apache-2.0

import BghostCore
import BghostTestSupport
import Glibc
import Testing

/// A daemon whose user may have no more processes.
@Suite(.ownThreads, .enabled(if: geteuid() == 0, "only root can make somebody else the daemon"))
struct LeanDaemonTests {
    /// Nobody else's, as the kernel counts all processes of a user.
    private let user = "\(54_400 + getpid() % 1000)"

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

    @Test(.timeLimit(.minutes(1)))
    func `What cannot begin for want of processes waits for them, and is not lost`() throws {
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
        #expect(line?.contains("no worker of it is begun for") == true, "\(daemon.program.lines)")
        try prlimit(daemon, "500")
        #expect(daemon.program.line(containing: "echo succeeded") != nil)
        let runs = try JSONReader.parse(try daemon.command(["runs", "echo", "--json"]).output)
        let outcomes = runs["runs"]?.array?.compactMap { $0["outcome"]?.string } ?? []
        #expect(outcomes.first == "succeeded")
        #expect(outcomes.count > 1 && outcomes.dropFirst().allSatisfy { $0 == "lost" })
        #expect(daemon.stop() == 0)
    }
}
