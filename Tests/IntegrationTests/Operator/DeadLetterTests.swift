// SPDX-License-Identifier: Apache-2.0

@testable import BghostAPI
import BghostBase
import BghostConfiguration
@testable import BghostHost
import BghostLinux
import BghostModel
import BghostPolicy
import BghostTestSupport
import Testing

extension Integration {
    /// Requests that failed too often.
    @Suite struct DeadLetterTests {
        private func dead(_ daemon: RunningHost, times: Int = 1) async throws {
            var left = times
            try await daemon.line(LogFilter(task: "fail")) { entry in
                if entry.event == "request.dead" { left -= 1 }
                return left == 0
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A dead request is tried again with all its attempts, beside a newer one`()
            async throws
        {
            let folder = try TemporaryDirectory()
            let manifest = try TestManifest.failingTwice(after: .milliseconds(1))
            try await withDaemon(manifest, folder: folder, adjust: durable) { daemon in
                let host = daemon.host
                let request = try await host.submit(Submission(task: "fail"))
                try await dead(daemon)
                let letters = await host.deadLetters(task: "fail", limit: 10)
                #expect(letters.map(\.request.id) == [request.id])
                #expect(letters.first?.request.counters.failures == 2)
                // A dead letter is not pending and cannot be withdrawn.
                #expect(try await host.cancelPending(task: nil).isEmpty)

                let newer = try await host.submit(
                    Submission(task: "fail", earliestBegin: WallClock.now + hour)
                )
                let prefix = String(request.id.description.lowercased().prefix(24))
                let change = try await host.redrive(.request(prefix: prefix))
                #expect(change.done == [.init(id: request.id, task: "fail")])
                // Twice more, and dead again.
                try await dead(daemon, times: 2)
                #expect(await host.runs(task: "fail", limit: 10).map(\.attempt) == [4, 3, 2, 1])
                #expect(await host.deadLetters(task: "fail", limit: 10).count == 1)
                let waiting = await host.pending(task: "fail", limit: 10)
                #expect(waiting.requests.map(\.id) == [newer.id])
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A request that was redriven outlives the daemon beside a newer one`() async throws {
            let folder = try TemporaryDirectory()
            let manifest = try TestManifest.failingTwice(after: .milliseconds(1))
            var ids: [RunID] = []
            try await withDaemon(manifest, folder: folder, adjust: durable) { daemon in
                let host = daemon.host
                ids.append(try await host.submit(Submission(task: "fail")).id)
                try await dead(daemon)
                let date = WallClock.now + hour
                ids.append(
                    try await host.submit(Submission(task: "fail", earliestBegin: date)).id
                )
                // So that it does not begin before the daemon's end.
                _ = try await host.disable(plugin: "misbehave", reason: "", stopsRuns: false)
                #expect(try await host.redrive(.all).done.map(\.id) == [ids[0]])
                #expect(try await host.redrive(.all).done.isEmpty)
            }
            try await withDaemon(manifest, folder: folder, adjust: durable) { daemon in
                let list = await daemon.host.pending(task: "fail", limit: 10)
                #expect(Set(list.requests.map(\.id)) == Set(ids))
                #expect(
                    list.requests.first { $0.id == ids[0] }?.counters
                        == AttemptCounters(interruptions: 2)
                )
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A dead request is discarded once`() async throws {
            try await withDaemon(try TestManifest.failingTwice(after: .milliseconds(1))) { daemon in
                let request = try await daemon.host.submit(Submission(task: "fail"))
                try await dead(daemon)
                let change = try await daemon.host.discard(.task("fail"))
                #expect(change.done.map(\.id) == [request.id])
                #expect(await daemon.host.deadLetters(task: nil, limit: 10).isEmpty)
                let again = await #expect(throws: OperatorRefusal.self) {
                    try await daemon.host.discard(.request(prefix: request.id.description))
                }
                #expect(again?.code == .noSuchRequest)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `Dead letters change only if there are as many as expected`() async throws {
            try await withDaemon(try TestManifest.failingTwice(after: .milliseconds(1))) { daemon in
                let host = daemon.host
                for number in 1...2 {
                    _ = try await host.submit(Submission(task: "fail"))
                    // The lines are read from the first one on.
                    try await dead(daemon, times: number)
                }
                let ids = await host.deadLetters(task: "fail", limit: 10).map(\.request.id)
                #expect(ids.count == 2)
                for expected in [0, 1, 3] {
                    for choice in [DeadLetterChoice.all, .task("fail")] {
                        let refusals = [
                            await #expect(throws: OperatorRefusal.self) {
                                try await host.discard(choice, expected: expected)
                            },
                            await #expect(throws: OperatorRefusal.self) {
                                try await host.redrive(choice, expected: expected)
                            },
                        ]
                        #expect(refusals.allSatisfy { $0?.code == .countChanged })
                    }
                }
                // Without dead letters, too.
                let none = await #expect(throws: OperatorRefusal.self) {
                    try await host.discard(.task("echo"), expected: 1)
                }
                #expect(none?.code == .countChanged)
                #expect(
                    await host.deadLetters(task: nil, limit: 10).map(\.request.id) == ids
                )
                #expect(await host.pending(task: nil, limit: 10).total == 0)
                // A refusal leaves the dead letters free for the next command.
                let change = try await host.discard(.task("fail"), expected: 2)
                #expect(Set(change.done.map(\.id)) == Set(ids))
            }
        }

        /// With a retry, so that only the handler's word keeps it from being tried again.
        @Test(.timeLimit(.minutes(5)))
        func `A handler that says that it would fail again is not tried again`() async throws {
            var manifest = try TestManifest.misbehave()
            for index in manifest.tasks.indices {
                manifest.tasks[index].retry = RetryPolicy(
                    backoff: .exponential(base: .milliseconds(1), cap: .milliseconds(1)),
                    attemptsMax: 3
                )
            }
            try await withDaemon(manifest) { daemon in
                let host = daemon.host
                let final = try await host.submit(Submission(task: "fail-finally"))
                let run = try #require(await host.waitForRun(ofRequest: final.id))
                #expect(run.outcome == .failed && run.message == "the account is gone")
                let letter = try #require(
                    await host.deadLetters(task: "fail-finally", limit: 9).first
                )
                #expect(letter.reason == "its handler said that it would fail again")
                #expect(letter.request.counters.failures == 1)
                // BG_E_FAILED leaves it to `retry`.
                let failed = try await host.submit(Submission(task: "fail"))
                try await dead(daemon)
                let other = try #require(await host.deadLetters(task: "fail", limit: 9).first)
                #expect(other.request.id == failed.id && other.request.counters.failures == 3)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A plugin has no more dead letters than its share, and the oldest are dropped`()
            async throws
        {
            let folder = try TemporaryDirectory()
            var manifest = try TestManifest.misbehave()
            manifest.tasks.append(try TestManifest.task("die.*", "misbehave", "fail-finally", nil))
            for index in manifest.tasks.indices {
                manifest.tasks[index].retry = RetryPolicy(
                    backoff: .exponential(base: .seconds(1), cap: .seconds(1))
                )
            }
            func limited(_ limit: Int) -> (inout HostConfiguration) -> Void {
                { configuration in
                    durable(&configuration)
                    configuration.deadLettersMax = limit
                }
            }
            var kept: [RunID] = []
            try await withDaemon(manifest, folder: folder, adjust: limited(3)) { daemon in
                var requests: [RunID] = []
                for number in 0..<5 {
                    let request = try await daemon.host.submit(Submission(task: "die.\(number)"))
                    #expect(await daemon.host.waitForRun(ofRequest: request.id) != nil)
                    requests.append(request.id)
                }
                kept = await daemon.host.deadLetters(task: nil, limit: 9).map(\.request.id)
                #expect(kept == requests.suffix(3).reversed())
                let line = try await daemon.line { entry in
                    entry.event == "request.dropped" && entry.message.contains("\(requests[1])")
                }
                #expect(line.plugin == "misbehave" && line.message.contains("2 dropped"))
                let status = await daemon.host.status().plugins.first { $0.name == "misbehave" }
                #expect(status?.deadLetters == 3 && status?.deadLettersDropped == 2)
                _ = try await daemon.host.discard(.request(prefix: kept[0].description))
                kept.removeFirst()
            }
            // After a restart the remaining dead letters count against a smaller share.
            try await withDaemon(manifest, folder: folder, adjust: limited(1)) { daemon in
                let letters = await daemon.host.deadLetters(task: nil, limit: 9)
                #expect(letters.map(\.request.id) == [kept[0]])
            }
        }
    }
}
