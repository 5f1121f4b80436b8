// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostLinux
import BghostTestSupport
import Glibc
import Testing

/// The group from which a daemon can be given one of its own, with controllers to hand on.
private let root: String? = {
    guard let (controllers, group) = ControlGroup.detect(),
        controllers.isSuperset(of: ["cpu", "memory", "pids"]),
        access("\(group)/cgroup.type", F_OK) != 0, access(group, W_OK) == 0
    else { return nil }
    return group
}()

/// The daemon in a control group of its own, as in a unit with `Delegate=yes`; see `make kernels`.
@Suite(
    .ownThreads,
    .enabled(if: root != nil, "no controllers of cgroup v2 for memory and processors here")
)
struct HeldDaemonTests {
    private let folder: TemporaryDirectory
    private let group: String

    init() throws {
        folder = try TemporaryDirectory()
        group = try #require(root) + "/trial-\(getpid())-\(UInt32.random(in: 0 ... .max))"
    }

    private func daemon(_ limits: String, task: String, _ times: String) throws -> TestDaemon {
        let manifest = try folder.write(
            """
            {"version": 1,
             "plugins": {"hostile": {"library": "\(try Fixture.library("misbehave"))",
                                     "limits": {\(limits)}}},
             "tasks": {"\(task)": {"plugin": "hostile",
                                   "limits": {\(times)}}}}
            """,
            to: "tasks.json"
        )
        let enter = """
            for name in cpu memory pids; do echo +$name >"${0%/*}/cgroup.subtree_control"; done
            mkdir "$0" && echo $$ >"$0/cgroup.procs" && exec "$@"
            """
        return try TestDaemon(
            manifest: manifest,
            folder: folder,
            prefix: ["/bin/sh", "-c", enter, group]
        )
    }

    /// Removes what the daemon leaves: it moved into a group below its own, which it cannot remove.
    private func clean() {
        for child in (try? File.list(group)) ?? [] {
            for inner in (try? File.list("\(group)/\(child)")) ?? [] {
                rmdir("\(group)/\(child)/\(inner)")
            }
            rmdir("\(group)/\(child)")
        }
        rmdir(group)
    }

    private func lastRun(_ task: String, _ daemon: TestDaemon) throws -> JSONNode {
        let runs = try JSONReader.parse(try daemon.command(["runs", task, "--json"]).output)
        return try #require(runs["runs"]?.array?.first)
    }

    @Test(.timeLimit(.minutes(5)))
    func `The daemon reports that cgroups limit its workers, and they do`() throws {
        defer { clean() }
        // It ignores its cancel and has a long grace: only the kernel limits it.
        let daemon = try daemon(#""memory": "64MiB""#, task: "allocate", #""grace": "25s""#)
        #expect(
            daemon.program.line(containing: "limits of cpu and memory and pids") != nil,
            "\(daemon.program.lines)"
        )
        let end = try daemon.command(["trigger", "allocate", "--wait"])
        #expect(end.exitCode != 0)
        let outcome = try lastRun("allocate", daemon)["outcome"]?.string
        #expect(outcome == "killed(memory)", "\(daemon.program.lines)")
        #expect(daemon.stop() == 0)
    }

    @Test(.timeLimit(.minutes(5)))
    func `A cpuQuota slows a run down`() throws {
        defer { clean() }
        let daemon = try daemon(
            #""cpuQuota": "20%""#,
            task: "spin",
            #""runtime": "3s", "grace": "100ms""#
        )
        _ = try daemon.command(["trigger", "spin", "--wait"])
        let run = try lastRun("spin", daemon)
        #expect(run["outcome"]?.string == "killed(graceExceeded)")
        let used = try #require(run["cpuSeconds"]?.double)
        // A fifth of its 3.1 s, and what a loaded plugin has used before it began.
        let lasted = try #require(run["durationSeconds"]?.double)
        #expect(used < 0.2 * lasted + 0.6, "\(used) s of \(lasted) s")
        #expect(daemon.stop() == 0)
    }
}
