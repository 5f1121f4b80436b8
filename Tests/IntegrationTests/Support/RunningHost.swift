// SPDX-License-Identifier: Apache-2.0

@testable import BghostAPI
import BghostBase
import BghostConfiguration
@testable import BghostHost
@testable import BghostModel
@testable import BghostPolicy
import BghostServices
import BghostStore
import BghostTestSupport
import BghostTransfer
import Glibc
import Testing

/// A host with real workers, for one test.
final class RunningHost: Sendable {
    let host: Host
    let log: HostLog
    let folder: TemporaryDirectory

    /// Starts a host on a state directory of its own.
    ///
    /// - Parameter adjust: changes the configuration before the host gets it.
    init(
        _ manifest: Manifest,
        folder: TemporaryDirectory? = nil,
        adjust: (inout HostConfiguration) -> Void = { _ in }
    ) async throws {
        let folder = try folder ?? TemporaryDirectory()
        self.folder = folder
        log = HostLog(level: .trace)
        var configuration = HostConfiguration(
            manifest: manifest,
            manifestPath: folder.file("tasks.json"),
            manifestDirectory: folder.path,
            stateDirectory: folder.file("state"),
            workerPath: Artifact.path("bghost-worker"),
            pluginPath: [folder.path],
            openStore: { _ in MemoryStore() },
            fetcher: UnreachableNetwork(),
            log: log
        )
        // A machine that tests run on may have started a minute ago, and no service may synchronise its clock.
        configuration.clockDoubt = { nil }
        // A busy machine may need longer than the usual 10 s to load a plugin; `LoadTimeTests` has the limit.
        configuration.timeouts.start = 120_000_000_000
        // Most tests have one plugin that is meant to crash, over and over.
        configuration.timeouts.crashes.pause = 0
        configuration.timeouts.crashes.crashesMax = .max
        adjust(&configuration)
        host = try await Host.running(configuration)
    }

    /// Triggers a task and waits for the end of its run.
    func run(_ task: String, _ parameters: String = "{}") async throws -> RunRecord {
        let request = try await host.trigger(Submission(task: task, parameters: parameters))
        return try #require(await host.waitForRun(ofRequest: request.id))
    }

    /// Triggers a task and waits until its handler is under way.
    func begin(_ task: String, _ parameters: String = "{}") async throws -> RunRecord {
        let request = try await host.trigger(Submission(task: task, parameters: parameters))
        return try await begun(request)
    }

    /// Waits until the handler of a request's run is under way.
    func begun(_ request: PendingRequest) async throws -> RunRecord {
        try await begun(request.id, task: request.task)
    }

    /// Waits until the handler of a request's run is under way.
    func begun(_ request: RunID, task: String) async throws -> RunRecord {
        for await entry in follow(LogFilter(task: task)) where entry.event == "run.started" {
            let runs = await host.runs(task: task, limit: 100)
            // An earlier run of the task has begun too.
            let run = runs.first { $0.request == request && $0.id == entry.run }
            if let run { return run }
        }
        throw Missing(what: "a run of \(task)")
    }

    /// Waits for the end of a run that is under way.
    func end(of run: RunRecord) async throws -> RunRecord {
        try #require(await host.waitForRun(ofRequest: run.request))
    }

    /// What the log holds and each new line as it comes.
    func follow(_ filter: LogFilter = LogFilter()) -> AsyncStream<LogEntry> {
        log.follow(matching: filter, limit: 8192).lines
    }

    /// Waits until the log has a line.
    @discardableResult
    func line(
        _ filter: LogFilter = LogFilter(),
        where isWanted: (LogEntry) -> Bool
    ) async throws -> LogEntry {
        for await entry in follow(filter) where isWanted(entry) { return entry }
        throw Missing(what: "a line of the log")
    }

    /// Waits until a plugin or the host has said exactly this.
    @discardableResult
    func line(_ text: String, _ filter: LogFilter = LogFilter()) async throws -> LogEntry {
        try await line(filter) { $0.message == text }
    }

    /// When the daemon asked a run to stop, killed it and recorded its end, from its start on.
    ///
    /// It tells a late deadline from a process that needs long to die.
    func timeline(of run: RunRecord) -> String {
        let events = ["run.expiring", "run.killed", "worker.fault", "run.ended"]
        let steps = log.entries(matching: LogFilter(run: run.id), limit: 8192)
            .filter { events.contains($0.event) }
            .map { entry in
                let passed = Duration.nanoseconds(entry.time - (run.startedAt ?? entry.time))
                return "\(entry.event) after \(passed)"
            }
        return "\(run.outcome?.text ?? "no outcome"): " + steps.joined(separator: ", ")
    }

    /// The process ids of a plugin's workers.
    func workers(of plugin: String) async -> [Int32] {
        await host.status().plugins.first { $0.name == plugin }?.workers ?? []
    }

    /// The number of executors that wait for the release of a complete run.
    var executorsWithUnreleasedRuns: Int {
        get async { await host.executorsWithUnreleasedRuns }
    }

    /// Drains the host and looks that nothing of it is left.
    func end() async {
        await host.drain()
        // A process that was killed needs processor time to die.
        for worker in workersOfThisProcess() {
            await #expect(throws: Never.self, "a worker outlives its host") {
                try await gone(worker)
            }
        }
        #expect(controlGroupsOfThisProcess().isEmpty, "control groups outlive their host")
    }
}

/// Something that a test waited for in vain.
struct Missing: Error, CustomStringConvertible {
    var what: String
    var description: String { "\(what) did not come before the host's end" }
}

/// Runs a test with a host, and ends the host whatever the test does.
func withDaemon(
    _ manifest: Manifest,
    folder: TemporaryDirectory? = nil,
    adjust: (inout HostConfiguration) -> Void = { _ in },
    _ body: (RunningHost) async throws -> Void
) async throws {
    let daemon = try await RunningHost(manifest, folder: folder, adjust: adjust)
    do {
        try await body(daemon)
    } catch {
        await daemon.host.drain()
        throw error
    }
    await daemon.end()
}

/// No test here needs a network.
struct UnreachableNetwork: Fetching {
    func fetch(
        _ request: FetchRequest,
        permits: @escaping @Sendable (String, UInt16) -> Bool
    ) async throws(FetchFailure) -> FetchResponse {
        throw .shutDown
    }
}
