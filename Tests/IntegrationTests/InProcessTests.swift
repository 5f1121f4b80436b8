// SPDX-License-Identifier: Apache-2.0

import BghostConfiguration
@testable import BghostHost
import BghostModel
import BghostPolicy
import BghostTestSupport
import Glibc
import Testing

extension Integration {
    /// Plugins inside the daemon.
    @Suite struct InProcessTests {
        private func manifest(
            runtime: Duration = .seconds(20),
            grace: Duration = .milliseconds(150)
        ) throws -> Manifest {
            try TestManifest.misbehave(
                runtime: runtime,
                grace: grace,
                isolation: .inProcess,
                overlap: .allow
            )
        }

        @Test(.timeLimit(.minutes(5)))
        func `A run inside the daemon ends as it would in a worker`() async throws {
            try await withDaemon(try manifest()) { daemon in
                #expect(try await daemon.run("succeed").outcome == .succeeded)
                let echo = try await daemon.runBesideOthers("echo", #"{"n":1}"#)
                #expect(echo.outcome == .succeeded)
                #expect(echo.result == #"{"n":1}"#)
                #expect(echo.pid == nil)
                #expect(try await daemon.run("fail").message == "it went wrong")
                let twice = try await daemon.run("complete-twice")
                #expect(twice.message == "first")
                try await daemon.line("second answered -10", LogFilter(run: twice.id))
                let state = try await daemon.run("state-and-release")
                #expect(state.outcome == .succeeded)
                try await daemon.line("released 42")
                let steps = try await daemon.run("progress")
                #expect(steps.progress == RunProgress(done: 2, total: 2, phase: "second"))
                #expect(await daemon.workers(of: "misbehave").isEmpty)
            }
        }

        @Test(.timeLimit(.minutes(5)), arguments: ["honour-cancel", "honour-cancel-fd"])
        func `A run inside the daemon is cancelled by its handler`(task: String) async throws {
            // The grace is long: a handler that is abandoned on a busy machine takes its plugin along.
            let manifest = try manifest(runtime: .milliseconds(150), grace: .seconds(10))
            try await withDaemon(manifest) { daemon in
                for _ in 0..<3 {
                    let record = try await daemon.runBesideOthers(task)
                    #expect(record.outcome == .cancelledClean)
                    #expect(try #require(record.duration) >= .milliseconds(150))
                }
                #expect(try await daemon.run("echo").outcome == .succeeded)
            }
        }

        @Test(.timeLimit(.minutes(5)), arguments: ["ignore-cancel", "sleep-forever"])
        func `A run inside the daemon that does not stop is abandoned with its plugin`(
            task: String
        ) async throws {
            try await withDaemon(try manifest(runtime: .milliseconds(150))) { daemon in
                let record = try await daemon.runBesideOthers(task)
                #expect(record.outcome == .abandoned)
                let duration = try #require(record.duration)
                #expect(duration >= .milliseconds(300))
                #expect(duration < .milliseconds(1300))
                let error = await #expect(throws: SubmitError.self) {
                    try await daemon.host.trigger(Submission(task: "echo"))
                }
                #expect(error?.code == .unavailable)
                #expect(error?.message.contains("`misbehave`") == true)
                #expect(try await daemon.run("witness.echo").outcome == .succeeded)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A handler that needs a worker is refused inside the daemon, and no other`()
            async throws
        {
            try await withDaemon(try manifest()) { daemon in
                let record = try await daemon.run("needs-worker")
                #expect(record.outcome == .failed)
                // It never started, so the host waits for no release().
                #expect(await daemon.executorsWithUnreleasedRuns == 0)
                #expect(record.message.contains("must run in a worker"), "\(record.message)")
                #expect(try await daemon.run("echo").outcome == .succeeded)
            }
            try await withDaemon(try TestManifest.misbehave()) { daemon in
                let outcome = try await daemon.run("needs-worker").outcome
                #expect(outcome == .succeeded)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `The daemon drains although a plugin inside it does not close`() async throws {
            var manifest = try TestManifest.plugin(
                "hang",
                library: try Fixture.library("hang-in-close")
            )
            let plugin = try #require(manifest.plugins.firstIndex { $0.name == "hang" })
            manifest.plugins[plugin].isolation = .inProcess
            try await withDaemon(manifest, adjust: { $0.timeouts.finish = 200_000_000 }) { daemon in
                let outcome = try await daemon.run("task").outcome
                #expect(outcome == .succeeded)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A drain asks runs inside the daemon to stop`() async throws {
            let daemon = try await RunningHost(try manifest(grace: .seconds(10)))
            let run = try await daemon.begin("honour-cancel")
            await daemon.end()
            let record = try #require(await daemon.host.waitForRun(ofRequest: run.request))
            #expect(record.outcome == .cancelledClean)
            #expect(record.stopReason == .drain)
            #expect(record.message == "why 3")
        }
    }
}
