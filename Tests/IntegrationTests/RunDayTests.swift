// SPDX-License-Identifier: Apache-2.0

import BghostAPI
import BghostBase
import BghostConfiguration
@testable import BghostHost
import BghostLinux
import BghostModel
import BghostPolicy
import BghostStore
import BghostTestSupport
import Testing

extension Integration {
    /// The sums of runs by day of a daemon that restarts and deletes runs.
    @Suite struct RunDayTests {
        private static let history = HistorySettings(runs: 2)

        private func durable(_ configuration: inout HostConfiguration) {
            configuration.openStore = { directory throws(StoreError) in
                // It deletes whatever exceeds the limits, and not only pieces of 64 runs.
                try SQLiteStore(
                    path: directory + "/bghost.sqlite",
                    retention: SQLiteStore.Retention(
                        policy: HistoryPolicy(host: Self.history),
                        chunk: 1
                    )
                )
            }
        }

        /// Waits until all that has ended so far is stored: the request is stored behind it.
        private func settle(_ host: Host) async throws {
            let hour = WallClock.now + 3_600_000_000_000
            _ = try await host.submit(Submission(task: "echo", earliestBegin: hour))
        }

        /// The runs of a task by outcome; the day may change during the test.
        private func sums(_ host: Host, _ task: String) async throws -> [Int64] {
            let page = try await host.runDays(
                RunDayQuestion(tasks: .task(task), since: "1d", until: "0s", limit: 100)
            )
            #expect(page.next == nil)
            #expect(page.rows.allSatisfy { $0.longest <= $0.runtime })
            return [
                page.rows.reduce(0) { $0 + $1.counts.all },
                page.rows.reduce(0) { $0 + $1.counts.succeeded },
                page.rows.reduce(0) { $0 + $1.counts.failed },
            ]
        }

        @Test(.timeLimit(.minutes(5)))
        func `Sums outlive restarts and the runs that they are of`() async throws {
            let folder = try TemporaryDirectory()
            var manifest = try TestManifest.misbehave()
            manifest.host.history = Self.history
            try await withDaemon(manifest, folder: folder, adjust: durable) { daemon in
                for _ in 0..<4 { #expect(try await daemon.run("succeed").outcome == .succeeded) }
                #expect(try await daemon.run("fail").outcome == .failed)
                try await settle(daemon.host)
                #expect(try await sums(daemon.host, "succeed") == [4, 4, 0])
                #expect(try await sums(daemon.host, "fail") == [1, 0, 1])
            }
            try await withDaemon(manifest, folder: folder, adjust: durable) { daemon in
                while await daemon.host.runs(task: nil, limit: 100).count > 2 {
                    try Task.checkCancellation()
                    await Task.yield()
                }
                #expect(try await sums(daemon.host, "succeed") == [4, 4, 0])
                #expect(try await daemon.run("succeed").outcome == .succeeded)
                try await settle(daemon.host)
                #expect(try await sums(daemon.host, "succeed") == [5, 5, 0])
                let two = try await daemon.host.runDays(RunDayQuestion(limit: 1))
                let rest = RunDayQuestion(
                    cursor: two.next.map { .days(day: $0.day, number: $0.number) },
                    limit: 100
                )
                let all = try await daemon.host.runDays(RunDayQuestion(limit: 100))
                #expect(try await daemon.host.runDays(rest).rows == Array(all.rows.dropFirst()))
            }
            try await withDaemon(manifest, folder: folder, adjust: durable) { daemon in
                let sums = [
                    try await sums(daemon.host, "succeed"), try await sums(daemon.host, "fail"),
                ]
                #expect(sums == [[5, 5, 0], [1, 0, 1]])
                await #expect(throws: OperatorRefusal.self) {
                    try await daemon.host.runDays(RunDayQuestion(since: "soon", limit: 1))
                }
                await #expect(throws: OperatorRefusal.self) {
                    let other = PageCursor.starts(due: 1, number: 2)
                    _ = try await daemon.host.runDays(RunDayQuestion(cursor: other, limit: 1))
                }
            }
        }
    }
}
