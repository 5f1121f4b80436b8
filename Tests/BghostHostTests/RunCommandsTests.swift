// SPDX-License-Identifier: Apache-2.0

@testable import BghostAPI
import BghostBase
import BghostDispatch
@testable import BghostHost
import BghostLinux
@testable import BghostModel
import BghostOwnerSupport
import BghostPolicy
@testable import BghostServices
@testable import BghostStore
import Testing

/// The owner of the commands for runs, with an executor of the test's and without a process.
@Suite(.timeLimit(.minutes(5))) struct RunCommandsTests {
    @Test func `A submission cannot ignore what its task requires`() async throws {
        try await ReactorActor.run { actor in
            let daemon = try TestOwners(actor.reactor)
            let runs = HostCommands(daemon.owners).runs
            let error = await #expect(throws: SubmitError.self) {
                _ = try await runs.submit(Submission(task: "backup", ignoresRequirements: true))
            }
            #expect(error?.code == .badParameters)
            #expect(error?.message.contains("bghost trigger --ignore-requirements") == true)
            #expect(daemon.executor.started.isEmpty)
        }
    }

    @Test func `A manual run of a plugin that cannot be used is refused with its problem`()
        async throws
    {
        try await ReactorActor.run { actor in
            let daemon = try TestOwners(actor.reactor)
            let runs = HostCommands(daemon.owners).runs
            // The operator's command looks at the files again, which may have been repaired.
            daemon.plugin.problem = PluginProblem(message: "it has no bghost_plugin_v1")
            let error = await #expect(throws: SubmitError.self) {
                _ = try await runs.trigger(Submission(task: "backup"))
            }
            let problem = try #require(daemon.plugin.problem)
            #expect(error?.code == .unavailable && error?.message == problem.message)
            // A pause ends by itself, so the request waits for that.
            let registry = daemon.owners.registry
            daemon.plugin.problem = nil
            registry.pause(daemon.plugin, "its worker ended", until: registry.now + 1)
            _ = try await runs.trigger(Submission(task: "backup"))
            #expect(daemon.executor.started.isEmpty)
            daemon.passDeadlines()
            #expect(daemon.executor.started.count == 1)
        }
    }

    @Test func `A stop and an expiry find their run only while it runs`() async throws {
        try await ReactorActor.run { actor in
            let daemon = try TestOwners(actor.reactor)
            let runs = HostCommands(daemon.owners).runs
            let first = try await daemon.run()
            let id = first.record.id
            #expect(!runs.stop(RunID(high: 1, low: 1)) && daemon.executor.cancelled.isEmpty)
            #expect(runs.stop(id) && first.record.stopReason == .user)
            #expect(daemon.executor.cancelled.count == 1)
            daemon.end(first)
            #expect(!runs.stop(id) && !runs.expire(id))
            let second = try await daemon.run()
            #expect(runs.expire(second.record.id))
            #expect(second.record.stopReason == .expired && second.isExpirySimulated)
        }
    }

    @Test func `Running and ended runs are one list, the newest first and up to a limit`()
        async throws
    {
        try await ReactorActor.run { actor in
            let manifest = SampleManifest.make { $0.retry.attemptsMax = 1 }
            let daemon = try TestOwners(actor.reactor, manifest: manifest)
            let runs = HostCommands(daemon.owners).runs
            var ids: [RunID] = []
            for _ in 0..<3 {
                let run = try await daemon.run()
                ids.insert(run.record.id, at: 0)
                daemon.end(run)
            }
            let running = try await daemon.run()
            ids.insert(running.record.id, at: 0)
            #expect(await runs.runs(task: nil, limit: 10).map(\.id) == ids)
            #expect(await runs.runs(task: "backup", limit: 2).map(\.id) == Array(ids.prefix(2)))
            #expect(await runs.runs(task: "other", limit: 10).isEmpty)
            #expect(await runs.runs(task: nil, limit: 0).isEmpty)
            for id in [ids[0], ids[2]] {
                let found = await runs.runs(idPrefix: id.description.lowercased(), limit: 10)
                #expect(found.map(\.id) == [id])
            }
        }
    }

    @Test func `The output of a run is that of its memory while it runs`() async throws {
        try await ReactorActor.run { actor in
            let daemon = try TestOwners(actor.reactor)
            let runs = HostCommands(daemon.owners).runs
            let run = try await daemon.run()
            run.keepOutput("a line")
            #expect(await runs.output(ofRun: run.record.id).contains("a line"))
            #expect(await runs.output(ofRun: RunID(high: 1, low: 1)).isEmpty)
        }
    }

    @Test func `A caller that stops waiting gets no run, and the others theirs`() async throws {
        try await ReactorActor.run { actor in
            let daemon = try TestOwners(actor.reactor)
            let runs = HostCommands(daemon.owners).runs
            let run = try await daemon.run()
            let request = run.record.request
            let (first, second) = (runs.makeWaiter(), runs.makeWaiter())
            let waiters = [first, second].map { number in
                Task {
                    _ = actor
                    return await runs.waitForRun(ofRequest: request, number)
                }
            }
            await ReactorActor.wait { daemon.owners.supervisor.waiters.isAwaited(request) }
            // Both wait: the second was made after the first.
            for _ in 0..<100 { await Task.yield() }
            runs.stopWaiting(first, ofRequest: request)
            #expect(await waiters[0].value == nil)
            let id = run.record.id
            daemon.end(run)
            #expect(await waiters[1].value?.id == id)
            runs.stopWaiting(second, ofRequest: request)
        }
    }

    @Test func `A run that is awaited from its submission is answered if the store refuses it`()
        async throws
    {
        try await ReactorActor.run { actor in
            let store = ScriptedStore()
            let daemon = try TestOwners(actor.reactor, otherStore: store)
            let runs = HostCommands(daemon.owners).runs
            store.answerAtOnce(.failure(StoreError("the disk is full", kind: .full)))
            #expect(try await runs.run(Submission(task: "backup")) == nil)
            await #expect(throws: SubmitError.self) {
                _ = try await runs.run(Submission(task: "bakcup"))
            }
            #expect(daemon.executor.started.isEmpty)
        }
    }
}
