// SPDX-License-Identifier: Apache-2.0

@_spi(Testing) public import BackgroundTasks
internal import BghostBase
internal import BghostPlugin
internal import BghostSchemas
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
/// killed. Since the test process cannot be killed, the handler continues, and its calls have no
/// effect: `abandoned` lists the run. Memory and processor time are not limited.
///
/// **Checks.** The plugin runs on the runtime that workers use: what a worker would refuse, such as
/// a result that is too large, is refused here with the same error.
///
/// **Threads.** Use it from any thread and task. Calls that carry out effects wait for one another,
/// so a handler must not make them. Each run has its own thread. A plugin may have any number of
/// test hosts at once. Only outside runs, in detached tasks, `BGTaskScheduler.shared` belongs to
/// the host that was created last.
///
/// **End.** When the host is released, it cancels the runs in progress, refuses their calls, and
/// removes its data folder. It closes the plugin when their handlers have ended.
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
            // A folder that stays is one of the temporary folder; the error above is what the test
            // needs.
            if dataDirectory == nil { try? FileManager.default.removeItem(at: directory) }
            throw error
        }
    }

    deinit {
        driver.close()
        // A folder that stays is one of the temporary folder, and no caller is left.
        if let ownDirectory { try? FileManager.default.removeItem(at: ownDirectory) }
    }

    private static func makeDirectory() throws -> URL {
        let directory = FileManager.default.temporaryDirectory
            .appending(path: "bghost-test-\(UUID().uuidString)", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        return directory
    }

    /// Checks the plugin's table as a worker does.
    private static func descriptor(of plugin: Plugin) throws -> PluginDescriptor {
        guard let table = plugin.table(for: nil) else {
            throw TestHostError(.invalidTasks, "the plugin has no handlers, or more than 256")
        }
        return try refused { () throws(PluginRefusal) in
            try PluginLoader.descriptor(of: table, in: pluginName)
        }
    }

    /// What messages of the runtime call the plugin, which has no file.
    private static let pluginName = "TestHost"

    private static func refused<Answer>(
        _ body: () throws(PluginRefusal) -> Answer
    ) throws -> Answer {
        do {
            return try body()
        } catch {
            throw TestHostError(.invalidTasks, error.message)
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
        let descriptor = try descriptor(of: plugin)
        let subject = try Subject(
            id: descriptor.id,
            descriptor.handlers.map {
                Subject.Handler(
                    name: $0.name,
                    isSerial: $0.flags.contains(.serial),
                    // As in the daemon: `bghost plugin check` reports a schema that cannot be used.
                    schema: try? ParameterSchema($0.parametersSchema)
                )
            },
            tasks: tasks,
            as: name,
            dataDirectory: directory
        )
        // Close to the machine's clock, so that code which mixes the two waits instead of failing.
        let monotonic = SuspendingClock().systemEpoch.duration(to: .now).clampedNanoseconds
        let now = Moment(monotonic: MonotonicInstant(nanoseconds: monotonic), unix: unix)
        let core = HostCore(Engine(subject, now: now, seed: seed))
        let link = HostLink()
        var options = PluginRuntime.Options(
            slotCount: core.read { $0.runSlots.count },
            // Each run has a thread already, on which the driver starts it.
            threadsForBlocking: false,
            isWorker: true,
            dataDirectory: directory,
            config: subject.config,
            hostVersion: "test"
        )
        options.clock = link
        let runtime = PluginRuntime(options: options, events: link)
        link.connect(core, runtime)
        do {
            try load(plugin, descriptor, into: runtime, core)
        } catch {
            link.abandon()
            throw error
        }
        let driver = Driver(core, link, runtime, directory: directory, patience: patience)
        return (core, driver)
    }

    /// Opens the plugin as a worker does, but for the file.
    private static func load(
        _ plugin: Plugin,
        _ descriptor: PluginDescriptor,
        into runtime: PluginRuntime,
        _ core: HostCore
    ) throws {
        guard plugin.table(for: UnsafeRawPointer(runtime.table)) != nil else {
            throw TestHostError(.invalidTasks, "the plugin cannot run on this host")
        }
        let executors: @Sendable (UInt64) -> (any TaskExecutor)? = { [weak core] id in
            core?.read { $0.runs[RunSlots.run(of: id)]?.thread }
        }
        try HandlerExecutors.$source.withValue(executors) {
            try refused { () throws(PluginRefusal) in
                try runtime.load(descriptor, as: pluginName)
            }
        }
    }
}
