// SPDX-License-Identifier: Apache-2.0

import BghostLinux
import BghostTestSupport
import Glibc
import Testing

/// Whether a daemon that is started from here may find itself where it can hand a controller on.
private let mayHold: Bool = {
    guard let (controllers, group) = ControlGroup.detect() else { return false }
    return controllers.contains("cpu") && access("\(group)/cgroup.type", F_OK) != 0
}()

/// A limit that only the kernel can enforce, on a daemon without cgroups.
@Suite(
    .ownThreads,
    .enabled(if: !mayHold, "the kernel can hold it")
)
struct QuotaTests {
    private let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
    }

    private func daemon(_ arguments: [String] = []) throws -> TestDaemon {
        let manifest = try folder.write(
            """
            {"version": 1,
             "plugins": {"held": {"library": "\(try Fixture.library("misbehave"))",
                                  "limits": {"cpuQuota": "50%"}},
                         "witness": {"library": "\(try Fixture.library("misbehave"))"}},
             "tasks": {"echo": {"plugin": "held"},
                       "other": {"plugin": "witness", "handler": "echo"}}}
            """,
            to: "tasks.json"
        )
        return try TestDaemon(manifest: manifest, folder: folder, arguments: arguments)
    }

    @Test(.timeLimit(.minutes(5)))
    func `A daemon without cpu control runs no plugin with a cpuQuota, and says why`() throws {
        let daemon = try daemon()
        #expect(try daemon.command(["submit", "echo"]).exitCode == 0)
        #expect(try daemon.command(["trigger", "other", "--wait"]).exitCode == 0)
        let why = try daemon.command(["why", "echo"])
        #expect(why.output.contains("its limits.cpuQuota cannot be held"), "\(why.output)")
        #expect(try daemon.command(["runs", "echo", "--json"]).output.contains(#""runs":[]"#))
        #expect(daemon.stop() == 0)
        #expect(daemon.program.line(containing: "its limits.cpuQuota cannot be held") != nil)
    }

    @Test(.timeLimit(.minutes(5)))
    func `With --dev the daemon runs the plugin without its quota, and logs this`() throws {
        let daemon = try daemon(["--dev"])
        #expect(daemon.program.line(containing: "limits.cpuQuota cannot be held") != nil)
        #expect(try daemon.command(["trigger", "echo", "--wait"]).exitCode == 0)
        #expect(daemon.stop() == 0)
    }
}
