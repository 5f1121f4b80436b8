// SPDX-License-Identifier: Apache-2.0

import BghostBase
@testable import BghostDispatch
@testable import BghostHost
@testable import BghostInspection
import BghostLinux
@testable import BghostModel
import BghostPolicy
@testable import BghostServices
@testable import BghostStore
import BghostTestSupport
import BghostTransfer
import BghostWire
import Testing

/// The life of runs, with an executor of the test's and without a process.
@Suite struct RunSupervisorTests {
    private struct NoFetcher: Fetching {
        func fetch(
            _ request: FetchRequest,
            permits: @escaping @Sendable (_ host: String, _ port: UInt16) -> Bool
        ) async throws(FetchFailure) -> FetchResponse { throw .cancelled }
    }

    /// The owners of a daemon with one plugin, whose executor the test plays.
    private final class Daemon {
        let folder: TemporaryDirectory
        let store = MemoryStore()
        let owners: HostOwners
        let executor: TestExecutor
        let spawner: Spawner

        init(_ reactor: Reactor, limits: RunLimits = RunLimits(kind: .refresh)) throws {
            folder = try TemporaryDirectory()
            var task = TaskDefinition(
                identifier: try #require(IdentifierPattern("backup")),
                handler: .plugin(name: "plugin", handler: "backup")
            )
            task.limits = limits
            task.retry.attemptsMax = 1
            let manifest = Manifest(
                plugins: [PluginDefinition(name: "plugin", library: "plugin.so")],
                tasks: [task]
            )
            let store = store
            let configuration = HostConfiguration(
                manifest: manifest,
                manifestPath: "tasks.json",
                manifestDirectory: folder.path,
                stateDirectory: folder.path + "/state",
                workerPath: "/nonexistent",
                pluginPath: [],
                openStore: { _ in store },
                fetcher: NoFetcher(),
                log: HostLog()
            )
            spawner = try Spawner()
            let services = HostServices(
                configuration: configuration,
                reactor: reactor,
                clock: DaemonClock(reactor),
                deadlines: Deadlines(reactor),
                spawner: spawner,
                threads: BlockingThreads(),
                state: try StateDirectory(configuration.stateDirectory, allowsUntrustedFiles: true)
            )
            owners = HostOwners(services, store, controlGroup: nil)
            owners.connect {}
            let owners = owners
            owners.registry.add(.plugin(manifest.plugins[0]))
            executor = TestExecutor(
                serial: owners.executors.nextSerial(),
                plugin: owners.plugins[0],
                lanes: 1
            )
            executor.state = .live
            executor.handlers = [Ready.Handler(name: "backup", flags: 0)]
            owners.executors.add(executor)
            owners.pool.list(executor)
            owners.dispatcher.decide { scheduler, now, effects in
                scheduler.begin(incarnation: 1, now: now)
                scheduler.start(now: now, &effects)
            }
        }

        deinit { spawner.end() }

        /// Submits the task, and returns the run that starts.
        nonisolated(nonsending) func run() async throws -> ActiveRun {
            let accepted = try await owners.intake.take(
                Submission(task: "backup"),
                isSimulated: false
            )
            let number = try #require(executor.started.last?.run)
            let run = try #require(owners.runs.run(number))
            #expect(run.record.request == accepted.request.id)
            return run
        }

        /// Lets the time of a deadline pass.
        func passDeadlines() {
            owners.services.reactor.updateNow()
            owners.services.deadlines.handleDue(now: owners.services.now) { owners.handle($0) }
        }
    }

    @Test func `A run starts in a free executor, and its end is stored`() async throws {
        try await ReactorActor.run { actor in
            let daemon = try Daemon(actor.reactor)
            let run = try await daemon.run()
            #expect(run.record.state == .running && daemon.owners.runs.count == 1)
            #expect(daemon.executor.isIdle == false)
            daemon.owners.supervisor.handle(.completed(status: 0), of: run.number)
            #expect(daemon.owners.runs.count == 0)
            #expect(daemon.store.lastRun(task: "backup")?.outcome == .succeeded)
            // The slot is free once the handler has released the run.
            #expect(!daemon.executor.isIdle && daemon.owners.pool.executorsWithUnreleasedRuns == 1)
            daemon.owners.pool.released(daemon.executor, Lane.of(run.number))
            #expect(daemon.executor.isIdle)
        }
    }

    @Test func `A run that overruns is cancelled, and then killed with its executor`()
        async throws
    {
        try await ReactorActor.run { actor in
            let limits = RunLimits(runtime: .nanoseconds(1), grace: .nanoseconds(1))
            let daemon = try Daemon(actor.reactor, limits: limits)
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

    @Test
    func `A caller that waits for a run gets its end, and one for an unknown request nothing`()
        async throws
    {
        try await ReactorActor.run { actor in
            let daemon = try Daemon(actor.reactor)
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
            let daemon = try Daemon(actor.reactor)
            daemon.executor.handlers = [Ready.Handler(name: "other", flags: 0)]
            _ = try await daemon.owners.intake.take(
                Submission(task: "backup"),
                isSimulated: false
            )
            #expect(daemon.executor.started.isEmpty && daemon.owners.runs.count == 0)
            let record = try #require(daemon.store.lastRun(task: "backup"))
            #expect(record.message.contains("has no handler `backup`"))
            #expect(daemon.executor.isIdle)
        }
    }
}
