// SPDX-License-Identifier: Apache-2.0

import BghostHost
import BghostModel
import BghostServices
import BghostTestSupport
import Glibc
import Testing

extension SeparateHosts {
    /// What runs leave behind.
    ///
    /// Each test is a process of its own, which adopts the orphans of its
    /// workers as a daemon does, and in which no other test opens or starts anything.
    @Suite struct ResidueTests {
        @Test(.timeLimit(.minutes(5)))
        func `A hundred mixed runs leave no descriptor, thread or process behind`() async {
            await #expect(processExitsWith: .success) {
                try await withLonelyDaemon(try mixedManifest()) { daemon in
                    // Create all objects that exist once before the measurement.
                    try await runMixed(daemon, rounds: 2)
                    let before = try await daemon.settled()
                    try await runMixed(daemon, rounds: 9)
                    expectNothingMore(try await daemon.settled(), than: before)
                }
                #expect(try Holdings().children.isEmpty)
            }
        }

        @Test(
            .timeLimit(.minutes(5)),
            arguments: ["crash-with-daemons", "fork-children", "succeed-with-daemons"]
        )
        func `Processes outside the worker's process group end with the run`(task: String) async {
            await #expect(processExitsWith: .success) { [task] in
                let manifest = try TestManifest.misbehave(limits: WorkerLimits(processes: 64))
                try await withLonelyDaemon(manifest) { daemon in
                    let run = try await daemon.begin(task)
                    if task == "fork-children" {
                        try await daemon.line(LogFilter(run: run.id)) {
                            $0.message.hasPrefix("forked ")
                        }
                        #expect(await daemon.host.expire(run: run.id))
                    }
                    let record = try await daemon.end(of: run)
                    let outcomes: [String: Outcome] = [
                        "crash-with-daemons": .crashed(.signalled(SIGSEGV)),
                        "fork-children": .killed(.graceExceeded),
                    ]
                    #expect(record.outcome == outcomes[task] ?? .succeeded)
                    let lines = daemon.log.entries(matching: LogFilter(run: run.id), limit: 100)
                    let children = lines.compactMap { line in
                        ["left ", "child "].lazy.compactMap { prefix in
                            line.message.hasPrefix(prefix)
                                ? Int32(line.message.dropFirst(prefix.count)) : nil
                        }.first
                    }
                    #expect(children.count == (task == "fork-children" ? 32 : 2), "\(children)")
                    for child in children { try await gone(child) }
                    #expect(try await daemon.run("witness.echo").outcome == .succeeded)
                    let next = try await daemon.run("succeed")
                    #expect(next.outcome == .succeeded && next.pid != record.pid)
                }
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A run that makes daemons without end is killed with all of them`() async {
            await #expect(processExitsWith: .success) {
                let manifest = try TestManifest.misbehave(limits: WorkerLimits(processes: 16))
                try await withLonelyDaemon(manifest) { daemon in
                    let record = try await daemon.runBesideOthers("daemonize-without-end")
                    #expect(record.outcome == .killed(.processes))
                    #expect(try await daemon.settled().children.isEmpty)
                }
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `Processes of a run continue while workers of other runs end`() async {
            await #expect(processExitsWith: .success) {
                let manifest = try TestManifest.misbehave(
                    limits: WorkerLimits(processes: 64),
                    slots: 4
                )
                try await withLonelyDaemon(manifest) { daemon in
                    let run = try await daemon.begin("run-with-daemons")
                    let filter = LogFilter(run: run.id)
                    var left: [Int32] = []
                    for await entry in daemon.follow(filter) where entry.message.hasPrefix("left ")
                    {
                        left.append(try #require(Int32(entry.message.dropFirst(5))))
                        if left.count == 2 { break }
                    }
                    for _ in 0..<5 {
                        let other = try await daemon.run("crash-in-start")
                        #expect(other.outcome == .crashed(.signalled(SIGSEGV)))
                        try await gone(try #require(other.pid))
                    }
                    #expect(left.allSatisfy(isAlive))
                    #expect(await daemon.host.expire(run: run.id))
                    #expect(try await daemon.end(of: run).outcome == .cancelledClean)
                    for process in left { try await gone(process) }
                }
            }
        }
    }
}

/// Every way in which a run ends, in workers, as a function and inside the daemon.
private func mixedManifest() throws -> Manifest {
    var manifest = try TestManifest.misbehave(
        runtime: .milliseconds(40),
        grace: .milliseconds(30),
        limits: WorkerLimits(memoryBytes: 64 << 20, processes: 8)
    )
    manifest.plugins.append(
        PluginDefinition(
            name: "inside",
            library: try Fixture.library("misbehave"),
            isolation: .inProcess
        )
    )
    for handler in ["echo", "honour-cancel", "fail"] {
        manifest.tasks.append(
            try TestManifest.task("inside.\(handler)", "inside", handler, nil)
        )
    }
    return manifest
}

private func runMixed(_ daemon: RunningHost, rounds: Int) async throws {
    let tasks = [
        "succeed", "fail", "echo", "honour-cancel-fd", "ignore-cancel", "crash-in-start",
        "write-rubbish", "close-descriptors", "fork-children", "flood-stdout",
        "witness.nap", "inside.echo", "inside.fail",
    ]
    for _ in 0..<rounds {
        for task in tasks { _ = try await daemon.run(task) }
    }
}
