// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostModel
@testable import BghostPolicy
@testable import BghostSimulation
import BghostTestSupport
import Testing

/// Schedules over long times, whose numbers are known.
@Suite(.ownThreads) struct SimulatedYearTests {
    @Test(.timeLimit(.minutes(5)))
    func `A year of daily runs has one each day`() {
        var world = World(
            seed: 1,
            tasks: [World.task("daily", schedule: World.calendar("0 12 * * *"))]
        )
        world.simulation.run(for: 365 * World.day)
        #expect(world.simulation.counts["daily"]?.runs == 365)
        #expect(world.simulation.counts["daily"]?.latest == 0)
        #expect(world.simulation.faults == [])
    }

    @Test(.timeLimit(.minutes(5)))
    func `Many schedules share the slots without loss`() {
        let tasks = (0..<200).map {
            World.task("task-\($0)", plugin: "p\($0 % 10)", schedule: World.calendar("0 12 * * *"))
        }
        var world = World(seed: 1, tasks: tasks, slots: 4) { _, _, _ in
            RunScript(.succeeds, length: UInt64(World.second))
        }
        world.simulation.run(for: 5 * World.day)
        #expect(world.simulation.counts.values.allSatisfy { $0.runs == 5 })
        // 200 runs of a second each in four slots.
        #expect(world.simulation.counts.values.map(\.latest).max() == 49 * World.second)
        #expect(world.simulation.faults == [])
    }

    @Test(.timeLimit(.minutes(5)))
    func `Downtime is made up for once`() {
        let lines = LineBox()
        var world = World(
            seed: 1,
            tasks: [World.task("noon", schedule: World.calendar("0 12 * * *"))]
        ) { _, _, _ in
            RunScript(.succeeds, length: 1)
        } observe: { now, event in
            if case .began(let record) = event { lines.add("\(now.unix) \(record.task)") }
        }
        // Off from 11:00 to 15:00.
        world.simulation.run(until: World.start + 11 * World.hour)
        world.simulation.crash(downtime: 4 * World.hour)
        #expect(lines.all == ["\(World.start + 15 * World.hour) noon"])
        world.simulation.run(until: World.start + World.day + 13 * World.hour)
        #expect(lines.all.last == "\(World.start + World.day + 12 * World.hour) noon")
        #expect(lines.all.count == 2)
    }

    @Test(.timeLimit(.minutes(5)))
    func `A handler that ignores its end is killed and begins later`() {
        let starts = LineBox()
        let limits = RunLimits(runtime: .seconds(25), grace: .seconds(5))
        var world = World(
            seed: 1,
            tasks: [World.task("stubborn", limits: limits)]
        ) { _, _, _ in
            RunScript(.never, length: 1, whenAsked: .ignores)
        } observe: { now, event in
            if case .began = event { starts.add("\(now.unix)") }
        }
        for _ in 0..<3 {
            #expect(throws: Never.self) {
                try world.simulation.submit(Submission(task: "stubborn"))
            }
            world.simulation.run(for: 2 * World.day)
        }
        #expect(world.simulation.counts["stubborn"]?.outcomes == [.killed(.graceExceeded): 3])
        #expect(world.simulation.longestOverrun == 0)
        #expect(starts.all.count == 3)
    }

    @Test(.timeLimit(.minutes(5)))
    func `A killed run holds the next one back`() throws {
        let limits = RunLimits(runtime: .seconds(25), grace: .seconds(5))
        var world = World(seed: 1, tasks: [World.task("stubborn", limits: limits)]) { _, _, _ in
            RunScript(.never, length: 1, whenAsked: .ignores)
        }
        try world.simulation.submit(Submission(task: "stubborn"))
        world.simulation.run(for: World.minute)
        try world.simulation.submit(Submission(task: "stubborn"))
        let request = try #require(world.simulation.scheduler.pending("stubborn"))
        let gates = world.simulation.scheduler.gates(of: request, now: world.simulation.now)
        let closed = gates.filter { !$0.isOpen }
        #expect(closed.map(\.kind) == [.throttle])
        // Two points: five minutes from its end, which was half a minute after its begin.
        let until = World.start + 30 * World.second + 5 * World.minute
        #expect(closed.first?.until == until)
        world.simulation.run(until: until - 1)
        #expect(world.simulation.counts["stubborn"]?.runs == 1)
        world.simulation.run(until: until)
        #expect(world.simulation.counts["stubborn"]?.runs == 2)
    }

    /// Back and forth, by more than what counts as a correction.
    @Test(.timeLimit(.minutes(5)), arguments: SeededGenerator.seeds(20))
    func `No jump of the clock serves a time twice`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var world = World(
            seed: seed,
            tasks: [
                World.task("noon", schedule: World.calendar("0 12 * * *")),
                World.task("hourly", plugin: "q", schedule: World.every(3600)),
            ]
        )
        for _ in 0..<12 {
            world.simulation.run(for: Int64.random(in: 0...3 * World.day, using: &random))
            let jump = Int64.random(in: -400 * World.day...400 * World.day, using: &random)
            world.simulation.setClock(to: world.simulation.now.unix + jump)
            world.simulation.run(for: 12 * World.hour)
        }
        #expect(world.simulation.faults == [])
        // Nothing waits for years either: at most for what was served under the wrong clock.
        let before = world.simulation.counts["noon"]?.runs ?? 0
        world.simulation.run(for: 60 * World.day)
        #expect(world.simulation.counts["noon"]?.runs ?? 0 > before + 10)
    }
}
