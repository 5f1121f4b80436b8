// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostConfiguration
@testable import BghostDispatch
@testable import BghostHost
@testable import BghostInspection
import BghostLinux
@testable import BghostModel
import BghostOwnerSupport
import BghostPolicy
@testable import BghostServices
import BghostStore
import BghostTestSupport
import BghostTransfer
import BghostWire
import Testing

/// The owners of a daemon with one plugin, whose executor the test plays; there is no process.
final class TestOwners {
    private struct NoFetcher: Fetching {
        func fetch(
            _ request: FetchRequest,
            permits: @escaping @Sendable (_ host: String, _ port: UInt16) -> Bool
        ) async throws(FetchFailure) -> FetchResponse { throw .cancelled }
    }

    let folder: TemporaryDirectory
    let store = MemoryStore()
    let log = HostLog(level: .debug)
    let owners: HostOwners
    let executor: TestExecutor
    private let spawner: Spawner

    /// - Parameters:
    ///   - slotCount: the slots of the executor.
    ///   - otherStore: takes the transactions in the place of `store`.
    ///   - change: changes the configuration.
    init(
        _ reactor: Reactor,
        manifest: Manifest = SampleManifest.make { $0.retry.attemptsMax = 1 },
        slotCount: Int = 1,
        otherStore: (any Store)? = nil,
        _ change: (inout HostConfiguration) -> Void = { _ in }
    ) throws {
        folder = try TemporaryDirectory()
        let store = store
        var configuration = HostConfiguration(
            manifest: manifest,
            manifestPath: "tasks.json",
            manifestDirectory: folder.path,
            stateDirectory: folder.path + "/state",
            workerPath: "/nonexistent",
            pluginPath: [],
            openStore: { _ in store },
            fetcher: NoFetcher(),
            log: log
        )
        change(&configuration)
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
        owners = HostOwners(services, otherStore ?? store, controlGroup: nil)
        owners.connect {}
        owners.registry.add(.plugin(manifest.plugins[0]))
        executor = TestExecutor(
            serial: owners.executors.nextSerial(),
            plugin: owners.plugins[0],
            slotCount: slotCount
        )
        executor.state = .live
        executor.handlers = Set(
            manifest.tasks.compactMap { task in
                if case .plugin(_, let handler) = task.handler { handler } else { nil }
            } + manifest.sessions.map(\.handler)
        ).sorted().map { Ready.Handler(name: $0, flags: 0) }
        owners.executors.add(executor)
        executor.plugin.executors[executor.serial] = executor
        owners.pool.list(executor)
        owners.dispatcher.decide { scheduler, now, effects in
            scheduler.setIncarnation(1, now: now)
            scheduler.start(now: now, &effects)
        }
    }

    deinit { spawner.end() }

    var plugin: PluginSlot { owners.plugins[0] }

    /// The names of the logged events, the first at the beginning.
    var events: [String] { log.entries(matching: LogFilter(), limit: 100).map(\.event) }

    /// Submits a task; its run starts if one can.
    @discardableResult
    nonisolated(nonsending) func submit(_ task: String = "backup") async throws -> RunID {
        try await owners.intake.submit(Submission(task: task), isManual: false).request.id
    }

    /// Tells that the plugin is loaded, and that runs of one handler do not exclude one another.
    func becomeReady() {
        let handlers = executor.handlers
        owners.pool.becameReady(
            executor,
            Ready(id: "org.example.plugin", version: "1.0.0", vendor: "", handlers: handlers)
        )
    }

    /// Submits a task, and returns the run that starts.
    nonisolated(nonsending) func run(_ task: String = "backup") async throws -> ActiveRun {
        let request = try await submit(task)
        let run = try #require(newestRun)
        #expect(run.record.request == request)
        return run
    }

    /// The run that was started last; `nil` if it has ended, or if there was none.
    var newestRun: ActiveRun? { executor.started.last.flatMap { owners.runs.run($0.run) } }

    /// Ends a run as its handler would.
    func end(_ run: ActiveRun, status: Int32 = 0) {
        owners.supervisor.handle(.completed(status: status), of: run.number)
        owners.pool.released(executor, WorkerSlot.of(run.number))
    }

    /// Lets the time of a deadline pass.
    func passDeadlines() {
        owners.services.reactor.updateNow()
        owners.services.deadlines.handleDue(now: owners.services.now) { owners.handle($0) }
    }
}
