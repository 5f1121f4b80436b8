// SPDX-License-Identifier: Apache-2.0

@testable import BghostBase
@testable import BghostDispatch
@testable import BghostFleetRules
import BghostLinux
import BghostModel
import BghostOwnerSupport
import BghostPolicy
import BghostStore
import Testing

/// Requests that move into a fleet, or that a host has already, each of which runs once.
@Suite(.timeLimit(.minutes(5))) struct PartitionMoveTests {
    private static let request = Request(
        id: RunID(high: 5, low: 5),
        task: "job.7",
        parameters: "{}",
        submittedAt: 1,
        priority: 500
    )

    /// A host with a request in its own store that belongs in the fleet.
    private func hostWithLeftover(_ world: PartitionWorld, _ reactor: Reactor) -> PartitionHost {
        let host = PartitionHost("a", world, reactor)
        host.dispatcher.decide { scheduler, now, effects in
            scheduler.restore(Self.request, now: now, &effects)
        }
        return host
    }

    private func runs(_ world: PartitionWorld) -> [RunID] {
        world.fleet { $0.runs.map(\.request) } ?? []
    }

    /// - Parameter isRunning: whether the host still has the request when it moves it again.
    @Test(arguments: [false, true])
    func `A move without an answer is repeated, and the request runs once`(isRunning: Bool)
        async throws
    {
        try await ReactorActor.run { actor in
            let world = PartitionWorld()
            world.fleet { $0.unansweredMoves = 1 }
            let host = hostWithLeftover(world, actor.reactor)
            var closed: [RunID] = []
            host.commits.onChanges = { changes in
                for case .closed(let id, _) in changes { closed.append(id) }
            }
            await host.begin()
            #expect(closed.isEmpty && host.owner.leftovers.map(\.id) == [Self.request.id])
            await host.wake()
            #expect(host.running.map(\.record.request) == [Self.request.id])
            if !isRunning {
                host.endAll()
                await host.settle()
            }
            // With a claim it moves what it has left.
            await world.pass(600, [host])
            #expect(closed == [Self.request.id] && host.owner.leftovers.isEmpty)
            #expect(!host.events.contains("partitions.fenced"))
            #expect(host.running.count == (isRunning ? 1 : 0))
            host.endAll()
            await host.settle()
            await world.pass(120, [host])
            #expect(runs(world) == [Self.request.id])
            #expect(world.fleet { $0.posted.isEmpty } == true)
            await host.member.leave()
        }
    }

    /// As the next daemon does, whose own store has the request still.
    @Test func `A restart moves nothing that the fleet has had`() async throws {
        try await ReactorActor.run { actor in
            let world = PartitionWorld()
            let first = hostWithLeftover(world, actor.reactor)
            await first.begin()
            await world.pass(120, [first])
            first.endAll()
            await first.settle()
            await first.member.leave()
            let second = hostWithLeftover(world, actor.reactor)
            await second.begin()
            await world.pass(240, [second])
            #expect(second.owner.leftovers.isEmpty && second.running.isEmpty)
            #expect(runs(world) == [Self.request.id])
            await second.member.leave()
        }
    }

    /// Hosts of earlier versions have posted such ones.
    @Test func `A submission of a request that the host has already is forgotten`() async throws {
        try await ReactorActor.run { actor in
            let world = PartitionWorld()
            let host = PartitionHost("a", world, actor.reactor)
            await host.begin()
            let id = try await host.submit("job.1")
            await host.wake()
            let run = try #require(host.running.first?.record)
            let again = world.store.call { store throws(FleetRefusal) in
                var request = Self.request
                (request.id, request.task) = (run.request, run.task)
                try store.post([FleetLetter(request, .append)])
            }
            #expect((try? again.get()) != nil)
            await world.pass(180, [host])
            #expect(!host.events.contains("partitions.fenced"))
            #expect(world.fleet { $0.posted.isEmpty } == true)
            #expect(host.running.map(\.record.request) == [id])
            #expect(world.contents(of: "job.1").interrupted.map(\.request.id) == [id])
            host.endAll()
            await host.settle()
            #expect(runs(world) == [id])
            await host.member.leave()
        }
    }

    /// What a host does to itself is no sign that the request kills hosts.
    @Test func `A host that adopts its own runs again counts no takeover`() async throws {
        try await ReactorActor.run { actor in
            let world = PartitionWorld()
            let host = PartitionHost("a", world, actor.reactor)
            await host.begin()
            let id = try await host.submit("job.1")
            await host.wake()
            for number in 1...Scheduler.takeoversMax + 1 {
                #expect(host.running.map(\.record.request) == [id])
                world.forget("a")
                await world.pass(180, [host])
                host.endFirst(.lost)
                await host.settle()
                await world.pass(120, [host])
                #expect(host.running.first?.record.attempt == number + 1)
            }
            let found = world.contents(of: "job.1")
            #expect(found.dead.isEmpty)
            #expect(found.interrupted.first?.request.counters.takeovers == 0)
            host.endAll()
            await host.settle()
            await host.member.leave()
        }
    }
}
