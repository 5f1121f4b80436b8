// SPDX-License-Identifier: Apache-2.0

import BghostAPI
@testable import BghostHost
import BghostLinux
import BghostModel
import BghostPolicy
import BghostTestSupport
import Testing

extension Integration {
    /// Tasks whose runs do not stop in time begin later: all runs here end by their own deadline.
    @Suite struct ThrottleTests {
        /// Tasks of `misbehave`, with a grace of which half is in time.
        private func manifest(
            grace: Duration,
            _ throttle: ThrottlePolicy = ThrottlePolicy()
        ) throws -> Manifest {
            var manifest = try TestManifest.misbehave(runtime: .milliseconds(50), grace: grace)
            for index in manifest.tasks.indices { manifest.tasks[index].throttle = throttle }
            return manifest
        }

        private func ended(
            _ task: String,
            _ parameters: String = "{}",
            _ daemon: RunningHost
        ) async throws -> RunRecord {
            let request = try await daemon.host.submit(
                Submission(task: task, parameters: parameters)
            )
            return try #require(await daemon.host.waitForRun(ofRequest: request.id))
        }

        @Test(.timeLimit(.minutes(5)))
        func `Throttle points are shown with their run, and cleared for good`() async throws {
            let folder = try TemporaryDirectory()
            let manifest = try manifest(grace: .milliseconds(20))
            try await withDaemon(manifest, folder: folder, adjust: durable) { daemon in
                let host = daemon.host
                let run = try await ended("ignore-cancel", "{}", daemon)
                let shown = try #require(await host.throttles(task: nil).first)
                #expect(shown.task == "ignore-cancel" && shown.points == 2)
                #expect(shown.delay == .seconds(300))
                let late = try #require(shown.runs.first)
                #expect(shown.runs.count == 1 && late.run == run.id && late.isKilled)
                #expect(late.stoppedAfter >= 20_000_000)
                #expect(try #require(shown.nextStart) > WallClock.now)
                let line = try await daemon.line { $0.event == "task.throttled" }
                #expect(line.message.hasPrefix("run \(run.id) was killed "), "\(line.message)")
                #expect(line.message.contains("`bghost throttle clear ignore-cancel`"))

                let next = try await host.submit(Submission(task: "ignore-cancel"))
                #expect(next.waitingFor.contains { $0.contains("throttled until") })
                #expect(try await host.clearThrottle(task: "ignore-cancel").points == 2)
                // It begins now, and earns points again.
                #expect(await host.waitForRun(ofRequest: next.id) != nil)
                #expect(try await host.clearThrottle(task: "ignore-cancel").points == 2)
                #expect(try await host.clearThrottle(task: "echo").points == 0)
            }
            try await withDaemon(manifest, folder: folder, adjust: durable) { daemon in
                #expect(await daemon.host.throttles(task: nil).isEmpty)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A restarted daemon still says which runs earned the points`() async throws {
            let folder = try TemporaryDirectory()
            let manifest = try manifest(grace: .milliseconds(20))
            var before: [LateRun]?
            try await withDaemon(manifest, folder: folder, adjust: durable) { daemon in
                _ = try await ended("ignore-cancel", "{}", daemon)
                before = await daemon.host.throttles(task: nil).first?.runs
            }
            try await withDaemon(manifest, folder: folder, adjust: durable) { daemon in
                let after = await daemon.host.throttles(task: nil).first?.runs
                #expect(after != nil && after == before)
            }
        }

        /// Whatever it answers.
        @Test(
            .timeLimit(.minutes(5)),
            arguments: [
                ("honour-cancel", "{}", Outcome.cancelledClean),
                ("stop-late", #"{"late":0}"#, .succeeded),
            ]
        )
        func `A run that stops in time earns no throttle points`(
            task: String,
            parameters: String,
            outcome: Outcome
        ) async throws {
            try await withDaemon(try manifest(grace: .seconds(20))) { daemon in
                for _ in 0..<3 {
                    let record = try await ended(task, parameters, daemon)
                    #expect(record.outcome == outcome && record.stopReason == .expired)
                }
                #expect(await daemon.host.throttles(task: nil).isEmpty)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A run that overran and then succeeded earns a point`() async throws {
            let throttle = ThrottlePolicy(stopWithin: .milliseconds(100))
            try await withDaemon(try manifest(grace: .seconds(20), throttle)) { daemon in
                let record = try await ended("stop-late", #"{"late":300}"#, daemon)
                #expect(record.outcome == .succeeded)
                let shown = try #require(await daemon.host.throttles(task: nil).first)
                let late = try #require(shown.runs.first)
                #expect(shown.points == 1 && shown.delay == .seconds(60) && !late.isKilled)
                #expect(late.stoppedAfter >= 300_000_000)
                let line = try await daemon.line { $0.event == "task.throttled" }
                #expect(line.message.contains("later than 100 ms: 1 throttle point, 1 now;"))
            }
        }

        /// Which transfer a run begins that stops late, and what it earns.
        private static let detached: [(fields: [(String, String)], points: Int?)] = [
            ([], nil), ([("after", "1")], nil),
            // Refused, so that nothing continues.
            ([("after", "1"), ("url", "http://192.0.2.1/file")], 1),
            // The run is finished with it when it stops, so that nothing continues.
            ([("then", "cancel")], 1), ([("then", "acknowledge")], 1),
            ([("then", "acknowledge"), ("late", "1")], 1),
            ([("then", "acknowledge"), ("after", "1")], 1),
        ]

        @Test(.timeLimit(.minutes(5)), arguments: detached)
        func `A late stop earns no point if a transfer continues without the run`(
            fields: [(String, String)],
            points: Int?
        ) async throws {
            try await withFile(holdAt: 1000) { server in
                var manifest = try TransferManifest.of(server)
                manifest.tasks.append(
                    try TestManifest.task(
                        "late",
                        "t",
                        "late",
                        RunLimits(runtime: .milliseconds(50), grace: .seconds(60))
                    )
                )
                manifest.tasks[manifest.tasks.count - 1].throttle.stopWithin = .milliseconds(100)
                try await withDaemon(manifest) { daemon in
                    let parameters = TransferManifest.parameters(server, fields)
                    let record = try await ended("late", parameters, daemon)
                    #expect(record.outcome == .succeeded && record.stopReason == .expired)
                    let shown = await daemon.host.throttles(task: nil)
                    #expect(shown.first?.points == points)
                }
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `The manifest can disable throttling`() async throws {
            let manifest = try manifest(grace: .milliseconds(20), ThrottlePolicy(mode: .off))
            try await withDaemon(manifest) { daemon in
                for _ in 0..<2 {
                    let record = try await ended("ignore-cancel", "{}", daemon)
                    #expect(record.outcome == .killed(.graceExceeded))
                }
                #expect(await daemon.host.throttles(task: nil).isEmpty)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A dry run shows what it would delay, and delays nothing`() async throws {
            let manifest = try manifest(grace: .milliseconds(20), ThrottlePolicy(mode: .dryRun))
            try await withDaemon(manifest) { daemon in
                for _ in 0..<2 { _ = try await ended("ignore-cancel", "{}", daemon) }
                let shown = try #require(await daemon.host.throttles(task: nil).first)
                #expect(shown.mode == .dryRun && shown.points == 4 && shown.runs.count == 2)
                #expect(try #require(shown.nextStart) > WallClock.now)
                let line = try await daemon.line { $0.event == "task.throttled" }
                #expect(line.message.contains("would be throttled until"))
                #expect(line.message.hasSuffix("(dry run)"))
            }
        }
    }
}
