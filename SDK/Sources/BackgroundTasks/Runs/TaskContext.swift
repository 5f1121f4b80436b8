// SPDX-License-Identifier: Apache-2.0

package import CBghost
public import FoundationEssentials
internal import Synchronization

/// The context of a run: what a handler knows about it, and the host's services for it.
///
/// The handler gets it as an argument; `TaskContext.current` returns it too, also in child tasks.
/// Use it from any thread. After the run is over, its methods have no effect.
public final class TaskContext: Sendable {
    /// The context of the calling task's run; `nil` outside a run.
    @TaskLocal public static var current: TaskContext?

    /// The identifier of the task in `tasks.json`.
    public let taskIdentifier: String
    /// The number of this attempt; the first is 1.
    public let attempt: Int
    /// The plugin's own folder, which is writable and persists across runs.
    public let dataDirectory: URL
    /// When the run is cancelled, on `clock`.
    public let deadline: SuspendingClock.Instant
    /// The time between the run's cancellation and its kill.
    public let grace: Duration
    /// Whether the run is in a worker process; otherwise it is inside the daemon.
    public let isInWorker: Bool
    /// The task's parameters, a JSON object.
    ///
    /// In a wake they list the ended transfers. A handler that reads them processes these itself: the SDK
    /// then keeps no end that no session received.
    public var rawParameters: String {
        hasReadParameters.store(true, ordering: .releasing)
        return givenParameters
    }
    /// The plugin's `config` of `tasks.json`, a JSON object.
    public let rawConfiguration: String

    package let host: Host
    package let run: bg_run
    /// The parameters, for the SDK itself.
    let givenParameters: String
    /// The most bytes that the run's result may have.
    let resultBytesMax: Int
    /// Whether the run is a wake, which reports ended transfers of a session.
    package let isWake: Bool
    /// The executor of the handler after its first suspension; `nil` for Swift's pool.
    package let executor: (any TaskExecutor)?
    /// The app objects of the handler's plugin; `nil` if it is not an app.
    let objects: AppObjects?
    /// `BG_WHY_*`; 0 until the run is cancelled.
    private let stopCode = Atomic<UInt32>(0)
    private let launching = Atomic<Bool>(false)
    private let hasReadParameters = Atomic<Bool>(false)
    /// Created when first needed: most runs use no session.
    private let lazySessions = Mutex<RunSessions?>(nil)

    /// Copies all data: a context may outlive its run, but the host's memory does not.
    init(_ info: bg_run_info, _ instance: PluginInstance, _ objects: AppObjects?) {
        self.objects = objects
        host = instance.host
        run = info.run
        taskIdentifier = String(info.task_id)
        attempt = Int(info.attempt)
        dataDirectory = URL(filePath: String(info.data_dir), directoryHint: .isDirectory)
        // On Linux both clocks are CLOCK_MONOTONIC.
        deadline = SuspendingClock().systemEpoch
            .advanced(by: .nanoseconds(info.deadline_mono_ns))
        grace = .milliseconds(info.grace_ms)
        isInWorker = info.flags & UInt32(BG_RUN_WORKER) != 0
        givenParameters = String(info.params)
        rawConfiguration = instance.config
        resultBytesMax = Int(info.max_result)
        isWake = info.flags & UInt32(BG_RUN_WAKE) != 0
        executor = instance.executors?(info.run)
    }

    /// The time until the run is cancelled; zero if that has passed.
    public var remainingTime: Duration {
        max(.zero, clock.now.duration(to: deadline))
    }

    /// The clock that measures the run's limits.
    ///
    /// Sleep on it instead of with `Task.sleep`, so that tests of the handler need not wait.
    public var clock: TaskClock { TaskClock(self) }

    /// The current wall-clock time, which may jump when the clock is set; in a test, the test's
    /// time.
    public var now: Date {
        guard let clock = HostClock(host) else { return Date() }
        return Date(unixNanoseconds: clock.now.unix)
    }

    /// Sleeps on the clock that measures the run's limits; returns at once if the duration is not
    /// positive.
    ///
    /// - Parameter duration: how long to sleep.
    /// - Throws: `CancellationError` once the task is cancelled or the run is over.
    public func sleep(for duration: Duration) async throws {
        let clock = clock
        try await clock.sleep(until: clock.now.advanced(by: duration))
    }

    /// The run's identifiers outside this process; `nil` once the run is over, or if the host does
    /// not support them.
    ///
    /// Send the key and the epoch with requests that must not take effect twice:
    ///
    ///     if let identity = context.identity {
    ///         request.setValue(identity.idempotencyKey, forHTTPHeaderField: "Idempotency-Key")
    ///     }
    public var identity: RunIdentity? { RunIdentity(of: run, on: host) }

    /// The run's place in a trace; `nil` if it has none, once the run is over, or if the host does not
    /// support traces.
    public var trace: TraceContext? { TraceContext(of: run, on: host) }

    /// Why the run was cancelled; `nil` if it was not.
    ///
    /// It is set before the task is cancelled, so that cancellation handlers can read it.
    public var stopReason: StopReason? {
        let code = stopCode.load(ordering: .acquiring)
        return code == 0 ? nil : StopReason(code: code)
    }

    func willStop(_ why: UInt32) {
        stopCode.store(why == 0 ? .max : why, ordering: .releasing)
        usedSessions?.stop()
    }

    /// Whether the handler has read the parameters, which list the ends in a wake.
    var readsParameters: Bool { hasReadParameters.load(ordering: .acquiring) }

    /// Whether a launch handler is being called.
    package var isLaunching: Bool { launching.load(ordering: .acquiring) }

    func setLaunching(_ isLaunching: Bool) { launching.store(isLaunching, ordering: .releasing) }

    /// The run's state for sessions, created when first needed.
    package var sessions: RunSessions {
        if let made = usedSessions { return made }
        // Outside of the lock, as it may ask the host; who comes second takes what is there.
        let made = RunSessions(wake: isWake ? SessionEnds(wake: self) : nil)
        return lazySessions.withLock { sessions in
            if sessions == nil { sessions = made }
            return sessions ?? made
        }
    }

    /// The run's state for sessions; `nil` if it was not needed.
    var usedSessions: RunSessions? { lazySessions.withLock { $0 } }

    /// Decodes the task's parameters.
    ///
    /// - Parameter type: the type to decode.
    /// - Returns: the decoded value.
    /// - Throws: `MismatchError`, which names the place, if they do not match the type.
    public func parameters<Value: Decodable>(as type: Value.Type = Value.self) throws -> Value {
        try JSON.decode(type, from: rawParameters, what: "parameters")
    }

    /// Decodes the plugin's settings, its `config` in `tasks.json`.
    ///
    /// - Parameter type: the type to decode.
    /// - Returns: the decoded value.
    /// - Throws: `MismatchError`, which names the place, if they do not match the type.
    public func configuration<Value: Decodable>(as type: Value.Type = Value.self) throws -> Value {
        try JSON.decode(type, from: rawConfiguration, what: "config")
    }

    /// Reports the progress of the run.
    ///
    /// The call is cheap; the host drops reports that are too frequent.
    ///
    /// - Parameters:
    ///   - done: the finished units of work; a negative value counts as 0.
    ///   - total: all units of work; 0 if unknown.
    ///   - phase: the current activity, as a text for people.
    public func progress(_ done: Int, of total: Int = 0, _ phase: String = "") {
        host.progress(
            run,
            done: UInt64(clamping: done),
            total: UInt64(clamping: total),
            phase: phase
        )
    }

    /// Writes a line to the run's log.
    ///
    /// The text is written unchanged, truncated at 8 KiB. The host drops lines beyond its rate
    /// limit, and counts them.
    ///
    /// - Parameters:
    ///   - level: the level of the line.
    ///   - message: the text.
    public func log(_ level: LogLevel, _ message: String) {
        host.log(level, message, run: run)
    }

    /// A logger for code that does not depend on runs.
    public var logger: Logger { Logger(self) }
}
