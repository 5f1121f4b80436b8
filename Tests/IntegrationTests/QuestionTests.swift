// SPDX-License-Identifier: Apache-2.0

import BghostAPI
import BghostBase
import BghostConfiguration
import BghostDispatch
@testable import BghostHost
import BghostLinux
import BghostModel
import BghostPolicy
import BghostTestSupport
import Synchronization
import Testing

extension Integration {
    /// A question changes nothing: neither what is known nor what is decided later.
    @Suite struct QuestionTests {
        /// Counts what happened to the scheduler and what it decided.
        private final class Recorder: DecisionRecorder {
            private let counts = Mutex((inputs: 0, effects: 0))
            /// What the inputs were, for a failure.
            private let names = Mutex<[String]>([])

            func begin(_ settings: Scheduler.Settings) {}

            func add(_ inputs: [SchedulerInput.Entry], _ effects: [SchedulerEffect]) {
                names.withLock { names in
                    names += inputs.map { String("\($0.input)".prefix(100)) }
                }
                counts.withLock {
                    $0.inputs += inputs.count
                    $0.effects += effects.count
                }
            }

            var count: [Int] { counts.withLock { [$0.inputs, $0.effects] } }

            func inputs(after count: [Int]) -> [String] {
                names.withLock { Array($0.dropFirst(count[0])) }
            }
        }

        /// All that can be asked, each of what there is and of what there is not.
        private func ask(_ host: Host, _ ids: [String], _ runs: [RunID]) async {
            _ = await host.status()
            _ = await host.metrics()
            _ = await host.readiness()
            _ = await host.health()
            _ = await host.transfers()
            _ = await host.pauses()
            _ = await host.alerts()
            _ = await host.fleet()
            for isDead in [false, true] {
                // This host has no such requests, which is an answer.
                let question = FleetRequestQuestion(isDead: isDead, limit: 1)
                do { _ = try await host.fleetRequests(question) } catch {}
            }
            _ = await host.drainStatus()
            _ = await host.notification(token: "unknown")
            do { _ = try await host.outbox() } catch { Issue.record("\(error)") }
            for limit in [0, 1, 1000] {
                _ = await host.pending(task: nil, limit: limit)
                _ = await host.deadLetters(task: nil, limit: limit)
                _ = await host.runs(task: nil, limit: limit)
                _ = await host.logs(matching: LogFilter(), limit: limit)
                do {
                    _ = try await host.runDays(RunDayQuestion(limit: limit))
                } catch {
                    Issue.record("\(error)")
                }
            }
            _ = await host.throttles(task: nil)
            _ = await host.uses(task: nil)
            for id in ids {
                // An id that is unknown is refused, which is an answer.
                do { _ = try await host.explain(id) } catch {}
                _ = await host.pending(task: id, limit: 100)
                _ = await host.deadLetters(task: id, limit: 100)
                _ = await host.throttles(task: id)
                _ = await host.uses(task: id)
                _ = await host.runs(task: id, limit: 100)
                _ = await host.runs(idPrefix: id, limit: 100)
            }
            for run in runs {
                _ = await host.waitForRun(ofRequest: run)
                _ = await host.checkpoint(ofRequest: run)
                do {
                    _ = try await host.checkpoints(
                        CheckpointQuestion(tasks: .beginning(""), limit: 100)
                    )
                } catch {
                    Issue.record(error, "the question has no cursor and no plugin")
                }
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `No question changes a later decision`() async throws {
            let folder = try TemporaryDirectory()
            var manifest = try TestManifest.misbehave(overlap: .queue, slots: 4)
            try OneOfEach.define(in: &manifest)
            let library = folder.file("late.so")
            manifest.plugins.append(
                PluginDefinition(
                    name: "late",
                    library: library,
                    maxPending: PendingLimits(refresh: 10)
                )
            )
            manifest.tasks.append(try TestManifest.task("late.task", "late", "succeed", nil))
            manifest.tasks.append(try TestManifest.task("family.*", "late", "succeed", nil))
            let recorder = Recorder()
            try await withDaemon(
                manifest,
                folder: folder,
                adjust: {
                    OneOfEach.adjust(&$0)
                    $0.recorder = recorder
                    // The load of the machine changes by itself.
                    $0.factSources = { _ in [] }
                    // Another process may set the clock meanwhile, as a test of the watch does.
                    $0.watchesClockSteps = false
                    // Nothing but a question could have the file looked at.
                    $0.timeouts.look = 3_600_000_000_000
                    $0.timeouts.settle = 3_600_000_000_000
                },
                { daemon in
                    let host = daemon.host
                    let each = try await OneOfEach.begin(in: daemon)
                    let hour = WallClock.now + 3_600_000_000_000
                    let late = try await host.submit(Submission(task: "late.task"))
                    let member = try await host.submit(
                        Submission(task: "family.one", earliestBegin: hour)
                    )
                    let later = try await host.submit(Submission(task: "echo", earliestBegin: hour))
                    let ended = try await daemon.run("fail")
                    let active = try await daemon.begin("honour-cancel")
                    // The worker of the failed run ends beside the others.
                    await host.untilGone(ended.pid, of: "misbehave")
                    // The library is good now, but no reload has read it.
                    try folder.write(try File.read(try Fixture.library("good")), to: "late.so")
                    let ids = [
                        "late.task", "family.*", "family.one", "echo", "fail", "honour-cancel",
                        "succeed", "nosuch", late.id.description, member.id.description,
                        String(later.id.description.prefix(10)), ended.id.description,
                        active.id.description, "", "0", "*",
                    ]
                    let before = recorder.count
                    let status = await host.status()
                    let transfers = await host.transferPicture()
                    for _ in 0..<3 { await ask(host, ids, [ended.request]) }
                    _ = await host.checkpoint(ofRequest: each.saver.request)
                    #expect(recorder.count == before, "\(recorder.inputs(after: before))")
                    let after = await host.status()
                    #expect(after.plugins == status.plugins)
                    #expect(pending(after) == pending(status))
                    #expect(await host.transferPicture() == transfers)
                    #expect(await host.pending(task: "late.task", limit: 10).requests.count == 1)
                    // To ask for a run is no question.
                    #expect(try await daemon.run("late.task").outcome == .succeeded)
                    #expect(recorder.count != before)
                    _ = await host.stop(run: active.id)
                }
            )
        }
    }
}

/// What is pending, without its outlook: that counts from the moment of the question.
private func pending(_ status: HostStatus) -> [PendingRequest?] {
    status.tasks.map { task in
        var request = task.pending
        request?.outlook = nil
        return request
    }
}
