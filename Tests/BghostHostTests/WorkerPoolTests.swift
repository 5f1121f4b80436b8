// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostConfiguration
@testable import BghostHost
import BghostLinux
import BghostModel
import BghostOwnerSupport
import BghostPolicy
import BghostWire
import Testing

/// The assignment of runs to executors, with executors of the test's and without a process.
@Suite(.timeLimit(.minutes(5))) struct WorkerPoolTests {
    @Test func `The executor that became free last gets the next run`() async throws {
        try await ReactorActor.run { actor in
            let daemon = try TestOwners(actor.reactor, slotCount: 1)
            let pool = daemon.owners.pool
            let other = TestExecutor(
                serial: daemon.owners.executors.nextSerial(),
                plugin: daemon.plugin,
                slotCount: 1
            )
            other.state = .live
            other.handlers = daemon.executor.handlers
            daemon.owners.executors.add(other)
            pool.list(other)
            // `other` was listed last.
            _ = try await daemon.submit()
            #expect(other.started.count == 1 && daemon.executor.started.isEmpty)
            let run = try #require(daemon.owners.runs.run(other.started[0].run))
            daemon.owners.supervisor.handle(.completed(status: 0), of: run.number)
            // The handler has not released its run, so the slot is not free.
            _ = try await daemon.submit()
            #expect(other.started.count == 1 && daemon.executor.started.count == 1)
            daemon.end(try #require(daemon.newestRun))
            pool.released(other, WorkerSlot.of(run.number))
            _ = try await daemon.submit()
            #expect(other.started.count == 2 && daemon.executor.started.count == 1)
        }
    }

    @Test func `A retired executor gets no run, and finishes after the one that it has`()
        async throws
    {
        try await ReactorActor.run { actor in
            let daemon = try TestOwners(actor.reactor, slotCount: 2)
            let run = try await daemon.run()
            daemon.owners.pool.retire(daemon.executor)
            #expect(daemon.executor.state == .retiring && !daemon.executor.isAskedToFinish)
            #expect(daemon.executor.started.count == 1)
            daemon.end(run)
            #expect(daemon.executor.state == .ending && daemon.executor.isAskedToFinish)
        }
    }

    @Test func `The time of a handler that has come back is not that of a later one`()
        async throws
    {
        try await ReactorActor.run { actor in
            let daemon = try TestOwners(actor.reactor, slotCount: 2)
            let (pool, executor) = (daemon.owners.pool, daemon.executor)
            let first = try await daemon.run()
            daemon.owners.supervisor.handle(.completed(status: 0), of: first.number)
            let armed = executor.deadline
            actor.reactor.updateNow()
            let second = try await daemon.run()
            daemon.owners.supervisor.handle(.completed(status: 0), of: second.number)
            let since = executor.slots.unreleasedSince[WorkerSlot.of(second.number)]
            pool.released(executor, WorkerSlot.of(first.number))
            #expect(executor.deadline == armed && executor.unreleased == 1)
            // As if that deadline had come.
            pool.executorDeadline(executor.serial)
            #expect(!executor.isKilled)
            #expect(executor.deadline == since + pool.timeouts.release)
            pool.released(executor, WorkerSlot.of(second.number))
            #expect(executor.deadline == .never && executor.isIdle)
        }
    }

    @Test func `A handler that does not come back ends its executor, whatever others do`()
        async throws
    {
        try await ReactorActor.run { actor in
            let daemon = try TestOwners(actor.reactor, slotCount: 2) { $0.timeouts.release = 1 }
            var numbers: [UInt64] = []
            for _ in 0..<2 {
                numbers.append(try await daemon.run().number)
                daemon.owners.supervisor.handle(
                    .completed(status: 0),
                    of: numbers[numbers.count - 1]
                )
            }
            daemon.owners.pool.released(daemon.executor, WorkerSlot.of(numbers[0]))
            daemon.passDeadlines()
            #expect(daemon.executor.isKilled)
            #expect(daemon.events.contains("worker.unreleased"))
        }
    }

    @Test func `An executor that does not finish in time is killed`() async throws {
        try await ReactorActor.run { actor in
            let daemon = try TestOwners(actor.reactor) { $0.timeouts.finish = 1 }
            daemon.owners.pool.retire(daemon.executor)
            #expect(daemon.executor.isAskedToFinish && !daemon.executor.isKilled)
            daemon.passDeadlines()
            #expect(daemon.executor.isKilled)
        }
    }
}
