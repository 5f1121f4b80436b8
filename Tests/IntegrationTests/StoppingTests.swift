// SPDX-License-Identifier: Apache-2.0

import BghostAPI
import BghostHost
import BghostModel
import BghostPolicy
import BghostTestSupport
import Testing

extension Integration {
    /// Runs whose time is up, and what they make of being asked to stop.
    @Suite struct StoppingTests {
        private static let runtime = Duration.milliseconds(300)
        private static let grace = Duration.milliseconds(250)
        /// What the contract adds to runtime and grace.
        private static let slack = Duration.seconds(1)

        private func manifest() throws -> Manifest {
            try TestManifest.misbehave(runtime: Self.runtime, grace: Self.grace)
        }

        /// A grace that a handler does not use up on a busy machine if it stops when it is told to.
        private static let longGrace = Duration.seconds(10)

        @Test(
            .timeLimit(.minutes(5)),
            arguments: [
                "honour-cancel", "honour-cancel-poll", "honour-cancel-fd", "complete-after-cancel",
            ]
        )
        func `A run that stops after its cancel has the outcome cancelled`(task: String)
            async throws
        {
            let manifest = try TestManifest.misbehave(
                runtime: Self.runtime,
                grace: Self.longGrace
            )
            try await withDaemon(manifest) { daemon in
                let record = try await daemon.runBesideOthers(task)
                #expect(record.outcome == .cancelledClean)
                #expect(record.stopReason == .expired)
                let duration = try #require(record.duration)
                #expect(duration >= Self.runtime)
                #expect(duration <= Self.runtime + Self.longGrace + Self.slack)
                if task == "honour-cancel" { #expect(record.message == "why 1") }
                if task == "complete-after-cancel" {
                    try await daemon.line("after cancel answered -10")
                }
            }
        }

        @Test(
            .timeLimit(.minutes(5)),
            arguments: [
                "ignore-cancel", "sleep-forever", "never-complete", "spin", "block-in-cancel",
                "exit-thread",
            ]
        )
        func `A run that does not stop is killed at the end of its grace`(task: String) async throws
        {
            try await withDaemon(try manifest()) { daemon in
                let record = try await daemon.runBesideOthers(task)
                #expect(record.outcome == .killed(.graceExceeded))
                #expect(record.stopReason == .expired)
                let duration = try #require(record.duration)
                #expect(duration >= Self.runtime + Self.grace)
                let bound = Self.runtime + Self.grace + Self.slack
                #expect(duration <= bound, "\(duration), \(daemon.timeline(of: record))")
                let pid = try #require(record.pid)
                #expect(!isAlive(pid))
                let killed = try await daemon.line(LogFilter(run: record.id)) {
                    $0.event == "run.killed"
                }
                #expect(killed.plugin == "misbehave")
                #expect(killed.message.contains("graceExceeded"))
                if task == "ignore-cancel" { try await daemon.line("ignored why 1") }
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `An expiring run gets the reason and its remaining time`() async throws {
            try await withDaemon(try manifest()) { daemon in
                let record = try await daemon.run("honour-cancel")
                let line = try await daemon.line(LogFilter(run: record.id)) {
                    $0.event == "run.expiring"
                }
                #expect(line.message == "asked to stop (expired); it has 250 ms")
            }
        }

        @Test(.timeLimit(.minutes(5)), arguments: [Isolation.worker, .inProcess])
        func `A handler may call the host inside cancel()`(
            isolation: Isolation
        ) async throws {
            // Well within the timeout of a question, five seconds.
            let manifest = try TestManifest.misbehave(
                runtime: Self.runtime,
                grace: .seconds(3),
                isolation: isolation
            )
            try await withDaemon(manifest) { daemon in
                let record = try await daemon.run("ask-in-cancel")
                #expect(record.outcome == .cancelledClean)
                #expect(record.message == "submit answered 0")
                let asked = try await daemon.line(LogFilter(task: "succeed")) {
                    $0.event == "run.ended"
                }
                #expect(asked.plugin == "misbehave")
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A kill frees the slot for what waits`() async throws {
            // The runtime is long, so that the run does not end before the other one waits.
            let manifest = try TestManifest.misbehave(
                runtime: .seconds(600),
                grace: Self.grace,
                slots: 1
            )
            try await withDaemon(manifest) { daemon in
                let killed = try await daemon.begin("ignore-cancel")
                let waiting = try await daemon.host.trigger(Submission(task: "echo"))
                #expect(waiting.waitingFor.contains { $0.contains("slot") })
                #expect(await daemon.host.expire(run: killed.id))
                let record = try #require(await daemon.host.waitForRun(ofRequest: waiting.id))
                #expect(record.outcome == .succeeded)
                #expect(try await daemon.end(of: killed).outcome == .killed(.graceExceeded))
                let began = try #require(record.startedAt)
                let ended = try #require(
                    await daemon.host.runs(task: "ignore-cancel", limit: 1).first?.endedAt
                )
                #expect(began >= ended)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A run that is stopped while its plugin loads has not begun`() async throws {
            let library = try Fixture.library("hang-in-open")
            try await withDaemon(try TestManifest.plugin("slow", library: library)) { daemon in
                let request = try await daemon.host.trigger(Submission(task: "task"))
                var loading: RunRecord?
                while loading?.pid == nil {
                    await Task.yield()
                    loading = await daemon.host.runs(task: "task", limit: 1).first
                }
                let run = try #require(loading)
                #expect(run.request == request.id && run.state == .starting)
                #expect(await daemon.host.stop(run: run.id))
                let record = try await daemon.end(of: run)
                #expect(record.outcome == .cancelledClean && record.stopReason == .user)
                #expect(record.startedAt == nil)
                try await gone(try #require(run.pid))
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `An operator can expire a run`() async throws {
            // A long grace: what is lost between the two sockets would be seen as a kill.
            try await withDaemon(try TestManifest.misbehave(grace: .seconds(60))) { daemon in
                for _ in 0..<200 {
                    // The stop is sent right behind the start and may overtake it.
                    let run = try await daemon.begin("honour-cancel")
                    #expect(await daemon.host.expire(run: run.id))
                    let record = try await daemon.end(of: run)
                    try #require(record.outcome == .cancelledClean)
                    #expect(record.stopReason == .expired)
                    #expect(await daemon.host.expire(run: run.id) == false)
                }
            }
        }
    }
}
