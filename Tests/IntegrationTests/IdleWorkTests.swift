// SPDX-License-Identifier: Apache-2.0

@testable import BghostAPI
import BghostBase
import BghostConfiguration
@testable import BghostHost
@testable import BghostModel
@testable import BghostPolicy
import BghostServices
import BghostTestSupport
import Glibc
import Testing

extension Integration {
    /// What a worker does while it has no run.
    @Suite struct IdleWorkTests {
        private static func manifest(
            _ tasks: [String],
            limits: WorkerLimits = WorkerLimits(),
            prestart: Int = 0,
            defines: [String] = []
        ) throws -> Manifest {
            var manifest = try TestManifest.witness()
            manifest.plugins.append(
                PluginDefinition(
                    name: "idler",
                    library: try Fixture.library("idler", defines: defines),
                    prestart: prestart,
                    limits: limits
                )
            )
            let times = RunLimits(runtime: .seconds(600), grace: .milliseconds(200))
            for task in tasks + ["succeed"] {
                manifest.tasks.append(try TestManifest.task(task, "idler", task, times))
            }
            return manifest
        }

        /// The crash that counts for the plugin, and its text in `status` until the next worker.
        private func charged(_ daemon: RunningHost, _ words: String) async throws {
            let line = try await daemon.line { $0.event == "worker.idle_work" }
            #expect(line.plugin == "idler")
            #expect(line.message.contains(words), "\(line.message)")
            let pause = try await daemon.line { $0.event == "plugin.paused" }
            #expect(pause.plugin == "idler" && pause.message.contains(words), "\(pause.message)")
        }

        private func idler(_ daemon: RunningHost) async -> PluginStatus? {
            await daemon.host.status().plugins.first { $0.name == "idler" }
        }

        private static func pausing(_ configuration: inout HostConfiguration) {
            configuration.timeouts.crashes = CrashLoop.Limits()
            configuration.timeouts.crashes.pause = 50_000_000
        }

        @Test(.timeLimit(.minutes(5)))
        func `A worker that spins after its run is ended and its plugin charged`() async throws {
            try await withDaemon(try Self.manifest(["spin"]), adjust: Self.pausing) { daemon in
                let run = try await daemon.run("spin")
                #expect(run.outcome == .succeeded)
                try await charged(daemon, "processor time")
                try await gone(try #require(run.pid))
                // The waiting request starts after the pause, in another worker.
                let next = try await daemon.run("succeed")
                #expect(next.outcome == .succeeded && next.pid != run.pid)
                // The pause is over; that it happened is still news.
                let plugin = try #require(await idler(daemon))
                #expect(plugin.problem == nil)
                let ends = try #require(plugin.idleEnds)
                #expect(ends.count == 1 && ends.since == ends.last)
                #expect(ends.reason.contains("processor time"))
                _ = try await daemon.run("spin")
                try await daemon.line { line in
                    line.event == "worker.idle_work" && !line.message.contains("\(run.pid ?? 0) ")
                }
                #expect(await idler(daemon)?.idleEnds?.count == 2)
                // An operator who enables it has seen it.
                _ = try await daemon.host.enable(plugin: "idler")
                #expect(await idler(daemon)?.idleEnds == nil)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A plugin that keeps working after its runs is quarantined`() async throws {
            let adjust: @Sendable (inout HostConfiguration) -> Void = {
                durable(&$0)
                $0.timeouts.crashes = CrashLoop.Limits()
                $0.timeouts.crashes.pause = 1_000_000
            }
            try await withDaemon(try Self.manifest(["spin"]), adjust: adjust) { daemon in
                for _ in 0..<CrashLoop.Limits().crashesMax {
                    let run = try await daemon.run("spin")
                    #expect(run.outcome == .succeeded)
                    try await gone(try #require(run.pid))
                }
                try await daemon.line {
                    $0.event == "plugin.quarantined" && $0.plugin == "idler"
                }
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A worker that spins before its first run is ended too`() async throws {
            let manifest = try Self.manifest([], prestart: 1, defines: ["SPIN_AFTER_OPEN"])
            try await withDaemon(manifest, adjust: Self.pausing) { daemon in
                try await charged(daemon, "processor time")
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A little work after a run does not end the worker`() async throws {
            try await withDaemon(try Self.manifest(["tidy"])) { daemon in
                let first = try await daemon.run("tidy")
                let pid = try #require(first.pid)
                try await daemon.line("tidied")
                let second = try await daemon.run("tidy")
                #expect(second.outcome == .succeeded && second.pid == pid)
                #expect(try await daemon.run("succeed").pid == pid)
            }
        }

        @Test(
            .timeLimit(.minutes(5)),
            arguments: [
                ("fork-later", "process"), ("spin-in-child", "that it started"),
            ]
        )
        func `Processes that it starts after its run are ended with it`(
            task: String,
            words: String
        ) async throws {
            let limits = WorkerLimits(processes: 4)
            let manifest = try Self.manifest([task], limits: limits)
            try await withDaemon(manifest, adjust: Self.pausing) { daemon in
                let run = try await daemon.run(task)
                #expect(run.outcome == .succeeded)
                try await charged(daemon, words)
                let worker = try #require(run.pid)
                while kill(-worker, 0) == 0 { await Task.yield() }
            }
        }

        /// While they idle, workers that may have processes are looked at less and less often.
        @Test(.timeLimit(.minutes(5)))
        func `A worker that gets a run is looked at soon`() async throws {
            let manifest = try Self.manifest([], limits: WorkerLimits(processes: 4))
            try await withDaemon(manifest) { daemon in
                let first = try await daemon.run("succeed")
                await daemon.host.postponeAudits()
                #expect(await daemon.host.hasPostponedAudit)
                let second = try await daemon.run("succeed")
                #expect(second.pid == first.pid)
                #expect(await !daemon.host.hasPostponedAudit)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `Memory that a worker takes after its run counts and ends it`() async throws {
            let limits = WorkerLimits(memoryBytes: 64 << 20)
            let manifest = try Self.manifest(["take-later"], limits: limits)
            try await withDaemon(manifest, adjust: Self.pausing) { daemon in
                let run = try await daemon.run("take-later")
                #expect(run.outcome == .succeeded)
                try await charged(daemon, "its limit of memory")
                try await gone(try #require(run.pid))
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `Data that a worker writes after its run counts and ends it`() async throws {
            let limits = WorkerLimits(dataBytes: 8 << 20)
            let manifest = try Self.manifest(["write-later"], limits: limits)
            try await withDaemon(manifest) { daemon in
                let run = try await daemon.run("write-later")
                #expect(run.outcome == .succeeded)
                let line = try await daemon.line {
                    $0.event == "plugin.data_limit" || $0.event == "worker.idle_work"
                }
                #expect(line.plugin == "idler")
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `Output after a run beyond the limit is dropped and ends the worker`()
            async throws
        {
            let manifest = try Self.manifest(["print-later"])
            try await withDaemon(manifest, adjust: Self.pausing) { daemon in
                let run = try await daemon.run("print-later")
                #expect(run.outcome == .succeeded)
                let line = try await daemon.line { $0.event == "worker.idle_work" }
                // Whichever it reaches first.
                #expect(
                    line.message.contains("output") || line.message.contains("processor time"),
                    "\(line.message)"
                )
                try await gone(try #require(run.pid))
                let kept = daemon.log.entries(matching: LogFilter(), limit: 8192)
                    .filter { $0.source == .stdout && $0.plugin == "idler" }
                let bytes = kept.reduce(0) { $0 + $1.message.utf8.count }
                // Some of it may have come while the run was under way.
                #expect(bytes <= 2 * WorkerLimits().outputBytes, "\(bytes)")
            }
        }

        /// Its limits are those of the run: the release has no deadline here.
        @Test(
            .timeLimit(.minutes(5)),
            arguments: [
                ("release-spinning", "its limit of cpu"),
                ("spin-in-start", "its limit of cpu"),
                ("release-forking", "its limit of processes"),
                ("release-taking", "its limit of memory"),
                ("release-printing", "its limit of output"),
            ]
        )
        func `A handler that goes on after its completion has the limits of its run`(
            task: String,
            words: String
        ) async throws {
            let limits = WorkerLimits(
                memoryBytes: 64 << 20,
                cpu: .milliseconds(500),
                processes: 4
            )
            let manifest = try Self.manifest([task], limits: limits)
            let adjust: @Sendable (inout HostConfiguration) -> Void = {
                Self.pausing(&$0)
                $0.timeouts.release = 600_000_000_000
            }
            try await withDaemon(manifest, adjust: adjust) { daemon in
                let run = try await daemon.run(task)
                #expect(run.outcome == .succeeded)
                try await charged(daemon, words)
                let ends = try #require(await idler(daemon)?.idleEnds)
                #expect(ends.reason.contains(words), "\(ends.reason)")
                let worker = try #require(run.pid)
                while kill(-worker, 0) == 0 { await Task.yield() }
            }
        }

        /// It has no other deadline here.
        @Test(
            .timeLimit(.minutes(5)),
            arguments: [
                ("CLOSE_TAKING", "its limit of memory"), ("CLOSE_SPINNING", "its limit of cpu"),
                ("CLOSE_FORKING", "its limit of processes"),
            ]
        )
        func `A plugin that is closed has the limits of a run`(
            define: String,
            words: String
        ) async throws {
            let limits = WorkerLimits(
                memoryBytes: 64 << 20,
                cpu: .milliseconds(500),
                processes: 4
            )
            let manifest = try Self.manifest([], limits: limits, defines: [define])
            let adjust: @Sendable (inout HostConfiguration) -> Void = {
                Self.pausing(&$0)
                $0.timeouts.finish = 600_000_000_000
            }
            try await withDaemon(manifest, adjust: adjust) { daemon in
                let worker = try #require(try await daemon.run("succeed").pid)
                _ = try await daemon.host.disable(
                    plugin: "idler",
                    reason: "test",
                    stopsRuns: false
                )
                let line = try await daemon.line { $0.event == "worker.idle_work" }
                #expect(
                    line.message.contains(words) && line.message.contains("in close()"),
                    "\(line.message)"
                )
                while kill(-worker, 0) == 0 { await Task.yield() }
            }
        }

        /// It has no other deadline here.
        @Test(
            .timeLimit(.minutes(5)),
            arguments: [
                ("OPEN_TAKING", KillReason.memory), ("OPEN_FORKING", .processes),
                ("OPEN_WRITING", .data),
            ]
        )
        func `A plugin that is loaded has the limits of a run`(
            define: String,
            reason: KillReason
        ) async throws {
            let limits = WorkerLimits(
                memoryBytes: 64 << 20,
                processes: 4,
                dataBytes: 8 << 20
            )
            let folder = try TemporaryDirectory()
            var manifest = try Self.manifest([], limits: limits, defines: [define])
            let file = folder.file("state/data/idler/early")
            manifest.plugins[manifest.plugins.count - 1].config = #"{"file":"\#(file)"}"#
            let adjust: @Sendable (inout HostConfiguration) -> Void = {
                $0.timeouts.start = 600_000_000_000
            }
            try await withDaemon(manifest, folder: folder, adjust: adjust) { daemon in
                let run = try await daemon.run("succeed")
                #expect(run.outcome == .killed(reason), "\(run)")
                #expect(run.startedAt == nil)
                let worker = try #require(run.pid)
                while kill(-worker, 0) == 0 { await Task.yield() }
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A plugin that is loaded before its runs has their limits`() async throws {
            let manifest = try Self.manifest(
                [],
                limits: WorkerLimits(processes: 4),
                prestart: 1,
                defines: ["OPEN_FORKING"]
            )
            let adjust: @Sendable (inout HostConfiguration) -> Void = {
                $0.timeouts.start = 600_000_000_000
            }
            try await withDaemon(manifest, adjust: adjust) { daemon in
                let line = try await daemon.line { $0.event == "worker.idle_work" }
                #expect(
                    line.message.contains("its limit of processes while it loaded"),
                    "\(line.message)"
                )
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `Runs beside it do not give a handler that stays more time`() async throws {
            var manifest = try Self.manifest(["release-staying", "release-late"])
            manifest.plugins[manifest.plugins.count - 1].runsPerWorker = 2
            try await withDaemon(manifest, adjust: { $0.timeouts.release = 500_000_000 }) {
                daemon in
                let staying = try #require(try await daemon.run("release-staying").pid)
                // Each of these is late, too, and sooner than that deadline.
                var carried = 0
                while kill(staying, 0) == 0 {
                    if try await daemon.run("release-late").pid == staying { carried += 1 }
                }
                #expect(carried > 0)
                let line = try await daemon.line { $0.event == "worker.unreleased" }
                #expect(line.plugin == "idler")
                let ends = try #require(await idler(daemon)?.idleEnds)
                #expect(ends.reason == "did not return from a completed run")
            }
        }
    }
}

extension Host {
    private var workers: [Worker] {
        owners.plugins.all.flatMap { owners.executors.workers(of: $0) }
    }

    /// As if each worker had been idle for long.
    fileprivate func postponeAudits() {
        for worker in workers {
            worker.audit = services.now + UInt64(hour)
            services.deadlines.arm(.audit(worker.serial), at: worker.audit)
            services.deadlines.forget()
        }
    }

    fileprivate var hasPostponedAudit: Bool {
        workers.contains { $0.audit > services.now + UInt64(hour) / 2 && $0.audit != .never }
    }
}
