// SPDX-License-Identifier: Apache-2.0

import BghostCore
import BghostHost
import BghostTestSupport
import Testing

extension Integration {
    /// Hundreds of runs that do all sorts of wrong at once.
    @Suite struct StormTests {
        private static let runtime = Duration.milliseconds(60)
        private static let grace = Duration.milliseconds(40)
        /// For those that end by themselves: beside so many that keep every processor busy that takes
        /// a while.
        private static let longGrace = Duration.seconds(2)

        /// Handlers, and how a run of each may end: in more than one way where two limits race.
        private static let ends: [(handler: String, outcomes: [String])] = [
            ("succeed", ["succeeded"]),
            ("fail", ["failed"]),
            ("honour-cancel", ["cancelledClean"]),
            ("honour-cancel-fd", ["cancelledClean"]),
            ("complete-after-cancel", ["cancelledClean"]),
            ("complete-twice", ["succeeded"]),
            ("ignore-cancel", ["killed(graceExceeded)"]),
            ("never-complete", ["killed(graceExceeded)"]),
            ("sleep-forever", ["killed(graceExceeded)"]),
            ("spin", ["killed(graceExceeded)"]),
            ("block-in-cancel", ["killed(graceExceeded)"]),
            ("exit-thread", ["killed(graceExceeded)"]),
            ("crash-in-start", ["crashed(SIGSEGV)"]),
            ("exit-in-start", ["crashed(exit 0)"]),
            ("write-rubbish", ["killed(protocolFault"]),
            ("forge-completion", ["killed(protocolFault(12))"]),
            ("fork-in-group", ["killed(graceExceeded)", "killed(processes)"]),
            ("flood-stdout", ["killed(output)", "killed(graceExceeded)"]),
            ("allocate", ["killed(memory)", "killed(graceExceeded)"]),
        ]
        private static let timesEach = 16

        private func manifest() throws -> Manifest {
            var manifest = try TestManifest.misbehave(
                limits: WorkerLimits(memoryBytes: 64 << 20, processes: 8),
                slots: 12
            )
            for end in Self.ends {
                let isKilled = end.outcomes.contains("killed(graceExceeded)")
                let limits = RunLimits(
                    runtime: Self.runtime,
                    grace: isKilled ? Self.grace : Self.longGrace
                )
                let task = "storm.\(end.handler).*"
                manifest.tasks.append(
                    try TestManifest.task(task, "misbehave", end.handler, limits)
                )
            }
            return manifest
        }

        @Test(.timeLimit(.minutes(1)))
        func `No run of hundreds holds its slot longer than runtime, grace and a second`()
            async throws
        {
            try await withDaemon(try manifest()) { daemon in
                let records = try await withThrowingTaskGroup(of: RunRecord?.self) { group in
                    for number in 0..<Self.timesEach {
                        for end in Self.ends {
                            let task = "storm.\(end.handler).\(number)"
                            group.addTask { try await daemon.host.run(Submission(task: task)) }
                        }
                    }
                    // Those that behave go on among them.
                    for number in 0..<Self.timesEach {
                        let record = try await daemon.run("witness.echo", #"{"n":\#(number)}"#)
                        #expect(record.outcome == .succeeded)
                        #expect(record.result == #"{"n":\#(number)}"#)
                    }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                #expect(records.count == Self.timesEach * Self.ends.count)
                for record in records {
                    let record = try #require(record)
                    let handler = record.task.split(separator: ".")[1]
                    let outcome = try #require(record.outcome).text
                    let outcomes = Self.ends.first { $0.handler == handler }?.outcomes ?? []
                    #expect(
                        outcomes.contains { outcome.hasPrefix($0) },
                        "\(record.task): \(outcome) \(record.message)"
                    )
                    let began = try #require(record.startedAt)
                    let held = Duration.nanoseconds(try #require(record.endedAt) - began)
                    let bound = record.limits.runtime + record.limits.grace + .seconds(1)
                    #expect(held <= bound, "\(record.task) had its slot for \(held)")
                }
                // As good as new.
                let after = try await daemon.runBesideOthers("echo", #"{"n":1}"#)
                #expect(after.outcome == .succeeded)
            }
        }
    }
}
