// SPDX-License-Identifier: Apache-2.0

import BghostAPI
import BghostBase
import BghostConfiguration
import BghostFuzz
@testable import BghostHost
import BghostModel
import BghostServices
import BghostTestSupport
import Testing

extension SeparateHosts {
    /// Workers that say nearly anything, each by its seed: the host's side of the protocol.
    @Suite struct BabbleTests {
        private static let count = 300
        private static let limits = RunLimits(
            runtime: .milliseconds(100),
            grace: .milliseconds(50)
        )

        private static func manifest() throws -> Manifest {
            var manifest = Manifest()
            manifest.host.slots = 8
            let library = try Fixture.library("misbehave")
            for seed in 0..<Self.count {
                manifest.plugins.append(
                    PluginDefinition(
                        name: "babble-\(seed)",
                        library: library,
                        permissions: Permissions(),
                        config: #"{"seed":\#(seed)}"#
                    )
                )
                manifest.tasks.append(
                    try TestManifest.task(
                        "fuzz.\(seed)",
                        "babble-\(seed)",
                        "succeed",
                        Self.limits
                    )
                )
            }
            return manifest
        }

        @Test(.timeLimit(.minutes(5)))
        func `Whatever a worker sends, its run ends in time and the log stays valid`() async {
            await #expect(processExitsWith: .success) {
                let worker = try Fixture.program("babble")
                try await withDaemon(
                    try Self.manifest(),
                    adjust: {
                        $0.workerPath = worker
                        $0.sandbox = []
                    },
                    { daemon in
                        let records = try await withThrowingTaskGroup(of: RunRecord.self) { group in
                            for seed in 0..<Self.count {
                                group.addTask { try await daemon.run("fuzz.\(seed)") }
                            }
                            return try await group.reduce(into: []) { $0.append($1) }
                        }
                        #expect(records.count == Self.count)
                        try Self.check(records, daemon)
                        for entry in daemon.log.entries(matching: LogFilter(), limit: 100_000) {
                            if !entry.message.isEmpty {
                                try MessageText.check(entry.message, bytesMax: 64 << 10)
                            }
                        }
                    }
                )
            }
        }

        private static func check(_ records: [RunRecord], _ daemon: RunningHost) throws {
            var outcomes: [String: Int] = [:]
            for record in records {
                let outcome = try #require(record.outcome).text
                outcomes[outcome, default: 0] += 1
                // Its message and result are the handler's own words, and must not break ours.
                let json = try JSONReader.parse(APICoder.json(API.Run(record)))
                #expect(json["message"]?.string == record.message)
                if let phase = record.progress?.phase, !phase.isEmpty {
                    try MessageText.check(phase)
                }
                guard let began = record.startedAt, let ended = record.endedAt else { continue }
                let held = Duration.nanoseconds(ended - began)
                let bound = Self.limits.runtime + Self.limits.grace + .seconds(1)
                #expect(
                    held <= bound,
                    "\(record.task) had its slot for \(held), \(daemon.timeline(of: record))"
                )
            }
            // The seeds do reach the ways in which a worker can go bad, and the good one.
            #expect(outcomes["succeeded", default: 0] > 0, "\(outcomes)")
            #expect(outcomes["killed(graceExceeded)", default: 0] > 0, "\(outcomes)")
            let faults = outcomes.filter { $0.key.hasPrefix("killed(protocolFault(") }
            #expect(faults.count > 3, "\(outcomes)")
        }
    }
}
