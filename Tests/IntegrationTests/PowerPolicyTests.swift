// SPDX-License-Identifier: Apache-2.0

import BghostAPI
import BghostConfiguration
import BghostFacts
@testable import BghostHost
@testable import BghostLinux
import BghostModel
import BghostPolicy
import BghostTestSupport
import Testing

extension Integration {
    /// A low battery: the status for handlers matches what the scheduler does.
    @Suite struct PowerPolicyTests {
        private let facts = ManualFacts([.batteryNotLow, .externalPower])

        private func withBattery(
            _ policy: PowerPolicy,
            _ body: (RunningHost) async throws -> Void
        ) async throws {
            var manifest = try TestManifest.misbehave()
            manifest.host.powerPolicy = policy
            manifest.tasks.append(
                TaskDefinition(
                    identifier: try TestManifest.pattern("long"),
                    handler: .plugin(name: "misbehave", handler: "echo"),
                    kind: .processing,
                    // So that there is something to watch whatever the policy.
                    requirements: .externalPower
                )
            )
            let facts = facts
            try await withDaemon(manifest, adjust: { $0.factSources = { _ in [facts] } }, body)
        }

        private func charge(_ percent: Double) {
            facts.report(.externalPower, .state(percent > 50), text: "AC")
            facts.report(.batteryNotLow, .charge(percent: percent), text: "\(percent) %")
        }

        private func status(_ daemon: RunningHost) async throws -> String {
            _ = try await daemon.run("situation")
            return try await daemon.line(LogFilter(task: "situation")) {
                $0.message.hasPrefix("refresh ")
            }.message
        }

        @Test(.timeLimit(.minutes(5)))
        func `Without a policy a low battery holds nothing, and the status is available`()
            async throws
        {
            try await withBattery(.none) { daemon in
                charge(5)
                try await daemon.line { $0.message.hasPrefix("externalPower: unmet") }
                let request = try await daemon.host.submit(Submission(task: "echo"))
                let run = try #require(await daemon.host.waitForRun(ofRequest: request.id))
                #expect(run.outcome == .succeeded)
                #expect(try await status(daemon).hasPrefix("refresh 0 1 0,"))
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `With the policy it holds refresh tasks, and the status is restricted`() async throws {
            try await withBattery(.lowBattery) { daemon in
                charge(5)
                try await daemon.line { $0.message.hasPrefix("batteryNotLow: unmet") }
                let request = try await daemon.host.submit(Submission(task: "echo"))
                #expect(request.waitingFor.count == 1)
                #expect(request.waitingFor.first?.contains("batteryNotLow") == true)
                #expect(request.waitingFor.first?.contains("`powerPolicy`") == true)
                // A manual run ignores it, and gets 3 (restricted) for 1 (battery).
                #expect(try await status(daemon).hasPrefix("refresh 0 3 1,"))
                charge(80)
                let run = try #require(await daemon.host.waitForRun(ofRequest: request.id))
                #expect(run.outcome == .succeeded)
            }
        }
    }
}
