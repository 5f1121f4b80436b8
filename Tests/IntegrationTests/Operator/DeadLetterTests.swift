// SPDX-License-Identifier: Apache-2.0

import BghostCore
import BghostHost
import BghostLinux
import BghostTestSupport
import Testing

extension Integration {
    /// Requests that failed too often.
    @Suite struct DeadLetterTests {
        private func dead(_ daemon: TestDaemon, times: Int = 1) async throws {
            var left = times
            try await daemon.line(LogFilter(task: "fail")) { entry in
                if entry.event == "request.dead" { left -= 1 }
                return left == 0
            }
        }

        @Test(.timeLimit(.minutes(1)))
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
                // What is dead is not pending, and is not withdrawn.
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

        @Test(.timeLimit(.minutes(1)))
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

        @Test(.timeLimit(.minutes(1)))
        func `A dead request is given up, once`() async throws {
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
    }
}
