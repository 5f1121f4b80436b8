// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostDispatch
@testable import BghostHost
import BghostLinux
@testable import BghostModel
import BghostOwnerSupport
import BghostPolicy
import BghostStore
import BghostWire
import Testing

/// The life of runs, with an executor of the test's and without a process.
@Suite(.timeLimit(.minutes(5))) struct RunSupervisorTests {
    @Test func `A run starts in a free executor, and its end is stored`() async throws {
        try await ReactorActor.run { actor in
            let daemon = try TestOwners(actor.reactor)
            let run = try await daemon.run()
            #expect(run.record.state == .running && daemon.owners.runs.count == 1)
            #expect(daemon.executor.isIdle == false)
            daemon.owners.supervisor.handle(.completed(status: 0), of: run.number)
            #expect(daemon.owners.runs.count == 0)
            #expect(daemon.store.lastRun(task: "backup")?.outcome == .succeeded)
            // The slot is free once the handler has released the run.
            #expect(!daemon.executor.isIdle && daemon.owners.pool.executorsWithUnreleasedRuns == 1)
            daemon.owners.pool.released(daemon.executor, WorkerSlot.of(run.number))
            #expect(daemon.executor.isIdle)
        }
    }

    @Test func `A run that overruns is cancelled, and then killed with its executor`()
        async throws
    {
        try await ReactorActor.run { actor in
            let limits = RunLimits(runtime: .nanoseconds(1), grace: .nanoseconds(1))
            let manifest = SampleManifest.make {
                $0.limits = limits
                $0.retry.attemptsMax = 1
            }
            let daemon = try TestOwners(actor.reactor, manifest: manifest)
            let run = try await daemon.run()
            #expect(daemon.executor.cancelled.isEmpty)
            daemon.passDeadlines()
            #expect(daemon.executor.cancelled.map(\.run) == [run.number])
            #expect(run.record.stopReason == .expired)
            #expect(actor.reactor.isUrgent && !daemon.executor.isKilled)
            daemon.passDeadlines()
            #expect(daemon.executor.isKilled && run.record.state == .killing)
            // The kernel reports the end of the process.
            daemon.owners.supervisor.handle(.exited(.signalled(9)), of: run.number)
            #expect(daemon.owners.runs.count == 0)
            guard case .killed = daemon.store.lastRun(task: "backup")?.outcome else {
                Issue.record("\(String(describing: daemon.store.lastRun(task: "backup")))")
                return
            }
            actor.reactor.isUrgent = false
        }
    }

    @Test func `A run that is stopped while its plugin loads ends at once, with the load`()
        async throws
    {
        try await ReactorActor.run { actor in
            let daemon = try TestOwners(actor.reactor)
            daemon.executor.state = .loading
            try await daemon.submit()
            let run = try #require(daemon.owners.runs.slots.compactMap { $0 }.first)
            #expect(daemon.executor.started.isEmpty && !daemon.executor.isIdle)
            #expect(HostCommands(daemon.owners).runs.stop(run.record.id))
            let record = try #require(daemon.store.lastRun(task: "backup"))
            #expect(record.outcome == .cancelledClean && record.stopReason == .user)
            #expect(record.startedAt == nil && record.message == "it was stopped before it began")
            #expect(daemon.executor.isKilled && daemon.executor.isIdle)
            #expect(daemon.owners.pool.executorsWithUnreleasedRuns == 0)
            #expect(!daemon.events.contains("run.killed"))
        }
    }

    @Test func `A run that is stopped while its plugin loads leaves the load to the others`()
        async throws
    {
        try await ReactorActor.run { actor in
            var manifest = SampleManifest.make { $0.overlap = .allow }
            manifest.host.slots = 2
            let daemon = try TestOwners(actor.reactor, manifest: manifest, slotCount: 2)
            daemon.becomeReady()
            daemon.executor.state = .loading
            for _ in 0..<2 { try await daemon.submit() }
            let runs = daemon.owners.runs.slots.compactMap { $0 }
            try #require(runs.count == 2)
            #expect(HostCommands(daemon.owners).runs.stop(runs[0].record.id))
            #expect(!daemon.executor.isKilled && daemon.owners.runs.count == 1)
            daemon.becomeReady()
            #expect(daemon.executor.started.map(\.run) == [runs[1].number])
            // Its slot is free again.
            let third = try await daemon.run()
            #expect(third.executor === daemon.executor)
        }
    }

    @Test
    func `A caller that waits for a run gets its end, and one for an unknown request nothing`()
        async throws
    {
        try await ReactorActor.run { actor in
            let daemon = try TestOwners(actor.reactor)
            let commands = HostCommands(daemon.owners)
            let unknown = RunID(high: 1, low: 1)
            let first = commands.runs.makeWaiter()
            #expect(await commands.runs.waitForRun(ofRequest: unknown, first) == nil)
            let run = try await daemon.run()
            daemon.owners.supervisor.handle(.completed(status: -1), of: run.number)
            let request = run.record.request
            let second = commands.runs.makeWaiter()
            let record = await commands.runs.waitForRun(ofRequest: request, second)
            #expect(record?.id == run.record.id && record?.outcome == .failed)
        }
    }

    @Test func `A handler that the plugin does not have fails its run without a start`()
        async throws
    {
        try await ReactorActor.run { actor in
            let daemon = try TestOwners(actor.reactor)
            daemon.executor.handlers = [Ready.Handler(name: "other", flags: 0)]
            _ = try await daemon.owners.intake.submit(
                Submission(task: "backup"),
                isManual: false
            )
            #expect(daemon.executor.started.isEmpty && daemon.owners.runs.count == 0)
            let record = try #require(daemon.store.lastRun(task: "backup"))
            #expect(record.message.contains("has no handler `backup`"))
            #expect(daemon.executor.isIdle)
        }
    }
}
