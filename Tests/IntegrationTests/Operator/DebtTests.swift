// SPDX-License-Identifier: Apache-2.0

import BghostCore
import BghostHost
import BghostLinux
import BghostTestSupport
import Testing

extension Integration {
    /// What tasks owe for not stopping in time.
    @Suite struct DebtTests {
        @Test(.timeLimit(.minutes(1)))
        func `What a task owes is shown with its cause, and forgiven for good`() async throws {
            let folder = try TemporaryDirectory()
            let manifest = try TestManifest.misbehave(
                runtime: .milliseconds(20),
                grace: .milliseconds(20)
            )
            try await withDaemon(manifest, folder: folder, adjust: durable) { daemon in
                let host = daemon.host
                let request = try await host.submit(Submission(task: "ignore-cancel"))
                let run = try #require(await host.waitForRun(ofRequest: request.id))
                let owed = try #require(await host.throttles(task: nil).first)
                #expect(owed.task == "ignore-cancel" && owed.points == 2 && owed.level == 2)
                #expect(owed.delay == .seconds(300))
                #expect(owed.causes.map(\.run) == [run.id])
                #expect(try #require(owed.nextStart) > WallClock.now)

                let next = try await host.submit(Submission(task: "ignore-cancel"))
                #expect(next.waitingFor.contains { $0.contains("not stopping in time") })
                #expect(try await host.forgive(task: "ignore-cancel").points == 2)
                // It begins now, and owes again.
                #expect(await host.waitForRun(ofRequest: next.id) != nil)
                #expect(try await host.forgive(task: "ignore-cancel").points == 2)
                #expect(try await host.forgive(task: "echo").points == 0)
            }
            try await withDaemon(manifest, folder: folder, adjust: durable) { daemon in
                #expect(await daemon.host.throttles(task: nil).isEmpty)
            }
        }
    }
}
