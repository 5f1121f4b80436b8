// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostConfiguration
@testable import BghostHost
@testable import BghostInspection
import BghostModel
import BghostTestSupport
import Glibc
import Testing

extension SeparateHosts {
    /// What the daemon spends on inspections of one plugin.
    @Suite struct InspectionBudgetTests {
        private static let second: UInt64 = 1_000_000_000

        // MARK: The numbers

        @Test func `Pauses double while the file changes, and reset after a quiet time`() {
            var budget = InspectionBudget()
            var now: MonotonicInstant = 1_000_000_000_000
            for seconds in [1, 2, 4, 8, 16, 32, 60, 60] as [UInt64] {
                budget.spend(took: 1000, processorTime: 1000, now: now, least: Self.second)
                #expect(budget.next == now + seconds * Self.second)
                now = budget.next
            }
            now += 120 * Self.second + 1
            budget.spend(took: 1000, processorTime: 1000, now: now, least: Self.second)
            #expect(budget.next == now + Self.second)
            #expect(budget.count == 9 && budget.processorTime == 9000)
        }

        @Test func `An inspection is followed by a rest twenty times as long`() {
            var budget = InspectionBudget()
            budget.spend(took: 5 * Self.second, processorTime: 0, now: 0, least: Self.second)
            #expect(budget.next == MonotonicInstant.zero + 100 * Self.second)
            budget.rest(took: 10 * Self.second, now: MonotonicInstant.zero + 10 * Self.second)
            #expect(budget.next == MonotonicInstant.zero + 210 * Self.second)
            budget.rest(took: 1, now: MonotonicInstant.zero + 20 * Self.second)
            #expect(budget.next == MonotonicInstant.zero + 210 * Self.second)
        }

        @Test func `A rest does not count as quiet time`() {
            var budget = InspectionBudget()
            budget.spend(took: Self.second, processorTime: 0, now: 0, least: Self.second)
            let now = budget.next
            #expect(now == MonotonicInstant.zero + 20 * Self.second)
            budget.spend(took: 1, processorTime: 0, now: now, least: Self.second)
            #expect(budget.next == now + 2 * Self.second)
        }

        /// Whatever inspections take, and however often files change.
        @Test(arguments: SeededGenerator.seeds(20))
        func `Inspections of a plugin use a twentieth of a processor at most`(seed: UInt64) {
            var random = SeededGenerator(seed: seed)
            var budget = InspectionBudget()
            var now: MonotonicInstant = 1_000_000_000_000
            let start = now
            var spent: UInt64 = 0
            var longest: UInt64 = 0
            for _ in 0..<500 {
                let took = UInt64.random(in: 0...(5 * Self.second), using: &random)
                now += took
                spent += took
                longest = max(longest, took)
                budget.spend(took: took, processorTime: took, now: now, least: Self.second)
                now = max(now, budget.next) + UInt64.random(in: 0...Self.second, using: &random)
                #expect(spent <= now.since(start) / 20 + longest)
            }
        }

        // MARK: A daemon

        @Test(.timeLimit(.minutes(5)))
        func `A plugin whose library keeps changing is inspected less and less often`() async {
            await #expect(processExitsWith: .success) {
                let folder = try TemporaryDirectory()
                let library = folder.file("plugin.so")
                let bytes = try File.read(try Fixture.library("misbehave"))
                func install(_ padding: Int) throws {
                    try folder.write(bytes + [UInt8](repeating: 0, count: padding), to: "new.so")
                    try #require(rename(folder.file("new.so"), library) == 0)
                }
                try install(0)
                let manifest = try TestManifest.plugin("changing", library: library)
                let beginning = ContinuousClock.now
                try await withDaemon(
                    manifest,
                    adjust: {
                        $0.timeouts.settle = 1_000_000
                        $0.timeouts.look = 10_000_000
                        $0.timeouts.inspect = 300_000_000
                    },
                    { daemon in
                        let clock = ContinuousClock()
                        let start = clock.now
                        // It is changed as soon as the last change has been taken up: 0.3, 0.6, 1.2, 2.4 s.
                        var times: [Duration] = []
                        var installed = beginning
                        var pause = Duration.milliseconds(300)
                        var least = Duration.zero
                        for change in 1...4 {
                            let before = installed
                            installed = clock.now
                            try install(change)
                            var seen = 0
                            try await daemon.line { entry in
                                if entry.event == "plugin.replaced" { seen += 1 }
                                return seen == change
                            }
                            times.append(clock.now - start)
                            if change > 1 { least += pause }
                            // If the machine was slow, the plugin was quiet, and the pauses begin anew.
                            let wasQuiet = clock.now - before > pause * 2
                            pause = wasQuiet ? .milliseconds(300) : pause * 2
                            // What starts meanwhile hashes the library no more often either.
                            #expect(try await daemon.run("task").outcome == .succeeded)
                        }
                        let took = clock.now - start
                        #expect(took >= least, "\(times)")
                        let budget = await daemon.host.inspectionBudget(ofPlugin: "changing")
                        #expect(budget.count == 5)
                        let share = Duration.nanoseconds(Int64(budget.processorTime)) / took
                        print("inspections took \(share * 100) % of a processor, \(budget)")
                        #expect(share < 0.05, "\(share)")
                    }
                )
            }
        }
    }
}
