// SPDX-License-Identifier: Apache-2.0

@testable import BghostBase
@testable import BghostDispatch
import BghostFleetRules
import BghostLinux
import BghostModel
import BghostOwnerSupport
import BghostPolicy
import BghostStore
import Testing

/// Hosts that own requests of a fleet, on a real reactor with the fleet's store in memory.
@Suite(.timeLimit(.minutes(5))) struct PartitionOwnerTests {
    private static let tasks = (0..<24).map { "job.\($0)" }

    /// The requests of runs that the store has as ended, in their order.
    private func ended(_ world: PartitionWorld) -> [RunID] {
        world.fleet { $0.runs.map(\.request) } ?? []
    }

    /// Two hosts that share the partitions.
    private nonisolated(nonsending) func pair(
        _ world: PartitionWorld,
        _ reactor: Reactor
    ) async -> [PartitionHost] {
        let hosts = ["a", "b"].map { PartitionHost($0, world, reactor, slots: 32) }
        for host in hosts { await host.begin() }
        // The first had all of them, and gives them back some at a time.
        await world.pass(1200, hosts)
        return hosts
    }

    @Test func `Submissions run on the host that owns them and end once`() async throws {
        try await ReactorActor.run { actor in
            let world = PartitionWorld()
            let hosts = await pair(world, actor.reactor)
            #expect(hosts.map(\.owned.count) == [128, 128])
            var ids: [RunID] = []
            for task in Self.tasks { ids.append(try await hosts[0].submit(task)) }
            for host in hosts { await host.wake() }
            await world.pass(60, hosts)
            let started = hosts.map { $0.running.count }
            #expect(started.reduce(0, +) == Self.tasks.count && !started.contains(0))
            for host in hosts {
                for run in host.running {
                    #expect(host.owned.contains(PartitionID(of: run.record.task)))
                }
                host.endAll()
                await host.settle()
            }
            #expect(ended(world).sorted() == ids.sorted())
            #expect(world.contents(of: "job.0").pending.isEmpty)
            // Each run is in the history of the host on which it was.
            let histories = hosts.map { $0.store.take() }
            #expect(histories.count == 2)
            for host in hosts { await host.member.leave() }
            #expect(world.fleet { $0.owners().isEmpty } == true)
        }
    }

    @Test func `A host that dies is taken over and its runs are repeated`() async throws {
        try await ReactorActor.run { actor in
            let world = PartitionWorld()
            let hosts = await pair(world, actor.reactor)
            for task in Self.tasks { _ = try await hosts[0].submit(task) }
            await world.pass(60, hosts)
            let lost = hosts[0].running.map(\.record)
            #expect(!lost.isEmpty)
            hosts[1].endAll()
            await hosts[1].settle()
            // From now on nothing is heard of the first one.
            await world.pass(1800, [hosts[1]])
            #expect(hosts[1].owned.count == 256)
            let again = hosts[1].running.map(\.record)
            #expect(Set(again.map(\.request)) == Set(lost.map(\.request)))
            #expect(again.allSatisfy { $0.attempt == 2 })
            for record in again {
                let before = try #require(lost.first { $0.request == record.request })
                #expect(record.epoch > before.epoch)
            }
            hosts[1].endAll()
            await hosts[1].settle()
            // The first one comes back late, with ends that count for nothing.
            hosts[0].endAll()
            await hosts[0].wake()
            await hosts[0].wake()
            #expect(hosts[0].events.contains("partitions.fenced"))
            let ends = ended(world)
            for record in lost { #expect(ends.filter { $0 == record.request }.count == 2) }
            #expect(Set(ends).count == Self.tasks.count)
            await world.pass(1200, hosts)
            #expect(hosts.map(\.owned.count) == [128, 128])
            for host in hosts { await host.member.leave() }
        }
    }

    @Test func `A fenced host stops its runs and adopts their requests again`() async throws {
        try await ReactorActor.run { actor in
            let world = PartitionWorld()
            let host = PartitionHost("a", world, actor.reactor)
            await host.begin()
            let id = try await host.submit("job.1")
            await host.wake()
            #expect(host.running.map(\.record.request) == [id])
            world.forget("a")
            await world.pass(180, [host])
            #expect(host.events.contains("partitions.fenced"))
            #expect(host.stopped == [host.running[0].handle])
            host.endFirst(.lost)
            await host.settle()
            await world.pass(120, [host])
            #expect(host.running.map(\.record.request) == [id])
            #expect(host.running.first?.record.attempt == 2)
            host.endAll()
            await host.settle()
            #expect(world.contents(of: "job.1").interrupted.isEmpty)
            await host.member.leave()
        }
    }

    @Test func `Who waits for an end gets it when the store has it`() async throws {
        try await ReactorActor.run { actor in
            let world = PartitionWorld()
            let host = PartitionHost("a", world, actor.reactor)
            await host.begin()
            _ = try await host.submit("job.1")
            await host.wake()
            let run = try #require(host.running.first?.record)
            var answers: [Bool] = []
            host.commits.commit([.runEnded(run, then: .consumed)]) { result in
                if case .success = result { answers.append(true) } else { answers.append(false) }
            }
            #expect(answers.isEmpty)
            await host.settle()
            #expect(answers == [true] && ended(world) == [run.request])
            await host.member.leave()
        }
    }

    @Test func `Without the fleet's store a submission is refused`() async throws {
        try await ReactorActor.run { actor in
            let world = PartitionWorld()
            let host = PartitionHost("a", world, actor.reactor)
            await host.begin()
            await host.member.leave()
            do {
                _ = try await host.submit("job.1")
                Issue.record("it was accepted")
            } catch let error as SubmitError {
                #expect(error.code == .storeFailed, "\(error)")
            }
        }
    }

    @Test(arguments: [(2, PartitionOwner.postsMax), (1 << 20, 16)])
    func `Submissions that wait for a slow store have bounds`(bytes: Int, most: Int) async throws {
        try await ReactorActor.run { actor in
            let world = PartitionWorld()
            let host = PartitionHost("a", world, actor.reactor)
            await host.begin()
            var (kept, refused) = (0, [String]())
            // None is sent before this turn of the reactor ends.
            for number in 0..<most + 3 {
                let request = Request(
                    id: RunID(high: 7, low: UInt64(number)),
                    task: "job.1",
                    parameters: String(repeating: " ", count: bytes),
                    submittedAt: 1,
                    priority: 500
                )
                host.owner.post(request, .append) { result in
                    switch result {
                    case .success: kept += 1
                    case .failure(let error): refused.append("\(error)")
                    }
                }
            }
            #expect(
                refused.count == 3 && refused.allSatisfy { $0.contains("\(most) submissions wait") }
            )
            await ReactorActor.wait { host.owner.isIdle && kept == most }
            #expect(host.owner.postBytes == 0)
            await host.member.leave()
        }
    }

    @Test func `What this host stored before moves into the fleet`() async throws {
        try await ReactorActor.run { actor in
            let world = PartitionWorld()
            let host = PartitionHost("a", world, actor.reactor)
            let request = Request(
                id: RunID(high: 5, low: 5),
                task: "job.7",
                parameters: "{}",
                submittedAt: 1,
                priority: 500
            )
            host.dispatcher.decide { scheduler, now, effects in
                scheduler.restore(request, now: now, &effects)
            }
            await host.begin()
            await world.pass(240, [host])
            #expect(host.running.map(\.record.request) == [request.id])
            #expect(world.contents(of: "job.7").interrupted.map(\.request.id) == [request.id])
            host.endAll()
            await host.member.leave()
        }
    }
}
