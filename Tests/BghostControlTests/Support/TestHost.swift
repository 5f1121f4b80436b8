// SPDX-License-Identifier: Apache-2.0

@testable import BghostAPI
import BghostBase
import BghostConfiguration
@testable import BghostDispatch
@testable import BghostHost
@testable import BghostModel
import BghostPolicy
@testable import BghostServices
import BghostStore
import BghostTestSupport
import BghostTransfer
import Dispatch
import Testing

/// A real host with a store in memory, whose plugin `storm` the test plays.
///
/// No process starts: the executor records the runs, and the test ends them. Each test that starts a host ends
/// it; `Serving` does so.
struct TestHost: Sendable {
    let host: Host
    let store: MemoryStore
    let log: HostLog
    /// Contains the state directory.
    private let folder: TemporaryDirectory

    /// Starts a host with the tasks `com.acme.storm` and `com.acme.photos`.
    ///
    /// - Parameters:
    ///   - stored: what the daemon before it has stored.
    ///   - change: changes the manifest.
    ///   - adjust: changes the configuration.
    static func start(
        stored: [StoreChange] = [],
        _ change: (inout Manifest) throws -> Void = { _ in },
        configuration adjust: (inout HostConfiguration) throws -> Void = { _ in }
    ) async throws -> TestHost {
        let folder = try TemporaryDirectory()
        let store = MemoryStore()
        if !stored.isEmpty { store.put(stored) }
        let log = HostLog(level: .debug)
        var changed = try Self.manifest()
        try change(&changed)
        let manifest = changed
        var configuration = HostConfiguration(
            manifest: manifest,
            manifestPath: folder.file("tasks.json"),
            manifestDirectory: folder.path,
            stateDirectory: folder.file("state"),
            workerPath: "/nonexistent",
            pluginPath: [],
            openStore: { _ in store },
            fetcher: UnreachableNetwork(),
            log: log
        )
        configuration.allowsUntrustedFiles = true
        // No worker starts, and its filter of system calls is half of what the start of a host costs.
        configuration.sandbox = []
        // The state of the machine must decide nothing.
        configuration.clockDoubt = { nil }
        configuration.factSources = { _ in [] }
        configuration.rereadManifest = { RereadManifest(manifest: manifest, diagnostics: []) }
        try adjust(&configuration)
        await Self.places.take()
        do {
            let host = try await Host.running(configuration)
            await host.addTestExecutor()
            return TestHost(host: host, store: store, log: log, folder: folder)
        } catch {
            await Self.places.free()
            throw error
        }
    }

    /// What the control API sees of it.
    var control: any HostControl { host }

    /// A library that is inspected, and never loaded.
    static let library = Result { try Fixture.library("good") }

    private static func manifest() throws -> Manifest {
        var manifest = Manifest(
            plugins: [PluginDefinition(name: "storm", library: try library.get())],
            tasks: try ["com.acme.storm", "com.acme.photos"].map(task)
        )
        manifest.host.slots = 64
        return manifest
    }

    /// A task of the plugin, whose runs may overlap.
    static func task(_ name: String) throws -> TaskDefinition {
        TaskDefinition(
            identifier: try #require(IdentifierPattern(name)),
            handler: .plugin(name: "storm", handler: "handler"),
            limits: RunLimits(runtime: .seconds(3600), grace: .seconds(5)),
            overlap: .allow
        )
    }

    /// A status as the API sends it, which rounds times, without what grows while a run is under way.
    static func text(_ status: HostStatus) -> String {
        var status = status
        for task in status.tasks.indices {
            for run in status.tasks[task].running.indices {
                status.tasks[task].running[run].duration = nil
                status.tasks[task].running[run].usage = RunUsage()
            }
        }
        return APICoder.text(Schema.status, API.Status(status))
    }

    /// Ends its runs, and then the host.
    func end() async {
        await host.endWithRuns()
        await Self.places.free()
    }

    /// Each host watches files, and the kernel gives a user 128 watches.
    private static let places = Places(16)

    // MARK: - Runs

    /// Starts a run, which goes on until the test ends it.
    @discardableResult
    func begin(_ task: String) async throws -> RunRecord {
        let request = try await host.trigger(Submission(task: task))
        let runs = await host.runs(task: task, limit: 1000)
        return try #require(runs.first { $0.request == request.id })
    }

    /// Ends a run as its handler would, and returns when that is stored.
    @discardableResult
    func end(
        _ run: RunRecord,
        status: Int32 = 0,
        message: String = "",
        result: String = ""
    ) async throws -> RunRecord {
        await host.complete(run.id, status, message, result)
        return try #require(await host.waitForRun(ofRequest: run.request))
    }

    /// Kills a run with its worker, which another one replaces.
    func kill(_ run: RunRecord, for reason: KillReason, message: String) async {
        await host.kill(run.id, reason, message)
    }

    /// Waits until a run is under way.
    func nextRun() async throws -> RunRecord {
        for await line in log.follow(matching: LogFilter(), limit: 8192).lines
        where line.event == "run.started" {
            let runs = await host.runs(task: nil, limit: 1000)
            if let run = runs.first(where: { $0.id == line.run && $0.state == .running }) {
                return run
            }
        }
        throw HostEnded()
    }

    /// Waits until a client awaits the end of a request's run; of any run without a request.
    func untilAwaited(_ request: RunID? = nil) async { await host.untilAwaited(request) }

    /// Returns when no client waits for a run.
    func untilNobodyWaits() async { await host.untilNobodyWaits() }

    /// Lets requests wait from now on, as after a crash of the plugin's worker.
    func holdPlugin() async { await host.holdPlugin() }

    /// Lets requests start again.
    func releasePlugin() async { await host.releasePlugin() }

    /// Quarantines the plugin, as after several crashes.
    func quarantinePlugin(_ reason: String) async { await host.quarantinePlugin(reason) }

    /// Notes that a worker without a run was killed.
    func idleWorkerEnded(for reason: String, at wall: Int64) async {
        await host.idleWorkerEnded(for: reason, at: wall)
    }

    /// Waits until its readiness is as wanted.
    func untilReadiness(_ isWanted: (ReadinessReport) -> Bool) async {
        while !isWanted(await host.readiness()) { await Task.yield() }
    }

    /// Blocks the thread that answers everything.
    ///
    /// - Returns: lets it go on.
    func hang() -> @Sendable () -> Void {
        let end = DispatchSemaphore(value: 0)
        Task { await host.block(until: end) }
        return { end.signal() }
    }

    /// Adds rows to the history.
    func put(_ changes: [StoreChange]) { store.put(changes) }

    /// The waiting requests as the store has them, by their times.
    func stored() throws -> [Request] {
        var requests: [Request] = []
        _ = try store.recover(expecting: { _ in }) { requests.append($0) }
        return requests
    }

    /// The rows of the audit, the oldest first, without those of the daemon itself.
    var audited: [AuditEntry] {
        store.audit(AuditQuery(limit: 1000)).rows.reversed().map(\.entry)
            .filter { $0.actor.way != .start }
    }

    // MARK: - The log

    /// Waits until the log has a line about an event.
    func line(_ event: String) async throws {
        for await line in log.follow(matching: LogFilter(), limit: 8192).lines
        where line.event == event { return }
        throw HostEnded()
    }

    /// Writes a line of the plugin.
    func say(
        _ message: String,
        task: String? = nil,
        run: RunID? = nil,
        level: LogEntry.Level = .info
    ) {
        log.write(level, "", message, source: .handler, task: task, plugin: "storm", run: run)
    }

    /// Whether a client follows the log.
    var isFollowed: Bool { log.followersCount > 0 }

    /// Waits until this many clients follow the log.
    func untilFollowed(by count: Int) async {
        while log.followersCount != count { await Task.yield() }
    }
}

extension MemoryStore {
    fileprivate func put(_ changes: [StoreChange]) {
        commit(changes, isAwaited: false, onFailure: .retry) { _ in }
    }
}

/// A number of places, for which callers wait in turn.
private actor Places {
    private var freeCount: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(_ count: Int) { freeCount = count }

    func take() async {
        guard freeCount == 0 else { return freeCount -= 1 }
        await withCheckedContinuation { waiting.append($0) }
    }

    func free() {
        guard waiting.isEmpty else { return waiting.removeFirst().resume() }
        freeCount += 1
    }
}

/// The host ended before what a test waited for.
private struct HostEnded: Error {}

/// No test here needs a network.
private struct UnreachableNetwork: Fetching {
    func fetch(
        _ request: FetchRequest,
        permits: @escaping @Sendable (String, UInt16) -> Bool
    ) async throws(FetchFailure) -> FetchResponse {
        throw .shutDown
    }
}
