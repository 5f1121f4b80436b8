// SPDX-License-Identifier: Apache-2.0

@testable import BghostAPI
import BghostBase
import BghostDispatch
@testable import BghostHost
import BghostLinux
import BghostModel
import BghostPolicy
import BghostServices
import BghostStore
import BghostTestSupport
import Glibc
import Testing

extension Integration {
    /// What runs save for the next attempt of their request.
    @Suite struct CheckpointTests {
        private func manifest(
            _ isolation: Isolation = .worker,
            attempts: Int = 9
        ) throws -> Manifest {
            let limits = RunLimits(runtime: .seconds(60), grace: .seconds(20))
            var tasks = [
                try TestManifest.task("step", "checkpoint", "step", limits),
                try TestManifest.task("odd", "checkpoint", "odd", limits),
            ]
            tasks[0].retry = RetryPolicy(
                backoff: .exponential(base: .milliseconds(1), cap: .milliseconds(1)),
                attemptsMax: attempts,
                lossesMax: attempts
            )
            return Manifest(
                plugins: [
                    PluginDefinition(
                        name: "checkpoint",
                        library: try Fixture.library("checkpoint"),
                        isolation: isolation,
                        maxPending: PendingLimits(refresh: 100, processing: 100)
                    )
                ],
                tasks: tasks
            )
        }

        private func submit(_ plan: String, _ daemon: RunningHost) async throws -> PendingRequest {
            try await daemon.host.submit(
                Submission(task: "step", parameters: #"{"plan": "\#(plan)"}"#)
            )
        }

        /// Waits for what an attempt has logged.
        private func attempt(_ number: Int, _ daemon: RunningHost) async throws -> LogEntry {
            try await daemon.line(LogFilter(task: "step")) {
                $0.message.hasPrefix("attempt \(number) loaded")
            }
        }

        private func expect(
            _ number: Int,
            loads text: String?,
            _ daemon: RunningHost
        ) async throws {
            let loaded = text.map { "0 \"\($0)\"" } ?? "-16 \"\""
            let line = try await attempt(number, daemon).message
            #expect(line == "attempt \(number) loaded \(loaded), saved 0")
        }

        /// Waits for the end of a request whose last attempt succeeds.
        private func succeeds(_ daemon: RunningHost) async throws {
            try await daemon.line(LogFilter(task: "step")) {
                $0.event == "run.ended" && $0.message.hasPrefix("succeeded")
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `The next attempt gets a checkpoint after a failure, a crash and a kill`()
            async throws
        {
            try await withDaemon(try manifest(), adjust: durable) { daemon in
                let request = try await submit("fcp", daemon)
                try await expect(1, loads: nil, daemon)
                try await expect(2, loads: "attempt 1", daemon)
                try await expect(3, loads: "attempt 2", daemon)
                let runs = await daemon.host.runs(task: "step", limit: 9)
                let waiting = try #require(runs.first { $0.attempt == 3 })
                let saved = try #require(await daemon.host.checkpoint(ofRequest: request.id))
                #expect(saved.attempt == 3 && saved.length == 9 && saved.run == waiting.id)
                kill(try #require(waiting.pid), SIGKILL)
                try await expect(4, loads: "attempt 3", daemon)
                try await succeeds(daemon)
                #expect(await daemon.host.checkpoint(ofRequest: request.id) == nil)
                // The next request begins without one.
                let next = try await submit("s", daemon)
                _ = await daemon.host.waitForRun(ofRequest: next.id)
                let lines = daemon.log.entries(matching: LogFilter(task: "step"), limit: 1000)
                    .map(\.message).filter { $0.hasPrefix("attempt 1 loaded") }
                #expect(Set(lines) == [#"attempt 1 loaded -16 "", saved 0"#])
                #expect(lines.count == 2)
            }
        }

        @Test(.timeLimit(.minutes(5)), arguments: Isolation.allCases)
        func `Odd calls are refused, and 64 KiB come back whole`(isolation: Isolation) async throws
        {
            try await withDaemon(try manifest(isolation), adjust: durable) { daemon in
                let run = try await daemon.run("odd")
                #expect(run.outcome == .succeeded)
                let line = try await daemon.line(LogFilter(task: "odd")) {
                    $0.message.hasPrefix("none ")
                }
                #expect(
                    line.message
                        == "none -16, most 0, longer -14, huge -14, nowhere -12, length 0 65536,"
                        + " small -15, got 0 1, invented -10 -10, cleared 0 -16, binary 0 0 3 1"
                )
                #expect(await daemon.host.checkpoint(ofRequest: run.request) == nil)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `What a cancelled run saves in its grace is there after a restart of the daemon`()
            async throws
        {
            let folder = try TemporaryDirectory()
            let manifest = try manifest()
            var request: RunID?
            try await withDaemon(manifest, folder: folder, adjust: durable) { daemon in
                request = try await submit("w", daemon).id
                try await expect(1, loads: nil, daemon)
            }
            let id = try #require(request)
            try await withDaemon(manifest, folder: folder, adjust: durable) { daemon in
                try await expect(2, loads: "cancelled 1", daemon)
                try await succeeds(daemon)
                #expect(await daemon.host.checkpoint(ofRequest: id) == nil)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A dead letter keeps its checkpoint until it is redriven or discarded`() async throws {
            try await withDaemon(try manifest(attempts: 1), adjust: durable) { daemon in
                let host = daemon.host
                let request = try await submit("fss", daemon)
                try await daemon.line(LogFilter(task: "step")) { $0.event == "request.dead" }
                #expect(await host.checkpoint(ofRequest: request.id)?.attempt == 1)
                _ = try await host.redrive(.request(prefix: request.id.description))
                try await expect(2, loads: "attempt 1", daemon)
                try await succeeds(daemon)
                #expect(await host.checkpoint(ofRequest: request.id) == nil)

                let second = try await submit("f", daemon)
                var deaths = 0
                try await daemon.line(LogFilter(task: "step")) { entry in
                    deaths += entry.event == "request.dead" ? 1 : 0
                    return deaths == 2
                }
                #expect(await host.checkpoint(ofRequest: second.id) != nil)
                _ = try await host.discard(.request(prefix: second.id.description))
                #expect(await host.checkpoint(ofRequest: second.id) == nil)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A run that an operator stops ends its request, and its checkpoint`() async throws {
            try await withDaemon(try manifest(), adjust: durable) { daemon in
                let request = try await submit("w", daemon)
                let run = try #require(try await attempt(1, daemon).run)
                #expect(await daemon.host.stop(run: run))
                _ = await daemon.host.waitForRun(ofRequest: request.id)
                #expect(await daemon.host.checkpoint(ofRequest: request.id) == nil)
                #expect(await daemon.host.pending(task: "step", limit: 9).total == 0)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `An operator deletes a checkpoint, and the next attempt begins from the start`()
            async throws
        {
            try await withDaemon(try manifest(), adjust: durable) { daemon in
                let host = daemon.host
                let request = try await submit("p", daemon)
                try await expect(1, loads: nil, daemon)
                let deleted = try await host.deleteCheckpoint(
                    ofRequest: String(request.id.description.lowercased().prefix(25))
                )
                #expect(deleted.request == request.id && deleted.attempt == 1)
                let again = await #expect(throws: OperatorRefusal.self) {
                    try await host.deleteCheckpoint(ofRequest: request.id.description)
                }
                #expect(again?.code == .noSuchCheckpoint)
                let run = try #require(await host.runs(task: "step", limit: 1).first)
                kill(try #require(run.pid), SIGKILL)
                try await expect(2, loads: nil, daemon)
                try await succeeds(daemon)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `The checkpoint of a request that waits for its next attempt is listed and explained`()
            async throws
        {
            let folder = try TemporaryDirectory()
            let manifest = try manifest()
            var waiting: RunID?
            try await withDaemon(manifest, folder: folder, adjust: durable) { daemon in
                let host = daemon.host
                let request = try await submit("p", daemon)
                waiting = request.id
                try await expect(1, loads: nil, daemon)
                // The next attempt waits for the end of the pause, also in the next daemon.
                _ = try await host.pause(PauseOrder(target: .tasks("step"), user: "uid 0"))
                let live = try #require(await host.runs(task: "step", limit: 1).first)
                kill(try #require(live.pid), SIGKILL)
                let run = try #require(await host.waitForRun(ofRequest: request.id))
                func list(
                    _ task: String? = nil,
                    plugin: String? = nil
                ) async throws -> [CheckpointSummary] {
                    let question = CheckpointQuestion(
                        tasks: task.map { TaskFilter($0) },
                        plugin: plugin,
                        limit: 9
                    )
                    return try await host.checkpoints(question).checkpoints
                }
                let saved = try #require(await host.checkpoint(ofRequest: request.id))
                #expect(saved.run == run.id && saved.length == 9 && saved.attempt == 1)
                #expect(try await list() == [saved])
                #expect(try await list("step", plugin: "checkpoint") == [saved])
                #expect(try await list("odd").isEmpty)
                let misspelt = await #expect(throws: OperatorRefusal.self) {
                    try await list(plugin: "chekpoint")
                }
                #expect(misspelt?.code == .noSuchPlugin)
                for id in ["step", request.id.description] {
                    let why = try await host.explain(id)
                    #expect(why.requests.map(\.request.id) == [request.id])
                    #expect(why.checkpoints == [request.id: API.Checkpoint(saved)])
                }
            }
            // Another daemon has read it from the store.
            try await withDaemon(manifest, folder: folder, adjust: durable) { daemon in
                let host = daemon.host
                let id = try #require(waiting)
                let question = CheckpointQuestion(limit: 9)
                #expect(try await host.checkpoints(question).checkpoints.map(\.request) == [id])
                _ = try await host.deleteCheckpoint(ofRequest: id.description)
                #expect(try await host.checkpoints(question) == CheckpointPage())
                let why = try await host.explain(id.description)
                #expect(why.requests.map(\.request.id) == [id] && why.checkpoints.isEmpty)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A checkpoint beyond the memory of its plugin is refused, and the last one is kept`()
            async throws
        {
            try await withDaemon(try manifest(), adjust: durable) { daemon in
                let request = try await submit("p", daemon)
                try await expect(1, loads: nil, daemon)
                let run = try #require(await daemon.host.runs(task: "step", limit: 1).first)
                await daemon.host.fillMemory(ofPlugin: "checkpoint")
                kill(try #require(run.pid), SIGKILL)
                let line = try await attempt(2, daemon).message
                #expect(line == #"attempt 2 loaded 0 "attempt 1", saved -14"#)
                try await daemon.line { entry in
                    entry.event == "call.refused"
                        && entry.message.contains("a checkpoint of `step` is refused")
                }
                _ = await daemon.host.waitForRun(ofRequest: request.id)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A start that ends a request counts its checkpoint no more`() async throws {
            let folder = try TemporaryDirectory()
            mkdir(folder.file("state"), 0o700)
            let store = try SQLiteStore(path: folder.file("state/bghost.sqlite"))
            for number: UInt64 in 1...2 {
                var request = Request(
                    id: RunID(high: 1, low: number),
                    task: "step",
                    parameters: "{}",
                    submittedAt: WallClock.now,
                    priority: 500
                )
                // The daemon does not try manual runs again.
                request.isManual = number == 1
                let run = RunRecord(
                    id: RunID(high: 2, low: number),
                    request: request.id,
                    task: "step",
                    plugin: "checkpoint",
                    epoch: number,
                    limits: RunLimits(kind: .processing),
                    submittedAt: request.submittedAt
                )
                let about = CheckpointSummary(of: run, length: 3, now: request.submittedAt)
                let changes: [StoreChange] = [
                    .accepted(request, replacing: nil), .runStarted(run),
                    .checkpointSaved(Checkpoint(about, Array("old".utf8))),
                ]
                try await withCheckedThrowingContinuation { continuation in
                    store.commit(changes) { continuation.resume(with: $0) }
                }
            }
            store.close()
            try await withDaemon(try manifest(), folder: folder, adjust: durable) { daemon in
                try await expect(2, loads: "old", daemon)
                try await succeeds(daemon)
                #expect(await daemon.host.storedCheckpoints == 0)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A task that another plugin handles now does not get the checkpoint of the first`()
            async throws
        {
            let folder = try TemporaryDirectory()
            var manifest = try manifest()
            try await withDaemon(manifest, folder: folder, adjust: durable) { daemon in
                _ = try await submit("w", daemon)
                try await expect(1, loads: nil, daemon)
            }
            manifest.plugins[0].name = "other"
            for index in manifest.tasks.indices {
                let handler = manifest.tasks[index].identifier.description
                manifest.tasks[index].handler = .plugin(name: "other", handler: handler)
            }
            try await withDaemon(manifest, folder: folder, adjust: durable) { daemon in
                try await expect(2, loads: nil, daemon)
                try await succeeds(daemon)
            }
        }
    }
}

extension Host {
    /// The number of checkpoints that count against the limits of plugins.
    fileprivate var storedCheckpoints: Int { owners.commits.checkpoints.count }

    /// Leaves a plugin no memory in the daemon.
    fileprivate func fillMemory(ofPlugin name: String) {
        guard let memory = owners.plugins[name]?.memory else { return }
        memory.add(memory.limit)
    }
}
