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
    /// Runs that need something of the machine.
    @Suite struct RequirementTests {
        private let facts = ManualFacts([.externalPower, .storage])

        /// A host whose tasks `echo` and `honour-cancel` require external power and space.
        private func withRequirements(
            losing loss: RequirementLoss = RequirementLoss(),
            _ body: (RunningHost) async throws -> Void
        ) async throws {
            var manifest = try TestManifest.misbehave()
            for index in manifest.tasks.indices
            where ["echo", "honour-cancel"].contains(manifest.tasks[index].identifier.description) {
                manifest.tasks[index].requirements = [.externalPower, .storage]
                manifest.tasks[index].loss = loss
            }
            let facts = facts
            try await withDaemon(manifest, adjust: { $0.factSources = { _ in [facts] } }, body)
        }

        private func report(_ power: Bool) {
            facts.report(.externalPower, .state(power), text: "online=\(power ? 1 : 0)")
            facts.report(.storage, .space(percent: 50, bytes: 1 << 40))
        }

        private func waitingFor(_ task: String, _ daemon: RunningHost) async -> [String] {
            await daemon.host.status().tasks.first { $0.identifier == task }?.pending?.waitingFor
                ?? []
        }

        @Test(.timeLimit(.minutes(5)))
        func `A request waits for what it requires, and says for what`() async throws {
            try await withRequirements { daemon in
                report(false)
                try await daemon.line { $0.message.hasPrefix("externalPower: unmet") }
                let request = try await daemon.host.submit(Submission(task: "echo"))
                let reasons = await waitingFor("echo", daemon)
                #expect(reasons.count == 1)
                #expect(reasons.first?.contains("online=0") == true, "\(reasons)")
                // Others are not held up.
                let other = try await daemon.run("succeed")
                #expect(other.outcome == .succeeded)
                report(true)
                let run = try #require(await daemon.host.waitForRun(ofRequest: request.id))
                #expect(run.outcome == .succeeded)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A task can require a probe of the operator`() async throws {
            let folder = try TemporaryDirectory()
            var manifest = try TestManifest.misbehave()
            manifest.host.facts.probes = [
                ProbeDefinition(
                    name: "mounted",
                    arguments: ["/usr/bin/test", "-e", folder.file("here")],
                    interval: .seconds(1)
                )
            ]
            let index = try #require(
                manifest.tasks.firstIndex { $0.identifier.description == "echo" }
            )
            manifest.tasks[index].requirements = .probe(0)
            try await withDaemon(manifest) { daemon in
                try await daemon.line { $0.message.hasPrefix("mounted: unmet") }
                let request = try await daemon.host.submit(Submission(task: "echo"))
                #expect(await waitingFor("echo", daemon).first?.contains("mounted") == true)
                try folder.write("", to: "here")
                let run = try #require(await daemon.host.waitForRun(ofRequest: request.id))
                #expect(run.outcome == .succeeded)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A requirement with an unknown fact is unmet`() async throws {
            try await withRequirements { daemon in
                _ = try await daemon.host.submit(Submission(task: "echo"))
                #expect(await waitingFor("echo", daemon).count == 2)
                let other = try await daemon.run("succeed")
                #expect(other.outcome == .succeeded)
                #expect(await waitingFor("echo", daemon).count == 2)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A run that loses a requirement is cancelled and retried later`()
            async throws
        {
            try await withRequirements { daemon in
                report(true)
                let request = try await daemon.host.submit(Submission(task: "honour-cancel"))
                let first = try await daemon.begun(request)
                report(false)
                let ended = try #require(await daemon.host.waitForRun(ofRequest: request.id))
                #expect(ended.outcome == .cancelledClean)
                #expect(ended.stopReason == .condition)
                #expect(ended.message == "why 4")
                report(true)
                try await daemon.line(LogFilter(task: "honour-cancel")) {
                    $0.event == "run.started" && $0.run != first.id
                }
                let second = try #require(
                    await daemon.host.runs(task: "honour-cancel", limit: 10).first
                )
                #expect(second.request == request.id)
                #expect(second.attempt == 2)
                #expect(second.epoch > first.epoch)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A run whose task permits the loss of a requirement continues`() async throws {
            var loss = RequirementLoss()
            loss[.externalPower] = .continue
            try await withRequirements(losing: loss) { daemon in
                report(true)
                let request = try await daemon.host.submit(Submission(task: "honour-cancel"))
                let run = try await daemon.begun(request)
                report(false)
                try await daemon.line { $0.message.hasPrefix("externalPower: unmet") }
                let runs = await daemon.host.runs(task: "honour-cancel", limit: 1)
                #expect(runs.first?.state == .running)
                #expect(await daemon.host.expire(run: run.id))
                let ended = try await daemon.end(of: run)
                #expect(ended.stopReason == .expired)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A trigger with an unmet requirement is refused unless it ignores them`() async throws
        {
            try await withRequirements { daemon in
                report(false)
                try await daemon.line { $0.message.hasPrefix("externalPower: unmet") }
                let error = await #expect(throws: SubmitError.self) {
                    try await daemon.host.trigger(Submission(task: "echo"))
                }
                #expect(error?.code == .immediateRunIneligible)
                #expect(error?.message.contains("online=0") == true)
                let submit = await #expect(throws: SubmitError.self) {
                    try await daemon.host.submit(
                        Submission(task: "echo", ignoresRequirements: true)
                    )
                }
                #expect(submit?.code == .badParameters)
                let request = try await daemon.host.trigger(
                    Submission(task: "echo", ignoresRequirements: true)
                )
                let run = try #require(await daemon.host.waitForRun(ofRequest: request.id))
                #expect(run.outcome == .succeeded)
            }
        }
    }
}
