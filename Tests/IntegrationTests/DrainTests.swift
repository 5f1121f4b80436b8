// SPDX-License-Identifier: Apache-2.0

import BghostAPI
@testable import BghostHost
import BghostLinux
import BghostModel
import BghostPolicy
import BghostTestSupport
import Testing

extension Integration {
    /// The end of a host that has work.
    @Suite struct DrainTests {
        private static let grace = Duration.milliseconds(300)
        private static let stopping = ["honour-cancel", "honour-cancel-poll", "honour-cancel-fd"]
        private static let deaf = ["ignore-cancel", "sleep-forever", "block-in-cancel", "spin"]

        private func manifest() throws -> Manifest {
            var manifest = try TestManifest.misbehave(
                runtime: .seconds(600),
                grace: Self.grace,
                slots: 16
            )
            // They stop when they are told to, on a busy machine after more than the grace of the others.
            for index in manifest.tasks.indices
            where Self.stopping.contains(manifest.tasks[index].identifier.description) {
                manifest.tasks[index].limits.grace = .seconds(10)
            }
            manifest.plugins.append(
                PluginDefinition(name: "slow", library: try Fixture.library("hang-in-constructor"))
            )
            manifest.tasks.append(try TestManifest.task("loading", "slow", "succeed", nil))
            return manifest
        }

        @Test(.timeLimit(.minutes(5)))
        func `A drain ends each run within its grace and loses no request`()
            async throws
        {
            let folder = try TemporaryDirectory()
            let daemon = try await RunningHost(try manifest(), folder: folder, adjust: durable)
            let host = daemon.host
            var runs: [RunRecord] = []
            for task in Self.stopping + Self.deaf {
                runs.append(try await daemon.begun(try await host.submit(Submission(task: task))))
            }
            let loading = try await host.submit(Submission(task: "loading"))
            let waiting = try await host.submit(
                Submission(task: "echo", earliestBegin: WallClock.now + hour)
            )

            async let first: Void = host.drain()
            let draining = try await daemon.line { $0.event == "host.draining" }
            let refusal = await #expect(throws: SubmitError.self) {
                try await host.submit(Submission(task: "echo"))
            }
            #expect(refusal?.code == .unavailable)
            #expect(refusal?.message.contains("is stopping") == true)
            // A second call waits for the same end.
            await host.drain()
            await first
            await daemon.end()

            for run in runs {
                let line = try await daemon.line(LogFilter(run: run.id)) { $0.event == "run.ended" }
                let isDeaf = Self.deaf.contains(run.task)
                let outcome = isDeaf ? "killed(graceExceeded)" : "cancelledClean"
                #expect(line.message.hasPrefix("\(outcome) after "), "\(run.task): \(line.message)")
                #expect(line.plugin == "misbehave")
                let took = Duration.nanoseconds(line.time - draining.time)
                #expect(!isDeaf || took < Self.grace + .seconds(1), "\(run.task): \(took)")
                #expect(!isAlive(try #require(run.pid)))
            }
            let unbegun = try await daemon.line(LogFilter(task: "loading")) {
                $0.event == "run.ended"
            }
            #expect(unbegun.message == "cancelledClean: it was stopped before it began")

            try await withDaemon(try manifest(), folder: folder, adjust: durable) { next in
                // Before anything of it can have ended again.
                var ids = Set(await next.host.pending(task: nil, limit: 100).requests.map(\.id))
                ids.formUnion(await next.host.runs(task: nil, limit: 100).map(\.request))
                #expect(ids.isSuperset(of: runs.map(\.request) + [loading.id, waiting.id]))
                for run in runs {
                    let again = try await next.begun(run.request, task: run.task)
                    #expect(again.attempt == 2)
                    // The second drain does not count as a failure of the run.
                    #expect(again.epoch > run.epoch)
                }
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A drain ends despite a kill, a crash and a start under way`()
            async throws
        {
            for task in ["crash-in-start", "write-rubbish", "flood-stdout", "allocate", "succeed"] {
                let limits = WorkerLimits(memoryBytes: 64 << 20)
                let daemon = try await RunningHost(
                    try TestManifest.misbehave(grace: Self.grace, limits: limits)
                )
                let request = try await daemon.host.trigger(Submission(task: task))
                // Wherever the run is by now.
                await daemon.end()
                let record = try #require(await daemon.host.waitForRun(ofRequest: request.id))
                #expect(record.state == .ended && record.outcome != nil)
            }
        }
    }
}
