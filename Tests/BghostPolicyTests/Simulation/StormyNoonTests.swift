// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostFacts
import BghostModel
@testable import BghostPolicy
@testable import BghostSimulation
import BghostTestSupport
import Testing

/// The story of the stormy noon, step by step under virtual time: what the app does, and what the
/// journal must then say.
@Suite(.ownThreads) struct StormyNoonTests {
    private static let noon = World.start + 12 * World.hour
    private static let limits = RunLimits(runtime: .seconds(25), grace: .seconds(5))

    /// The app's task: it asks for tomorrow's noon first of all, as the talk has it.
    private func world(
        _ lines: LineBox,
        ending: RunScript.Ending = .succeeds,
        whenAsked: RunScript.Answer = .stops(after: 1_000_000)
    ) -> World {
        World(
            seed: 1,
            tasks: [World.task("StormyNoon", limits: Self.limits, requirements: .network)],
            keepsTransactions: true,
            author: { _, now, _ in
                RunScript(
                    ending,
                    length: UInt64(World.second),
                    whenAsked: whenAsked,
                    submission: Submission(
                        task: "StormyNoon",
                        earliestBegin: now.unix + World.day
                    )
                )
            },
            observe: { now, event in
                switch event {
                case .began: lines.add("began \(now.unix)")
                case .ended(let record): lines.add("ended \(record.outcome?.text ?? "")")
                case .note(let note): lines.add(note.code)
                case .fault(let fault): lines.add("fault \(fault)")
                }
            }
        )
    }

    private func submitNoon(_ world: inout World) throws {
        try world.simulation.submit(Submission(task: "StormyNoon", earliestBegin: Self.noon))
    }

    @Test func `A second submission takes the place of the first`() throws {
        let lines = LineBox()
        var world = world(lines)
        try submitNoon(&world)
        try submitNoon(&world)
        #expect(lines.all == ["request.replaced"])
        #expect(world.simulation.scheduler.requests(of: nil).count == 1)
    }

    @Test func `Noon begins at noon and asks for the next one first`() throws {
        let lines = LineBox()
        var world = world(lines)
        world.simulation.set(.network, .holds)
        try submitNoon(&world)
        world.simulation.run(until: Self.noon - 1)
        #expect(lines.all.isEmpty)
        world.simulation.run(until: Self.noon)
        #expect(lines.all == ["began \(Self.noon)"])
        // The successor is stored while the run is under way.
        #expect(world.simulation.ledger.leases.count == 1)
        #expect(
            world.simulation.scheduler.pending("StormyNoon")?.earliestBegin
                == Self.noon + World.day
        )
        // A daemon that is killed now has both.
        world.simulation.crash()
        let waiting = world.simulation.scheduler.requests(of: "StormyNoon")
        #expect(waiting.map(\.earliestBegin) == [Self.noon + World.day])
        #expect(lines.all.contains("ended lost"))
        #expect(world.simulation.faults == [])
    }

    @Test(
        arguments: [
            (0, 0), (2_500_000_000, 0), (2_500_000_001, 1), (4_999_000_000, 1),
        ] as [(UInt64, Int)]
    )
    func `A handler earns a point only if it stops late`(after nanoseconds: UInt64, points: Int)
        throws
    {
        let lines = LineBox()
        var world = world(lines, ending: .never, whenAsked: .stops(after: nanoseconds))
        world.simulation.set(.network, .holds)
        try submitNoon(&world)
        world.simulation.run(until: Self.noon + World.minute)
        #expect(lines.all.contains("ended cancelledClean"))
        let throttle = world.simulation.scheduler.memories(of: "StormyNoon").first?.throttle
        #expect(throttle?.points(now: world.simulation.now.unix) ?? 0 == points)
        #expect(throttle?.runs.map(\.stoppedAfter) ?? [] == (points == 0 ? [] : [nanoseconds]))
        #expect(lines.all.contains("task.throttled") == (points > 0))
    }

    @Test func `A handler that ignores its end is killed at once after its grace`() throws {
        let lines = LineBox()
        var world = world(lines, ending: .never, whenAsked: .ignores)
        world.simulation.set(.network, .holds)
        try submitNoon(&world)
        world.simulation.run(until: Self.noon + 30 * World.second - 1)
        #expect(!lines.all.contains { $0.hasPrefix("ended") })
        world.simulation.run(until: Self.noon + 30 * World.second)
        #expect(lines.all.contains("ended killed(graceExceeded)"))
        #expect(lines.all.contains("task.throttled"))
        let throttle = world.simulation.scheduler.memories(of: "StormyNoon").first?.throttle
        #expect(throttle?.points(now: world.simulation.now.unix) == 2)
        // A new request is held back, and `why` would say by what.
        try world.simulation.submit(Submission(task: "StormyNoon"))
        let request = try #require(world.simulation.scheduler.pending("StormyNoon"))
        let closed = world.simulation.scheduler.gates(of: request, now: world.simulation.now)
            .filter { !$0.isOpen }
        #expect(closed.map(\.kind) == [.throttle])
    }

    @Test func `A trigger without network is refused unless forced`() throws {
        var world = world(LineBox())
        world.simulation.set(.network, .fails)
        var launch = Submission(task: "StormyNoon")
        let refusal = #expect(throws: SubmitError.self) {
            try world.simulation.submit(launch, isManual: true)
        }
        #expect(refusal?.code == .immediateRunIneligible)
        #expect(refusal?.message.contains("network") == true)
        launch.ignoresRequirements = true
        try world.simulation.submit(launch, isManual: true)
        world.simulation.run(for: World.minute)
        #expect(world.simulation.counts["StormyNoon"]?.outcomes == [.succeeded: 1])
    }

    @Test func `A clock that is set back after noon has no second noon`() {
        let lines = LineBox()
        var world = World(
            seed: 1,
            tasks: [World.task("StormyNoon", schedule: World.calendar("0 12 * * *"))],
            observe: { now, event in
                if case .began = event { lines.add("\((now.unix - World.start) / World.hour)") }
            }
        )
        world.simulation.run(until: Self.noon + World.hour / 2)
        world.simulation.setClock(to: Self.noon + World.hour / 2 - 2 * World.hour)
        world.simulation.run(until: Self.noon + 20 * World.hour)
        #expect(lines.all == ["12"])
        world.simulation.run(until: Self.noon + 30 * World.hour)
        #expect(lines.all == ["12", "36"])
        // A year ahead: one run makes up for all missed starts, and noon continues.
        world.simulation.setClock(to: Self.noon + 366 * World.day)
        world.simulation.run(for: 2 * World.day)
        #expect(lines.all.count == 5)
        #expect(world.simulation.faults == [])
    }
}
