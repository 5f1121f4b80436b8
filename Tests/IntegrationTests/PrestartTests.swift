// SPDX-License-Identifier: Apache-2.0

@testable import BghostAPI
import BghostConfiguration
@testable import BghostHost
@testable import BghostModel
import BghostTestSupport
import Glibc
import Testing

extension Integration {
    /// Workers that are started ahead of their runs.
    @Suite struct PrestartTests {
        @Test(.timeLimit(.minutes(5)))
        func `The first run gets a prestarted worker`() async throws {
            let manifest = try TestManifest.misbehave(prestart: 2)
            try await withDaemon(manifest) { daemon in
                let idle = try await daemon.readyWorkers(2)
                #expect(await Set(daemon.workers(of: "misbehave")) == Set(idle))
                let run = try await daemon.run("echo")
                #expect(run.outcome == .succeeded)
                #expect(idle.contains(try #require(run.pid)))
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A prestarted worker in use by a long run is replaced`() async throws {
            let manifest = try TestManifest.misbehave(prestart: 1)
            try await withDaemon(manifest) { daemon in
                let first = try await daemon.readyWorkers(1)[0]
                let run = try await daemon.begin("honour-cancel")
                #expect(run.pid == first)
                let second = try await daemon.readyWorkers(2)[1]
                #expect(second != first && isAlive(second))
                #expect(await daemon.host.expire(run: run.id))
                #expect(try await daemon.end(of: run).outcome == .cancelledClean)
                // The first is not used again after that, and the second one was there already.
                #expect(try await daemon.run("echo").pid == second)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `The daemon ends idle workers beyond the prestart count`() async throws {
            let manifest = try TestManifest.misbehave(prestart: 1)
            try await withDaemon(
                manifest,
                adjust: {
                    $0.timeouts.idle = 20_000_000
                    // Before the run can have ended.
                    $0.timeouts.prestart = 0
                },
                { daemon in
                    _ = try await daemon.readyWorkers(1)
                    // A run that ends before the daemon looks needs no second worker.
                    while await daemon.workers(of: "misbehave").count < 2 {
                        #expect(try await daemon.run("succeed").outcome == .succeeded)
                    }
                    let pids = await daemon.workers(of: "misbehave")
                    while await daemon.workers(of: "misbehave").count > 1 { await Task.yield() }
                    let left = try #require(await daemon.workers(of: "misbehave").first)
                    #expect(pids.contains(left))
                    #expect(try await daemon.run("echo").pid == left)
                }
            )
        }

        @Test(.timeLimit(.minutes(5)))
        func `Idle workers end with a drain`() async throws {
            let manifest = try TestManifest.misbehave(prestart: 3)
            let daemon = try await RunningHost(manifest)
            let idle = try await daemon.readyWorkers(3)
            await daemon.end()
            for pid in idle { #expect(!isAlive(pid)) }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A drain does not wait for workers that are still to load`() async throws {
            let manifest = try TestManifest.misbehave(prestart: 3)
            try await withDaemon(manifest) { _ in }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A prestarted worker that ends without a run is replaced after a pause`() async throws
        {
            let manifest = try TestManifest.misbehave(prestart: 1)
            try await withDaemon(
                manifest,
                adjust: { $0.timeouts.loadBackoff = 3_600_000_000_000 },
                { daemon in
                    let idle = try await daemon.readyWorkers(1)[0]
                    #expect(kill(idle, SIGKILL) == 0)
                    try await daemon.line { $0.event == "worker.ended" }
                    // Its successor would have been made before this.
                    #expect(await daemon.workers(of: "misbehave") == [])
                    // Runs are none the worse for it.
                    #expect(try await daemon.run("echo").outcome == .succeeded)
                }
            )
        }

        @Test(.timeLimit(.minutes(5)))
        func `Prestart continues after its pause`() async throws {
            let manifest = try TestManifest.misbehave(prestart: 1)
            try await withDaemon(
                manifest,
                adjust: { $0.timeouts.loadBackoff = 1_000_000 },
                { daemon in
                    let first = try await daemon.readyWorkers(1)[0]
                    #expect(kill(first, SIGKILL) == 0)
                    let second = try await daemon.readyWorkers(2)[1]
                    #expect(kill(second, SIGKILL) == 0)
                    let third = try await daemon.readyWorkers(3)[2]
                    #expect(try await daemon.run("echo").pid == third)
                }
            )
        }

        @Test(.timeLimit(.minutes(5)))
        func `Prestart stops for a plugin that cannot be loaded`() async throws {
            var manifest = try TestManifest.plugin(
                "bad",
                library: try Fixture.library("crash-in-constructor")
            )
            manifest.plugins[manifest.plugins.count - 1].prestart = 2
            try await withDaemon(
                manifest,
                adjust: { $0.timeouts.loadBackoff = 1_000_000 },
                { daemon in
                    // Two at a time: at the third failure the fourth may be under way.
                    var failures = 0
                    for await entry in daemon.follow() where entry.event == "plugin.load_failed" {
                        failures += 1
                        if failures == 3 { break }
                    }
                    while await !daemon.workers(of: "bad").isEmpty { await Task.yield() }
                    let plugin = await daemon.host.status().plugins.first { $0.name == "bad" }
                    #expect(
                        plugin?.problem?.contains("quarantined until its library or bghost changes")
                            == true
                    )
                }
            )
        }

        @Test(.timeLimit(.minutes(5)))
        func `No worker is prestarted for a disabled plugin`() async throws {
            let manifest = try TestManifest.misbehave(prestart: 1)
            try await withDaemon(
                manifest,
                adjust: { $0.timeouts.idle = 20_000_000 },
                { daemon in
                    _ = try await daemon.readyWorkers(1)
                    _ = try await daemon.host.disable(
                        plugin: "misbehave",
                        reason: "",
                        stopsRuns: false
                    )
                    while await !daemon.workers(of: "misbehave").isEmpty { await Task.yield() }
                    _ = try await daemon.host.enable(plugin: "misbehave")
                    let again = try await daemon.readyWorkers(2)[1]
                    #expect(await daemon.workers(of: "misbehave") == [again])
                }
            )
        }
    }
}

extension RunningHost {
    /// The process ids of the first workers that became ready, once there have been so many.
    fileprivate func readyWorkers(_ count: Int) async throws -> [Int32] {
        var pids: [Int32] = []
        for await entry in follow() where entry.event == "worker.ready" {
            let word = entry.message.split(separator: ",")[0].dropFirst("pid ".count)
            pids.append(try #require(Int32(word)))
            if pids.count == count { return pids }
        }
        throw Missing(what: "\(count) workers")
    }
}
