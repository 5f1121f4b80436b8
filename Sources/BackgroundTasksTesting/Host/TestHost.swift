// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
@_spi(Testing) public import BackgroundTasks
internal import CBghost
public import FoundationEssentials

/// A host for tests of handlers: the daemon's scheduler on a clock that the test controls.
///
///     let host = try TestHost(plugin, now: "2026-11-21T09:00:00Z")
///     try await host.submit("weather.check", earliestBeginDate: host.now + 3600)
///     try await host.advance(by: .seconds(3600))
///     #expect(host.runs.last?.outcome == .succeeded)
///
/// The daemon's own scheduler handles requests, schedules, requirements, retries and limits, under
/// the `tasks.json` of the test, and handlers run in this process. The host stores nothing and uses
/// no network: the test answers fetches.
///
/// **Time.** Time does not pass while handlers work. Only `advance` moves it (and
/// `launchAndExpire`, as far as the run needs it to stop), through all events on the way, in order.
/// Before each step every run must wait on the host's clock (`TaskContext.sleep`,
/// `TaskContext.clock`) or for the answer to a fetch. If a run waits for something else, such as
/// `Task.sleep`, the host waits for it; after `patience`, in real time, the call throws
/// `TestHostError.Code.stuck` and names the handler. Child tasks count as part of their run;
/// detached tasks do not.
///
/// **Limits.** At the end of its runtime a run is cancelled, and after its grace it is recorded as
/// killed. Since the test process cannot be killed, the handler continues, and its calls return
/// "stale": `abandoned` lists the run. Memory and processor time are not limited.
///
/// **Threads.** Use it from any thread and task. Calls that carry out effects wait for one another,
/// so a handler must not make them. Each run has its own thread. A plugin may have any number of
/// test hosts at once. Only outside runs, in detached tasks, `BGTaskScheduler.shared` belongs to
/// the host that was created last.
///
/// **End.** When the host is released, it cancels the runs in progress and removes its data folder.
public final class TestHost: Sendable {
    let core: HostCore
    let driver: Driver
    private let ownDirectory: URL?
    /// The plugin's own folder, which handlers get as `TaskContext.dataDirectory`.
    public let dataDirectory: URL

    /// Opens a plugin on a new host.
    ///
    /// Every requirement is met at first. Requests that the manifest submits by itself start with
    /// the first call that carries out effects.
    ///
    /// - Parameters:
    ///   - plugin: the plugin under test. It runs in this process.
    ///   - tasks: the text of a `tasks.json`; its libraries are not read, and its secrets are not
    ///     resolved. Tasks of other plugins can be submitted and stay pending. With `nil`, each
    ///     handler gets a task of kind refresh with the handler's name and all permissions; a
    ///     `BGProcessingTaskRequest` needs a manifest with a task of its kind.
    ///   - name: the name of the plugin in `tasks`; needed only if several could be it.
    ///   - now: the initial time, in RFC 3339.
    ///   - dataDirectory: an existing folder, which is kept; `nil` creates one that is removed with
    ///     the host.
    ///   - seed: the seed of randomness, such as that of the backoff.
    ///   - patience: how long a run may take, in real time, before it waits or ends.
    /// - Throws: `TestHostError` for a manifest that `bghost check` would reject, with the same
    ///   text, and for one that does not match the plugin.
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

    private static func requireNamedOnce(_ names: [String]) throws {
        var seen: Set<String> = []
        for name in names where !seen.insert(name).inserted {
            throw TestHostError(
                .invalidTasks,
                "the plugin has two handlers named `\(name)`. A task could mean either: rename one"
            )
        }
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
        try requireNamedOnce(handlers.map { String(copying: $0.handler) })
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
        // Close to the machine's clock, so that code which mixes the two waits instead of failing.
        let monotonic = SuspendingClock().systemEpoch.duration(to: .now).clampedNanoseconds
        let now = Moment(monotonic: monotonic, unix: unix)
        let core = HostCore(Engine(subject, now: now, seed: seed))
        let host = CHost(core)
        let executors: @Sendable (UInt64) -> (any TaskExecutor)? = { [weak core] number in
            core?.read { $0.runs[number]?.thread }
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
