// SPDX-License-Identifier: Apache-2.0

@testable import BghostAPI
import BghostBase
@testable import BghostHost
import BghostLinux
import BghostModel
import BghostPolicy
import BghostTestSupport
import Testing

extension Integration {
    /// Plugins that an operator switches off and on.
    @Suite struct SwitchTests {
        @Test(.timeLimit(.minutes(5)))
        func `A plugin that is switched off stays off across restarts`() async throws {
            let folder = try TemporaryDirectory()
            let manifest = try TestManifest.misbehave()
            var waiting: RunID?
            try await withDaemon(manifest, folder: folder, adjust: durable) { daemon in
                let host = daemon.host
                let run = try await daemon.begin("honour-cancel")
                let date = WallClock.now + hour
                let pending = try await host.submit(Submission(task: "echo", earliestBegin: date))
                let answer = try await host.disable(
                    plugin: "misbehave",
                    reason: "too loud",
                    stopsRuns: false
                )
                #expect(answer.running == [run.id] && answer.stopping.isEmpty)
                // The run continues.
                #expect(await host.runs(task: "honour-cancel", limit: 1).first?.state == .running)
                for isTriggered in [false, true] {
                    let error = await #expect(throws: SubmitError.self) {
                        let submission = Submission(task: "echo")
                        _ =
                            isTriggered
                            ? try await host.trigger(submission) : try await host.submit(submission)
                    }
                    #expect(error?.code == .unavailable)
                    #expect(error?.message.contains("switched off (too loud)") == true)
                }
                // Others are not touched.
                #expect(try await daemon.run("witness.echo").outcome == .succeeded)
                let stopped = try await host.disable(
                    plugin: "misbehave",
                    reason: "too loud",
                    stopsRuns: true
                )
                #expect(stopped.stopping == [run.id])
                #expect(try await daemon.end(of: run).stopReason == .user)
                waiting = pending.id
            }
            try await withDaemon(manifest, folder: folder, adjust: durable) { daemon in
                let host = daemon.host
                let status = await host.status()
                let plugin = status.plugins.first { $0.name == "misbehave" }
                #expect(plugin?.switchedOff == "too loud")
                let list = await host.pending(task: "echo", limit: 10)
                #expect(list.requests.first?.id == waiting && list.total == 1)
                #expect(
                    list.requests.first?.waitingFor.contains { $0.contains("too loud") } == true
                )
                let answer = try await host.enable(plugin: "misbehave")
                #expect(answer.off == nil)
                #expect(try await daemon.run("echo").outcome == .succeeded)
            }
            try await withDaemon(manifest, folder: folder, adjust: durable) { daemon in
                let record = try await daemon.run("echo")
                #expect(record.outcome == .succeeded)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `Requests of a disabled plugin start once it is enabled`() async throws {
            try await withDaemon(try TestManifest.misbehave()) { daemon in
                // The test moves the clock past the date, since a busy machine may take longer than any pause.
                let hour: Int64 = 3_600_000_000_000
                let request = try await daemon.host.submit(
                    Submission(task: "echo", earliestBegin: WallClock.now + hour)
                )
                _ = try await daemon.host.disable(plugin: "misbehave", reason: "", stopsRuns: false)
                _ = try await daemon.host.simulate(clock: .by(2 * hour))
                // Its run shows that the dates have been compared.
                let other = try await daemon.host.submit(Submission(task: "witness.echo"))
                #expect(await daemon.host.waitForRun(ofRequest: other.id) != nil)
                #expect(await daemon.host.runs(task: "echo", limit: 1).isEmpty)
                _ = try await daemon.host.enable(plugin: "misbehave")
                let record = try #require(await daemon.host.waitForRun(ofRequest: request.id))
                #expect(record.outcome == .succeeded)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `An unknown plugin cannot be disabled or enabled`() async throws {
            try await withDaemon(try TestManifest.misbehave()) { daemon in
                let refusal = await #expect(throws: OperatorRefusal.self) {
                    try await daemon.host.enable(plugin: "misbehav")
                }
                #expect(refusal?.code == .noSuchPlugin)
                #expect(refusal?.fix == "did you mean misbehave?")
            }
        }
    }
}
