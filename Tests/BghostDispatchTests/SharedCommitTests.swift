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

/// Changes of which a part belongs to the fleet, and which may be refused.
@Suite(.timeLimit(.minutes(5))) struct SharedCommitTests {
    /// Such as the audit of a command.
    private static let local = StoreChange.closed(RunID(high: 9, low: 9), .cancelled)

    /// Makes a request a dead letter of the fleet.
    private nonisolated(nonsending) func deadLetter(_ host: PartitionHost) async throws -> Request {
        let id = try await host.submit("job.1")
        await host.wake()
        var run = try #require(host.running.first?.record)
        let request = Request(
            id: id,
            task: "job.1",
            parameters: "{}",
            submittedAt: 1,
            priority: 500,
            counters: AttemptCounters(failures: 1)
        )
        run.state = .ended
        run.outcome = .failed
        run.endedAt = 5_000
        host.commits.commit([.runEnded(run, then: .dead(request, reason: "why"))])
        await host.settle()
        return request
    }

    @Test func `Without room in this host's store nothing changes in the fleet`() async throws {
        try await ReactorActor.run { actor in
            let world = PartitionWorld()
            let host = PartitionHost("a", world, actor.reactor)
            await host.begin()
            let request = try await deadLetter(host)
            let changes: [[StoreChange]] = [
                [.redriven(request.redriven(now: 7)), Self.local],
                [.discarded(request.id), Self.local],
            ]
            host.store.answerAtOnce(.failure(StoreError("no space left on device")))
            for part in changes {
                let result = await host.commits.committedOrRefused(part)
                #expect(throws: StoreError.self) { try result.get() }
                await host.settle()
                #expect(world.contents(of: "job.1").dead.map(\.request.id) == [request.id])
                #expect(host.owner.dead.partition(of: request.id) != nil)
            }
            host.store.answerAtOnce(.success(()))
            let result = await host.commits.committedOrRefused(changes[0])
            #expect(throws: Never.self) { try result.get() }
            #expect(world.contents(of: "job.1").dead.isEmpty)
            #expect(world.contents(of: "job.1").pending.map(\.id) == [request.id])
            await host.member.leave()
        }
    }

    @Test func `What the host has lost while its store was slow is refused`() async throws {
        try await ReactorActor.run { actor in
            let world = PartitionWorld()
            let host = PartitionHost("a", world, actor.reactor)
            await host.begin()
            let request = try await deadLetter(host)
            host.store.answerAtOnce(nil)
            // Ends of runs may wait there as well.
            _ = host.store.take()
            var results: [Bool] = []
            for _ in 0..<2 {
                host.commits.commitOrRefuse([.discarded(request.id), Self.local]) { result in
                    if case .success = result {
                        results.append(true)
                    } else {
                        results.append(false)
                    }
                }
            }
            #expect(results.isEmpty && host.store.commits.count == 2)
            await host.store.answerAll(.success(()))
            await ReactorActor.wait { results.count == 2 }
            // The second one finds nothing any more; it must not reach the fleet.
            #expect(results.sorted { !$0 && $1 } == [false, true])
            await host.settle()
            #expect(!host.events.contains("partitions.fenced"))
            #expect(world.contents(of: "job.1").dead.isEmpty)
            host.store.answerAtOnce(.success(()))
            await host.member.leave()
        }
    }
}
