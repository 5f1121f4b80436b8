// SPDX-License-Identifier: Apache-2.0

import BghostAPI
@testable import BghostHost
import BghostModel
import BghostPolicy
import BghostTestSupport
import Testing

extension Integration {
    /// How long a plugin's runs may take within a day.
    @Suite struct BudgetTests {
        private let folder: TemporaryDirectory

        init() throws { folder = try TemporaryDirectory() }

        private func withBudget(
            _ budget: RuntimePerDay,
            _ body: (RunningHost) async throws -> Void
        ) async throws {
            var manifest = try TestManifest.misbehave()
            let index = try #require(manifest.plugins.firstIndex { $0.name == "misbehave" })
            manifest.plugins[index].runtimePerDay = budget
            try await withDaemon(
                manifest,
                folder: folder,
                adjust: durable,
                body
            )
        }

        @Test(.timeLimit(.minutes(5)))
        func `A used-up budget delays requests, also after a restart`() async throws {
            // Any run takes longer.
            let least = RuntimePerDay(refresh: .nanoseconds(1))
            try await withBudget(least) { daemon in
                _ = try await daemon.host.submit(Submission(task: "echo"))
                try await daemon.line(LogFilter(task: "echo")) { $0.event == "run.ended" }
                _ = try await daemon.host.submit(Submission(task: "echo"))
            }
            try await withBudget(least) { daemon in
                let waiting = await daemon.host.pending(task: "echo", limit: 1).requests.first
                #expect(waiting?.waitingFor.count == 1)
                #expect(
                    waiting?.waitingFor.first?.hasPrefix("the daily runtime of its plugin: ")
                        == true
                )
                // Neither trials nor other plugins are held.
                for task in ["echo", "witness.echo"] {
                    let run = try await daemon.run(task)
                    #expect(run.outcome == .succeeded)
                }
            }
            try await withBudget(RuntimePerDay()) { daemon in
                try await daemon.line(LogFilter(task: "echo")) { $0.event == "run.ended" }
            }
        }
    }
}
