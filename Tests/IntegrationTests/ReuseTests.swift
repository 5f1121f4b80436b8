// SPDX-License-Identifier: Apache-2.0

import BghostAPI
import BghostConfiguration
@testable import BghostHost
import BghostModel
import BghostPolicy
import BghostTestSupport
import Testing

extension Integration {
    /// Which worker carries which run.
    @Suite struct ReuseTests {
        @Test(.timeLimit(.minutes(5)))
        func `A worker is used again after success`() async throws {
            try await withDaemon(try TestManifest.misbehave()) { daemon in
                let first = try await daemon.run("echo")
                let second = try await daemon.run("succeed", #"{"n":2}"#)
                let third = try await daemon.run("succeed")
                let pid = try #require(first.pid)
                #expect(second.pid == pid && third.pid == pid)
                #expect(await daemon.workers(of: "misbehave") == [pid])
            }
        }

        @Test(
            .timeLimit(.minutes(5)),
            arguments: [
                "fail", "honour-cancel", "never-complete", "crash-in-start", "exit-in-start",
                "write-rubbish", "unknown-status", "crash-in-release",
            ]
        )
        func `A worker is not used again after anything else`(task: String) async throws {
            let manifest = try TestManifest.misbehave(
                runtime: .milliseconds(200),
                grace: .milliseconds(100),
                only: ["honour-cancel", "never-complete"]
            )
            try await withDaemon(manifest) { daemon in
                let first = try await daemon.run(task)
                let second = try await daemon.run("succeed")
                #expect(second.outcome == .succeeded)
                #expect(first.pid != nil && first.pid != second.pid)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `Each of two runs at once has a worker of its own`() async throws {
            let manifest = try TestManifest.misbehave(overlap: .allow, slots: 4)
            try await withDaemon(manifest) { daemon in
                let first = try await daemon.begin("honour-cancel")
                let second = try await daemon.begin("honour-cancel-fd")
                #expect(first.pid != nil && first.pid != second.pid)
                for run in [first, second] { #expect(await daemon.host.expire(run: run.id)) }
                #expect(try await daemon.end(of: first).outcome == .cancelledClean)
                #expect(try await daemon.end(of: second).outcome == .cancelledClean)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `Runs share a worker where the manifest says so`() async throws {
            let manifest = try TestManifest.misbehave(
                runsPerWorker: 4,
                overlap: .allow,
                slots: 8
            )
            try await withDaemon(manifest) { daemon in
                let tasks = [
                    "honour-cancel", "honour-cancel-poll", "honour-cancel-fd", "never-complete",
                ]
                var runs: [RunRecord] = []
                for task in tasks { runs.append(try await daemon.begin(task)) }
                #expect(Set(runs.map(\.pid)).count == 1)
                // A fifth finds no slot there.
                let fifth = try await daemon.begin("honour-cancel")
                #expect(fifth.pid != runs[0].pid)
                for run in runs.prefix(3) + [fifth] {
                    #expect(await daemon.host.expire(run: run.id))
                }
                for run in runs.prefix(3) + [fifth] {
                    #expect(try await daemon.end(of: run).outcome == .cancelledClean)
                }
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `Killing a run loses the runs that share its worker`() async throws {
            let manifest = try TestManifest.misbehave(
                runsPerWorker: 4,
                overlap: .allow,
                slots: 8
            )
            try await withDaemon(manifest) { daemon in
                var neighbours: [RunRecord] = []
                for _ in 0..<3 { neighbours.append(try await daemon.begin("honour-cancel")) }
                let bad = try await daemon.begin("ignore-cancel")
                #expect(Set((neighbours + [bad]).map(\.pid)).count == 1)
                #expect(await daemon.host.expire(run: bad.id))
                #expect(try await daemon.end(of: bad).outcome == .killed(.graceExceeded))
                for run in neighbours {
                    #expect(try await daemon.end(of: run).outcome == .lost)
                }
                #expect(try await daemon.run("echo").outcome == .succeeded)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A handler that stays after its run does not count against the others`() async throws {
            var manifest = try TestManifest.plugin(
                "stay",
                library: try Fixture.library("stay-after-run"),
                handler: "stay"
            )
            manifest.plugins[manifest.plugins.count - 1].runsPerWorker = 2
            manifest.tasks.append(try TestManifest.task("other", "stay", "wait", nil))
            manifest.host.slots = 4
            try await withDaemon(manifest, adjust: { $0.timeouts.release = 100_000_000 }) {
                daemon in
                let other = try await daemon.begin("other")
                let staying = try await daemon.run("task")
                #expect(staying.outcome == .succeeded && staying.pid == other.pid)
                #expect(try await daemon.end(of: other).outcome == .lost)
                let line = try await daemon.line { $0.event == "worker.unreleased" }
                #expect(line.message.hasSuffix("its worker is killed"))
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A worker that stops answering gets no more runs`() async throws {
            let manifest = try TestManifest.misbehave(
                runsPerWorker: 4,
                overlap: .allow,
                slots: 8
            )
            try await withDaemon(manifest) { daemon in
                let silent = try await daemon.begin("fall-silent")
                let line = try await daemon.line { $0.event == "worker.silent" }
                #expect(line.plugin == "misbehave")
                repeat {
                    let other = try await daemon.run("echo")
                    #expect(other.outcome == .succeeded && other.pid != silent.pid)
                } while await daemon.host.runs(task: "fall-silent", limit: 1).first?.state != .ended
                let record = try await daemon.end(of: silent)
                #expect(record.outcome == .killed(.protocolFault(15)))
                let fault = try await daemon.line { $0.event == "worker.fault" }
                #expect(fault.message.hasPrefix("its socket to the daemon was closed; a plugin"))
                // From when it closed its socket, which a handler on a busy machine does late.
                let took = Duration.nanoseconds(try #require(record.endedAt) - line.time)
                #expect(took < .seconds(2), "\(took)")
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A serial handler never has two runs at once`() async throws {
            let manifest = try TestManifest.misbehave(
                runtime: .seconds(600),
                runsPerWorker: 4,
                overlap: .allow,
                slots: 8
            )
            try await withDaemon(manifest) { daemon in
                var requests: [PendingRequest] = []
                for _ in 0..<4 {
                    requests.append(try await daemon.host.trigger(Submission(task: "serial")))
                }
                var records: [RunRecord] = []
                for request in requests {
                    let run = try await daemon.begun(request)
                    // Others of the plugin are not held up by it.
                    #expect(try await daemon.run("echo").outcome == .succeeded)
                    #expect(
                        await daemon.host.runs(task: "serial", limit: 9).count == records.count + 1
                    )
                    #expect(await daemon.host.expire(run: run.id))
                    records.append(try await daemon.end(of: run))
                }
                #expect(records.allSatisfy { $0.outcome == .cancelledClean })
                let spans = try records.map {
                    (try #require($0.startedAt), try #require($0.endedAt))
                }
                for (before, after) in zip(spans, spans.dropFirst()) {
                    #expect(before.1 <= after.0, "two runs of a serial handler overlap")
                }
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A handler that is not serial uses all slots`() async throws {
            let manifest = try TestManifest.misbehave(
                runsPerWorker: 4,
                overlap: .allow,
                slots: 8
            )
            try await withDaemon(manifest) { daemon in
                var requests: [PendingRequest] = []
                for _ in 0..<4 {
                    requests.append(
                        try await daemon.host.trigger(Submission(task: "honour-cancel"))
                    )
                }
                var runs: [RunRecord] = []
                for request in requests { runs.append(try await daemon.begun(request)) }
                for run in runs { #expect(await daemon.host.expire(run: run.id)) }
                for run in runs {
                    #expect(try await daemon.end(of: run).outcome == .cancelledClean)
                }
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A worker with nothing to do is ended`() async throws {
            try await withDaemon(
                try TestManifest.misbehave(),
                adjust: { $0.timeouts.idle = 50_000_000 }
            ) { daemon in
                let first = try await daemon.run("echo")
                let pid = try #require(first.pid)
                try await gone(pid)
                #expect(try await daemon.run("echo").outcome == .succeeded)
            }
        }
    }
}
