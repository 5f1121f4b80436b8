// SPDX-License-Identifier: Apache-2.0

import BghostAPI
@testable import BghostBase
@testable import BghostDispatch
@testable import BghostFleetRules
import BghostMetrics
import BghostModel
import BghostOwnerSupport
import BghostPolicy
import BghostServices
import Testing

/// What a host tells its operators about the requests of the fleet, and what it does for them.
@Suite(.timeLimit(.minutes(5))) struct PartitionStandingTests {
    @Test func `A lease that the store took away is a loss for a moment`() async throws {
        try await ReactorActor.run { actor in
            let world = PartitionWorld()
            let host = PartitionHost("a", world, actor.reactor)
            #expect(host.owner.check == nil && host.owner.metrics == nil)
            var told: [String?] = []
            host.member.onChange = { rule, problem in
                if rule == .partitions { told.append(problem) }
            }
            await host.begin()
            #expect(told.isEmpty && host.owner.problemSentence == nil)
            #expect(host.owner.check?.state == .ok)
            #expect(host.owner.check?.message.contains("owns 256 of the 256") == true)
            let before = host.owner.metrics
            #expect(before?.hasLease == true && before?.owned == 256 && before?.ownerless == 0)
            world.forget("a")
            await world.pass(180, [host])
            #expect(told.count == 2 && told.last == .some(nil), "\(told)")
            let sentence = told.first.flatMap(\.self) ?? ""
            #expect(sentence.hasPrefix("no request of the fleet starts on this host: "))
            #expect(host.owner.metrics?.leaseLosses == 1 && host.owner.metrics?.hasLease == true)
            await world.pass(120, [host])
            #expect(host.owner.check?.state == .ok && host.owner.problemSentence == nil)
            await host.member.leave()
        }
    }

    @Test func `Partitions that a drained fleet leaves alone are told after a lease`() async throws
    {
        try await ReactorActor.run { actor in
            let world = PartitionWorld()
            let host = PartitionHost("a", world, actor.reactor)
            var told: [AlertRule: [String?]] = [:]
            host.member.onChange = { told[$0, default: []].append($1) }
            await host.begin()
            await host.setDrained(true)
            await world.pass(300, [host])
            #expect(host.owned.isEmpty && told[.partitions] == nil && told[.ownerless] == nil)
            // An operator wanted that, so it is no loss; and the host keeps its lease.
            #expect(host.owner.lossSentence == nil && host.owner.check?.state == .ok)
            #expect(host.owner.metrics?.hasLease == true && host.owner.metrics?.leaseLosses == 0)
            #expect(host.owner.metrics?.ownerless == 0)
            await world.pass(900, [host])
            #expect(host.owner.metrics?.ownerless == 256)
            let sentence = "256 of the 256 partitions of the fleet have no owner"
            #expect(told[.ownerless]?.first.flatMap(\.self)?.hasPrefix(sentence) == true)
            #expect(
                told[.partitions] == nil && host.events.allSatisfy { $0 != "partitions.fenced" }
            )
            #expect(host.owner.check?.state == .warning)
            #expect(await host.member.status().ownerless == 256)
            await host.setDrained(false)
            await world.pass(300, [host])
            #expect(host.owned.count == 256 && told[.ownerless]?.count == 2)
            #expect(host.owner.problemSentence == nil)
            await host.member.leave()
        }
    }

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

    @Test func `A cancel ends the one request, and leaves others of its task as they are`()
        async throws
    {
        try await ReactorActor.run { actor in
            let world = PartitionWorld()
            let host = PartitionHost("a", world, actor.reactor, slots: 1)
            var stopped: [RunID] = []
            host.owner.stopRun = { [unowned host] id in
                guard host.running.contains(where: { $0.record.request == id }) else {
                    return false
                }
                stopped.append(id)
                return true
            }
            await host.begin()
            let running = try await host.submit("job.1")
            await host.wake()
            var waiting: [RunID] = []
            for _ in 0..<3 { waiting.append(try await append("job.2", host)) }
            await host.wake()
            #expect(host.running.map(\.record.request) == [running])
            #expect(world.contents(of: "job.2").pending.map(\.id) == waiting)

            let answer = try await host.owner.cancel(waiting[1].description)
            #expect(answer.changed && answer.request.state == "pending")
            await host.wake()
            #expect(world.contents(of: "job.2").pending.map(\.id) == [waiting[0], waiting[2]])
            let list = try await host.owner.requests(FleetRequestQuestion(limit: 10))
            #expect(Set(list.requests.map(\.request.id)) == [running, waiting[0], waiting[2]])

            #expect(try await host.owner.cancel(running.description).request.state == "running")
            await host.wake()
            #expect(stopped.contains(running) && host.running.count == 1)
            #expect(world.fleet { $0.cancelled.map(\.request) } == [running])
            host.endFirst(.cancelledClean)
            await host.settle()
            // The others begin in their order.
            await world.pass(60, [host])
            #expect(host.running.map(\.record.request) == [waiting[0]])
            // The first one would be repeated, but for the cancel, which ends with it.
            await world.pass(60, [host])
            #expect(world.contents(of: "job.1").pending.isEmpty)
            #expect(world.fleet { $0.cancelled.isEmpty } == true)
            host.endFirst()
            await host.settle()
            await host.wake()
            #expect(host.running.map(\.record.request) == [waiting[2]])
            await #expect(throws: OperatorRefusal.self) {
                try await host.owner.cancel(waiting[1].description)
            }
            host.endAll()
            await host.settle()
            await host.member.leave()
        }
    }

    @Test func `A partition keeps its newest dead letters`() async throws {
        try await ReactorActor.run { actor in
            let world = PartitionWorld()
            let host = PartitionHost("a", world, actor.reactor)
            await host.begin()
            _ = try await host.submit("job.1")
            await host.wake()
            let run = try #require(host.running.first?.record)
            let partition = PartitionID(of: "job.1")
            let most = PartitionOwner.deadMax
            for number in 1...most {
                let id = RunID(high: 3, low: UInt64(number))
                let request = Request(
                    id: id,
                    task: "job.1",
                    parameters: "{}",
                    submittedAt: 1,
                    priority: 500
                )
                let letter = DeadLetter(
                    request: request,
                    reason: "",
                    run: id,
                    diedAt: Int64(number)
                )
                host.owner.dead.set(letter, for: id, in: partition)
            }
            let request = Request(
                id: run.request,
                task: "job.1",
                parameters: "{}",
                submittedAt: 1,
                priority: 500
            )
            var ended = run
            ended.state = .ended
            ended.outcome = .failed
            ended.endedAt = 5_000
            host.commits.commit([.runEnded(ended, then: .dead(request, reason: "why"))])
            #expect(host.owner.dead.count(in: partition) == most + 1)
            await ReactorActor.wait { host.owner.dead.count(in: partition) == most }
            let left = host.owner.dead.values(in: partition)
            #expect(left.contains { $0.request.id == run.request })
            #expect(left.allSatisfy { $0.diedAt > 1 })
            let lines = host.log.entries(matching: LogFilter(), limit: 100).map(\.event)
            #expect(lines.count { $0 == "request.dropped" } == 1)
            await host.settle()
        }
    }

    /// Such as those of a task that only hosts with a newer manifest have.
    @Test func `What a host cannot take holds up neither submissions nor cancels behind it`()
        async throws
    {
        try await ReactorActor.run { actor in
            let world = PartitionWorld()
            let host = PartitionHost("a", world, actor.reactor)
            var stopped: [RunID] = []
            host.owner.stopRun = { id in
                stopped.append(id)
                return true
            }
            await host.begin()
            let strange = (1...600).map { number in
                Request(
                    id: RunID(high: 0, low: UInt64(number)),
                    task: "unknown.\(number)",
                    parameters: "{}",
                    submittedAt: 1,
                    priority: 500
                )
            }
            let posted = world.store.call { store throws(FleetRefusal) in
                try store.post(strange.map { FleetLetter($0, .append) })
                for request in strange {
                    guard try store.cancel(request.id)?.isNew == true else { throw .drift }
                }
            }
            #expect((try? posted.get()) != nil)
            let job = try await host.submit("job.1")
            await world.pass(300, [host])
            #expect(host.running.map(\.record.request) == [job])
            #expect(try await host.owner.cancel(job.description).changed)
            await world.pass(300, [host])
            #expect(stopped.first == job)
            // What it cannot take is there for a host that can.
            #expect(
                world.fleet { fleet in
                    (try? fleet.page(FleetQuestion(isDead: false, limit: 1000)).rows.count) ?? 0
                } == strange.count + 1
            )
            host.endAll()
            await host.member.leave()
        }
    }
}
