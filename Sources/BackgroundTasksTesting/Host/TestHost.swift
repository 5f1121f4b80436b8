// SPDX-License-Identifier: Apache-2.0

@_spi(Testing) public import BackgroundTasks
internal import BghostCore
internal import CBghost
public import FoundationEssentials

/// A host for tests of handlers: the daemon's own decisions, on a clock that the test moves.
///
///     let host = try TestHost(plugin, now: "2026-11-21T09:00:00Z")
///     try await host.submit("weather.check", earliestBeginDate: host.now + 3600)
///     try await host.advance(by: .seconds(3600))
///     #expect(host.runs.last?.outcome == .succeeded)
///
/// Requests, schedules, requirements, retries and limits are decided by the scheduler that the daemon
/// has, under the `tasks.json` of the test, and handlers run in this process. Nothing is stored, and
/// nothing goes over a network: the test answers fetches.
///
/// **Time.** It stands still while handlers work, and moves by `advance` only (and by
/// `launchAndExpire`, as far as the run needs it to stop), through all that happens meanwhile, in
/// order. Before each step every run must be waiting on the host's clock (`TaskContext.sleep`,
/// `TaskContext.clock`) or for the answer to a fetch. A run that waits for something else, such as
/// `Task.sleep`, is waited for; after `patience`, in real time, the call throws
/// `TestHostError.Code.stuck` and names the handler. Child tasks count as their run's; detached ones
/// do not.
///
/// **Limits.** At the end of its runtime a run is cancelled, and after its grace it is recorded as
/// killed. As a test process cannot be killed for it, its handler goes on, with whatever it does
/// answered "stale": `abandoned` names it. Memory and processor time are not limited.
///
/// **Threads.** Use it from any thread and task; calls that carry something out wait for one another,
/// so none may be made by a handler. Each run has a thread of its own. A plugin may have any number
/// of test hosts at once. Only outside of runs, in detached tasks, `BGTaskScheduler.shared` is that of
/// the host that was made last.
///
/// **The end.** When the host goes, runs under way are asked to stop, and its data folder is removed.
public final class TestHost: Sendable {
    let core: HostCore
    let driver: Driver
    private let ownDirectory: URL?
    /// The plugin's own folder, which handlers know as `TaskContext.dataDirectory`.
    public let dataDirectory: URL

    /// Opens a plugin on a new host.
    ///
    /// Every requirement holds at first. What the manifest submits by itself begins with the first
    /// call that carries something out.
    ///
    /// - Parameters:
    ///   - plugin: what is tested. It runs in this process.
    ///   - tasks: the text of a `tasks.json`; its libraries are not looked at, its secrets not filled
    ///     in. Tasks of other plugins can be submitted and stay pending. `nil` makes a task of kind
    ///     refresh for each handler, by the handler's name, with all permissions.
    ///   - name: which plugin of `tasks` it is; not needed if only one can be it.
    ///   - now: the time at which it begins, in RFC 3339.
    ///   - dataDirectory: a folder that is there and stays; `nil` makes one that goes with the host.
    ///   - seed: where chance comes from, such as that of back-off.
    ///   - patience: how long a run may take, in real time, before it waits or ends.
    /// - Throws: `TestHostError` for a manifest that `bghost check` would refuse, with its words, and
    ///   for one that does not fit the plugin.
    public init(
        _ plugin: Plugin,
        tasks: String? = nil,
        as name: String? = nil,
        now: String = "2026-01-01T00:00:00Z",
        dataDirectory: URL? = nil,
        seed: UInt64 = 0,
        patience: Duration = .seconds(10)
    ) throws {
        guard let unix = Timestamp.unixNanoseconds(now) else {
            throw TestHostError(
                .invalidTime,
                "`\(now)` is no time; write it like 2026-11-21T09:00:00Z"
            )
        }
        let directory = try dataDirectory ?? Self.makeDirectory()
        self.dataDirectory = directory
        ownDirectory = dataDirectory == nil ? directory : nil
        do {
            (core, driver) = try Self.open(
                plugin,
                tasks: tasks,
                as: name,
                unix: unix,
                directory: directory.path,
                seed: seed,
                patience: patience
            )
        } catch {
            if dataDirectory == nil { try? FileManager.default.removeItem(at: directory) }
            throw error
        }
    }

    deinit {
        driver.close()
        if let ownDirectory { try? FileManager.default.removeItem(at: ownDirectory) }
    }

    private static func makeDirectory() throws -> URL {
        let directory = FileManager.default.temporaryDirectory
            .appending(path: "bghost-test-\(UUID().uuidString)", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        return directory
    }

    private static func open(
        _ plugin: Plugin,
        tasks: String?,
        as name: String?,
        unix: Int64,
        directory: String,
        seed: UInt64,
        patience: Duration
    ) throws -> (HostCore, Driver) {
        guard let table = plugin.table(for: nil)?.assumingMemoryBound(to: bg_plugin.self).pointee
        else {
            throw TestHostError(.invalidTasks, "the plugin has no handlers, or more than 256")
        }
        let handlers = (0..<Int(table.n_tasks)).compactMap { table.tasks[$0]?.pointee }
        let subject = try Subject(
            id: String(copying: table.id),
            handlers.map {
                Subject.Handler(
                    name: String(copying: $0.handler),
                    isSerial: $0.flags & UInt32(BG_TASK_SERIAL) != 0
                )
            },
            tasks: tasks,
            as: name,
            dataDirectory: directory
        )
        // Near the machine's, so that code that mixes the two waits instead of going wrong.
        let monotonic = SuspendingClock().systemEpoch.duration(to: .now).clampedNanoseconds
        let now = Moment(monotonic: monotonic, unix: unix)
        let core = HostCore(Engine(subject, now: now, seed: seed))
        let host = CHost(core)
        let executors: @Sendable (UInt64) -> (any TaskExecutor)? = { [weak core] number in
            core?.look { $0.runs[number]?.thread }
        }
        let opened = HandlerExecutors.$source.withValue(executors) {
            OpenPlugin(plugin.table(for: host.opaque), on: host, config: subject.config)
        }
        guard let opened else {
            throw TestHostError(.invalidTasks, "the plugin does not open")
        }
        let driver = Driver(core, host, opened, directory: directory, patience: patience)
        return (core, driver)
    }
}
