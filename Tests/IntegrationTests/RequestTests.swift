// SPDX-License-Identifier: Apache-2.0

import BghostAPI
import BghostBase
import BghostConfiguration
@testable import BghostHost
import BghostLinux
import BghostModel
import BghostPolicy
import Testing

extension Integration {
    /// From a request to its run.
    @Suite struct RequestTests {
        @Test(.timeLimit(.minutes(5)))
        func `Only what the manifest permits is accepted`() async throws {
            var manifest = try TestManifest.misbehave()
            manifest.tasks.append(try TestManifest.task("family.*", "misbehave", "echo", nil))
            try await withDaemon(manifest) { daemon in
                for task in ["eco", "ECHO", "family", "familyx.a", ""] {
                    let submit = await #expect(throws: SubmitError.self, "\(task)") {
                        try await daemon.host.submit(Submission(task: task))
                    }
                    #expect(submit?.code == .notPermitted)
                    let trigger = await #expect(throws: SubmitError.self, "\(task)") {
                        try await daemon.host.trigger(Submission(task: task))
                    }
                    #expect(trigger?.code == .notPermitted)
                }
                let record = try await daemon.run("family.one.two")
                #expect(record.outcome == .succeeded)
                #expect(record.task == "family.one.two")
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `Parameters that are no object, or too many, are refused`() async throws {
            try await withDaemon(try TestManifest.misbehave()) { daemon in
                for (text, code) in [
                    ("[1]", SubmitErrorCode.badParameters), ("{", .badParameters),
                    ("", .badParameters),
                    (
                        "{\"a\":\"" + String(repeating: "x", count: 65 << 10) + "\"}",
                        .payloadTooLarge
                    ),
                ] {
                    let error = await #expect(throws: SubmitError.self) {
                        try await daemon.host.submit(Submission(task: "echo", parameters: text))
                    }
                    #expect(error?.code == code)
                }
                // The longest that are taken reach the handler.
                let longest = "{\"a\":\"" + String(repeating: "x", count: (64 << 10) - 8) + "\"}"
                let record = try await daemon.run("succeed", longest)
                #expect(record.outcome == .succeeded)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A client that waits for a run can stop waiting`() async throws {
            try await withDaemon(try TestManifest.misbehave()) { daemon in
                let run = try await daemon.begin("honour-cancel")
                let waiting = Task { await daemon.host.waitForRun(ofRequest: run.request) }
                waiting.cancel()
                #expect(await waiting.value == nil)
                // Others who wait for it, and the run, are not disturbed.
                async let other = daemon.host.waitForRun(ofRequest: run.request)
                #expect(await daemon.host.expire(run: run.id))
                #expect(await other?.outcome == .cancelledClean)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A request does not begin while its successor is on its way to the store`()
            async throws
        {
            let store = HeldStore()
            try await withDaemon(
                try TestManifest.misbehave(),
                adjust: { $0.openStore = { _ in store } }
            ) { daemon in
                let task = Submission(task: "honour-cancel")
                let run = try await daemon.begun(try await daemon.host.submit(task))
                let first = try await daemon.host.submit(task)
                store.hold()
                async let newer = daemon.host.submit(task)
                await store.untilRequestHeld()
                // What the first one waited for is over.
                #expect(await daemon.host.expire(run: run.id))
                try await daemon.line(LogFilter(run: run.id)) { $0.event == "run.ended" }
                store.letGo()
                let second = try await daemon.begun(try await newer)
                #expect(second.request != first.id)
                let requests = await daemon.host.runs(task: "honour-cancel", limit: 9)
                    .map(\.request)
                #expect(requests == [second.request, run.request])
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A newer request replaces the pending one of its task`() async throws {
            try await withDaemon(try TestManifest.misbehave()) { daemon in
                let later = WallClock.now + 3_600_000_000_000
                let first = try await daemon.host.submit(
                    Submission(task: "echo", earliestBegin: later)
                )
                #expect(first.waitingFor == ["its earliest begin date"])
                async let ended = daemon.host.waitForRun(ofRequest: first.id)
                let second = try await daemon.host.submit(
                    Submission(task: "echo", parameters: #"{"n":2}"#)
                )
                #expect(await ended == nil)
                let record = try #require(await daemon.host.waitForRun(ofRequest: second.id))
                #expect(record.result == #"{"n":2}"#)
                #expect(await daemon.host.runs(task: "echo", limit: 10).count == 1)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A run does not begin before its date`() async throws {
            try await withDaemon(try TestManifest.misbehave()) { daemon in
                let date = WallClock.now + 150_000_000
                let request = try await daemon.host.submit(
                    Submission(task: "echo", earliestBegin: date)
                )
                let record = try #require(await daemon.host.waitForRun(ofRequest: request.id))
                #expect(record.outcome == .succeeded)
                #expect(try #require(record.startedAt) >= date)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A triggered run begins before the date of what is pending, which stays`()
            async throws
        {
            try await withDaemon(try TestManifest.misbehave()) { daemon in
                let date = WallClock.now + 3_600_000_000_000
                let pending = try await daemon.host.submit(
                    Submission(task: "echo", earliestBegin: date)
                )
                #expect(try await daemon.run("echo").outcome == .succeeded)
                let status = await daemon.host.status()
                let task = try #require(status.tasks.first { $0.identifier == "echo" })
                #expect(task.pending?.id == pending.id)
                #expect(task.last?.outcome == .succeeded)
                let withdrawn = try await daemon.host.cancelPending(task: "echo")
                #expect(withdrawn.map(\.id) == [pending.id])
                #expect(try await daemon.host.cancelPending(task: "echo").isEmpty)
                #expect(await daemon.host.waitForRun(ofRequest: pending.id) == nil)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A run is found by the beginning of its id, under way and ended`() async throws {
            try await withDaemon(try TestManifest.misbehave()) { daemon in
                let run = try await daemon.begin("honour-cancel")
                let prefix = String(run.id.description.prefix(24))
                let active = await daemon.host.runs(idPrefix: prefix.lowercased(), limit: 5)
                #expect(active.contains { $0.id == run.id && $0.state == .running })
                let status = await daemon.host.status()
                let task = try #require(status.tasks.first { $0.identifier == "honour-cancel" })
                #expect(task.running.map(\.id) == [run.id])
                #expect(await daemon.host.expire(run: run.id))
                _ = try await daemon.end(of: run)
                let ended = await daemon.host.runs(idPrefix: run.id.description, limit: 5)
                #expect(ended.map(\.outcome) == [.cancelledClean])
                #expect(await daemon.host.runs(idPrefix: "ZZZZ", limit: 5).isEmpty)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A request waits for the run of its task that is under way`() async throws {
            try await withDaemon(try TestManifest.misbehave(overlap: .queue)) { daemon in
                let (first, second) = try await two(daemon)
                #expect(first.outcome == .cancelledClean)
                let record = try #require(second)
                let ended = try #require(first.endedAt)
                #expect(try #require(record.startedAt) >= ended)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A request is dropped while its task runs, where overlap is skip`() async throws {
            try await withDaemon(try TestManifest.misbehave(overlap: .skip)) { daemon in
                let (first, second) = try await two(daemon)
                #expect(first.outcome == .cancelledClean)
                #expect(second == nil)
                try await daemon.line { $0.event == "request.skipped" }
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A request displaces the run of its task, where overlap is replace`() async throws {
            try await withDaemon(try TestManifest.misbehave(overlap: .replace)) { daemon in
                let run = try await daemon.begin("honour-cancel")
                let request = try await daemon.host.submit(Submission(task: "honour-cancel"))
                let first = try await daemon.end(of: run)
                #expect(first.outcome == .cancelledClean)
                #expect(first.stopReason == .user)
                let second = try await daemon.begun(request)
                #expect(await daemon.host.expire(run: second.id))
                #expect(try await daemon.end(of: second).outcome == .cancelledClean)
            }
        }

        /// A run that is under way while another is asked for and that is then expired; and what
        /// became of the other.
        private func two(_ daemon: RunningHost) async throws -> (RunRecord, RunRecord?) {
            let run = try await daemon.begin("honour-cancel")
            let request = try await daemon.host.submit(Submission(task: "honour-cancel"))
            #expect(await daemon.host.expire(run: run.id))
            let first = try await daemon.end(of: run)
            guard
                await daemon.host.status().tasks.contains(where: { task in
                    task.pending?.id == request.id
                        || task.running.contains { $0.request == request.id }
                })
            else { return (first, await daemon.host.waitForRun(ofRequest: request.id)) }
            let second = try await daemon.begun(request)
            _ = await daemon.host.expire(run: second.id)
            return (first, try await daemon.end(of: second))
        }

        @Test(.timeLimit(.minutes(5)))
        func `The higher priority goes first, and the older within one`() async throws {
            var manifest = try TestManifest.misbehave(slots: 1)
            for name in ["a", "b", "c"] {
                manifest.tasks.append(try TestManifest.task(name, "misbehave", "echo", nil))
            }
            try await withDaemon(manifest) { daemon in
                let run = try await daemon.begin("honour-cancel")
                var requests: [PendingRequest] = []
                for (task, priority) in [("a", 100), ("b", 900), ("c", 900)] {
                    requests.append(
                        try await daemon.host.submit(Submission(task: task, priority: priority))
                    )
                }
                #expect(await daemon.host.expire(run: run.id))
                var began: [String: Int64] = [:]
                for request in requests {
                    let record = try #require(await daemon.host.waitForRun(ofRequest: request.id))
                    began[record.task] = record.startedAt
                }
                #expect(began.sorted { $0.value < $1.value }.map(\.key) == ["b", "c", "a"])
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `There are never more runs than slots`() async throws {
            let manifest = try TestManifest.misbehave(
                runtime: .milliseconds(60),
                overlap: .allow,
                slots: 2
            )
            try await withDaemon(manifest) { daemon in
                var requests: [PendingRequest] = []
                for _ in 0..<6 {
                    requests.append(
                        try await daemon.host.trigger(Submission(task: "honour-cancel"))
                    )
                }
                var records: [RunRecord] = []
                for request in requests {
                    records.append(
                        try #require(await daemon.host.waitForRun(ofRequest: request.id))
                    )
                }
                for record in records {
                    let at = try #require(record.startedAt)
                    let beside = records.filter {
                        ($0.startedAt ?? .max) <= at && ($0.endedAt ?? 0) > at
                    }
                    #expect(beside.count <= 2)
                }
            }
        }
    }
}
