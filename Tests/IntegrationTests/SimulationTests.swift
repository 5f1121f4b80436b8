// SPDX-License-Identifier: Apache-2.0

import BghostAPI
import BghostBase
import BghostCalendar
import BghostFacts
@testable import BghostHost
import BghostLinux
import BghostModel
import BghostPolicy
import BghostStore
import BghostTestSupport
import Testing

extension Integration {
    /// Facts and a clock that an operator simulates, with a real host.
    @Suite struct SimulationTests {
        private static let second: Int64 = 1_000_000_000
        private static let hour = 3600 * second
        private static let day = 24 * hour

        private func manifest(
            requiring requirements: RequirementSet = [],
            schedule: TaskSchedule? = nil
        ) throws -> Manifest {
            var manifest = try TestManifest.misbehave()
            for index in manifest.tasks.indices
            where ["echo", "honour-cancel"].contains(manifest.tasks[index].identifier.description) {
                manifest.tasks[index].requirements = requirements
            }
            if let schedule {
                let index = try #require(
                    manifest.tasks.firstIndex { $0.identifier.description == "echo" }
                )
                manifest.tasks[index].schedule = schedule
            }
            return manifest
        }

        // MARK: Facts

        @Test(.timeLimit(.minutes(5)))
        func `A simulated unmet requirement refuses a trigger unless it is ignored`() async throws {
            try await withDaemon(try manifest(requiring: .network)) { daemon in
                let host = daemon.host
                let simulation = try await host.simulate(fact: "network=off")
                #expect(simulation.facts == [.init(name: "network", value: .fails)])
                #expect(await host.status().simulation == simulation)
                do throws(SubmitError) {
                    _ = try await host.trigger(Submission(task: "echo"))
                    Issue.record("it is launched")
                } catch {
                    #expect(error.code == .immediateRunIneligible)
                    #expect(error.message.contains("requirement(network)"))
                    #expect(error.message.contains("simulate fact reads simulated unmet"))
                }
                let request = try await host.trigger(
                    Submission(task: "echo", ignoresRequirements: true)
                )
                let run = try #require(await host.waitForRun(ofRequest: request.id))
                #expect(run.outcome == .succeeded)
                _ = try await host.simulate(fact: "network=on")
                #expect(try await daemon.run("echo").outcome == .succeeded)
                try await daemon.line { $0.message == "network is simulated: unmet" }
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `An operator can simulate a fact that no task requires`() async throws {
            try await withDaemon(try manifest()) { daemon in
                let host = daemon.host
                _ = try await host.simulate(fact: "idle=off")
                let request = try await host.submit(
                    Submission(task: "echo", requirements: .idle)
                )
                let why = try await host.explain("echo").requests.first
                #expect(why?.closed.map(\.label) == ["requirement(idle)"])
                #expect(why?.closed.first?.source == "simulate fact")
                _ = try await host.simulate(fact: "idle=on")
                let run = try #require(await host.waitForRun(ofRequest: request.id))
                #expect(run.outcome == .succeeded)
                #expect(try await host.simulate(fact: "idle=real") == SimulationStatus())
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A run that loses a simulated fact is cancelled and not throttled`() async throws {
            try await withDaemon(try manifest(requiring: .externalPower)) { daemon in
                let host = daemon.host
                _ = try await host.simulate(fact: "power=mains")
                let request = try await host.submit(Submission(task: "honour-cancel"))
                let run = try await daemon.begun(request)
                _ = try await host.simulate(fact: "power=battery")
                let ended = try await daemon.end(of: run)
                #expect(ended.stopReason == .condition)
                #expect(await host.throttles(task: nil).isEmpty)
                #expect(
                    try await host.explain("honour-cancel").requests.first?.closed.map(\.label)
                        == ["requirement(externalPower)"]
                )
            }
        }

        @Test(.timeLimit(.minutes(5)), arguments: ["network", "network=maybe", "moon=full", "="])
        func `An unknown fact is refused`(text: String) async throws {
            try await withDaemon(try manifest()) { daemon in
                await #expect(throws: OperatorRefusal.self) {
                    try await daemon.host.simulate(fact: text)
                }
                #expect(await daemon.host.status().simulation == SimulationStatus())
            }
        }

        // MARK: The clock

        @Test(.timeLimit(.minutes(5)))
        func `Moving the clock a day starts a request of tomorrow`() async throws {
            try await withDaemon(try manifest()) { daemon in
                let host = daemon.host
                let date = WallClock.now + Self.day
                let request = try await host.submit(Submission(task: "echo", earliestBegin: date))
                _ = try await host.simulate(clock: .by(Self.day - Self.hour))
                #expect(await host.pending(task: "echo", limit: 1).total == 1)
                let simulation = try await host.simulate(clock: .by(2 * Self.hour))
                #expect(simulation.clockOffset == Self.day + Self.hour)
                let run = try #require(await host.waitForRun(ofRequest: request.id))
                #expect(run.outcome == .succeeded)
                #expect(try #require(run.startedAt) >= date)
                try await daemon.line { $0.event == "clock.simulated" && $0.level == .warning }
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A simulated clock does not change limits of runs`() async throws {
            try await withDaemon(try manifest()) { daemon in
                let host = daemon.host
                let run = try await daemon.begin("honour-cancel")
                for clock in [SimulatedClock.by(Self.day), .by(-2 * Self.day), .real] {
                    _ = try await host.simulate(clock: clock)
                }
                // By the simulated clock its runtime is over.
                #expect(try await daemon.run("succeed").outcome == .succeeded)
                let live = await host.runs(task: "honour-cancel", limit: 1).first
                #expect(live?.id == run.id && live?.state == .running)
                #expect(await host.stop(run: run.id))
                let ended = try await daemon.end(of: run)
                #expect(try #require(ended.duration) < .seconds(600))
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `No scheduled time runs twice, however the clock is moved`() async throws {
            let noon = TaskSchedule(
                times: .calendar(
                    try CalendarExpression("0 12 * * *"),
                    zone: .utc,
                    gap: .shift,
                    fold: .first
                )
            )
            try await withDaemon(try manifest(schedule: noon)) { daemon in
                let host = daemon.host
                let first = try #require(
                    await host.pending(task: "echo", limit: 1).requests.first?.earliestBegin
                )
                #expect(try await host.explain("echo").schedule?.next == first)
                // Twice over the same three days: back by more than a day in between.
                for round in 0..<2 {
                    for day in 0..<3 {
                        let slot = first + Int64(day) * Self.day
                        _ = try await host.simulate(clock: .to(slot + Self.second))
                        if round == 0 {
                            var ended = 0
                            try await daemon.line(LogFilter(task: "echo")) { entry in
                                if entry.event == "run.ended" { ended += 1 }
                                return ended == day + 1
                            }
                        }
                        // Back and forth over the slot.
                        _ = try await host.simulate(clock: .by(-2 * Self.hour))
                        _ = try await host.simulate(clock: .by(2 * Self.hour))
                    }
                    _ = try await host.simulate(clock: .real)
                }
                // Its run is behind what any of the moves may have begun.
                let task = try await host.submit(Submission(task: "params"))
                _ = await host.waitForRun(ofRequest: task.id)
                #expect(await host.runs(task: "echo", limit: 100).count == 3)
                let next = await host.pending(task: "echo", limit: 1).requests.first?.earliestBegin
                #expect(next == first + 3 * Self.day)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A clock that shows no date is refused, and the simulation ends with the daemon`()
            async throws
        {
            let folder = try TemporaryDirectory()
            try await withDaemon(try manifest(), folder: folder) { daemon in
                let host = daemon.host
                _ = try await host.simulate(fact: "network=off")
                let moved = try await host.simulate(clock: .by(Self.hour))
                for clock in [SimulatedClock.to(-1), .to(.max), .by(.max), .by(.min)] {
                    await #expect(throws: OperatorRefusal.self) {
                        try await host.simulate(clock: clock)
                    }
                }
                #expect(await host.status().simulation == moved)
            }
            try await withDaemon(try manifest(), folder: folder) { daemon in
                #expect(await daemon.host.status().simulation == SimulationStatus())
            }
        }
    }
}
