// SPDX-License-Identifier: Apache-2.0

import BghostAPI
@testable import BghostBase
@testable import BghostDispatch
@testable import BghostFleetRules
import BghostLinux
import BghostModel
import BghostOwnerSupport
import BghostPolicy
import BghostServices
import BghostStore
import Testing

/// What a host does with the contents of partitions that it is granted.
@Suite(.timeLimit(.minutes(5))) struct PartitionAdoptionTests {
    /// Submits a request behind those that wait.
    private nonisolated(nonsending) func append(
        _ task: String,
        _ host: PartitionHost
    ) async throws -> RunID {
        let submission = Submission(task: task, onConflict: .append)
        let accepted = try await host.intake.submit(submission, isManual: false)
        await host.settle()
        return accepted.request.id
    }

    @Test func `An appended request does not overtake the one whose host was lost`() async throws {
        try await ReactorActor.run { actor in
            let world = PartitionWorld()
            let lost = PartitionHost("a", world, actor.reactor, slots: 8)
            await lost.begin()
            let first = try await lost.submit("job.1")
            await lost.wake()
            let second = try await append("job.1", lost)
            await lost.wake()
            #expect(lost.running.map(\.record.request) == [first])
            #expect(world.contents(of: "job.1").pending.map(\.id) == [second])
            // From now on nothing is heard of it.
            let next = PartitionHost("b", world, actor.reactor, slots: 8)
            await next.begin()
            await world.pass(1800, [next])
            #expect(next.owned.count == 256)
            #expect(next.running.map(\.record.request) == [first])
            next.endFirst()
            await next.settle()
            #expect(next.running.map(\.record.request) == [second])
            next.endAll()
            await next.settle()
            await next.member.leave()
        }
    }

    @Test func `A partition comes in parts, and all of it is adopted`() async throws {
        try await ReactorActor.run { actor in
            let world = PartitionWorld()
            let first = PartitionHost("a", world, actor.reactor)
            await first.begin()
            var ids = [try await first.submit("job.1")]
            await first.wake()
            for _ in 0..<6 { ids.append(try await append("job.1", first)) }
            await first.wake()
            world.fleet { $0.partLength = 2 }
            await first.member.leave()
            let second = PartitionHost("b", world, actor.reactor)
            await second.begin()
            #expect(second.owner.partsRead.isEmpty)
            #expect(second.owner.requests.count(in: PartitionID(of: "job.1")) == ids.count)
            var ended: [RunID] = []
            for _ in ids {
                let run = try #require(second.running.first?.record)
                ended.append(run.request)
                second.endFirst()
                await second.settle()
            }
            #expect(ended.first == ids[0] && Set(ended) == Set(ids))
            await second.member.leave()
        }
    }

    @Test func `The others own all that a drained host has given back`() async throws {
        try await ReactorActor.run { actor in
            let world = PartitionWorld()
            let hosts = ["a", "b"].map { PartitionHost($0, world, actor.reactor, slots: 8) }
            for host in hosts { await host.begin() }
            await world.pass(1200, hosts)
            #expect(hosts.map(\.owned.count) == [128, 128])
            await hosts[0].setDrained(true)
            await world.pass(600, hosts)
            #expect(hosts.map(\.owned.count) == [0, 256])
            #expect(hosts[1].owner.ownerlessSentence == nil)
            await hosts[0].setDrained(false)
            await world.pass(1200, hosts)
            #expect(hosts.map(\.owned.count) == [128, 128])
            for host in hosts { await host.member.leave() }
        }
    }

    @Test func `What a newer bghost wrote holds up nothing else, and the operator is told`()
        async throws
    {
        try await ReactorActor.run { actor in
            let world = PartitionWorld()
            let first = PartitionHost("a", world, actor.reactor, slots: 8)
            await first.begin()
            let strange = try await first.submit("job.1")
            let plain = try await first.submit("job.2")
            await first.wake()
            #expect(first.running.count == 2)
            await first.member.leave()
            let letter = Request(
                id: RunID(high: 1, low: 1),
                task: "job.3",
                parameters: "{}",
                submittedAt: 1,
                priority: 500
            )
            let posted = world.store.call { store throws(FleetRefusal) in
                try store.post([FleetLetter(letter, .append)])
            }
            #expect((try? posted.get()) != nil)
            world.fleet { fleet in
                fleet.unreadable = [strange, letter.id]
                fleet.partLength = 1
            }

            let second = PartitionHost("b", world, actor.reactor, slots: 8)
            await second.begin()
            // A submission of the same task waits with it; the database has one such request at a time.
            let behind = try await second.submit("job.1")
            let other = try await second.submit("job.4")
            await world.pass(600, [second])
            #expect(Set(second.running.map(\.record.request)) == [plain, other])
            #expect(second.owned.count == 256 && !second.events.contains("partitions.fenced"))
            #expect(second.events.count { $0 == "partitions.strangers" } == 2)
            #expect(world.fleet { $0.posted.map(\.letter.request.id) } == [letter.id, behind])
            let sentence = second.owner.problemSentence ?? ""
            #expect(sentence.hasPrefix("2 rows of the fleet were written by a newer bghost"))
            #expect(second.owner.check?.state == .warning)
            #expect(await second.member.status().partitionsProblem == sentence)
            // Cancels and the way back to the others go on as well.
            let cancelled = try await second.owner.cancel(other.description)
            #expect(cancelled.changed)
            second.endAll()
            await second.settle()
            await second.setDrained(true)
            await world.pass(300, [second])
            #expect(second.owned.isEmpty && second.owner.unreadable.isEmpty)
            await second.member.leave()
            // A host that can read them has all of it.
            world.fleet { $0.unreadable = [] }
            let third = PartitionHost("c", world, actor.reactor, slots: 8)
            await third.begin()
            await world.pass(300, [third])
            #expect(third.running.map(\.record.request).contains(strange))
            #expect(third.owner.problemSentence == nil)
            third.endAll()
            await third.member.leave()
        }
    }
}
