// SPDX-License-Identifier: Apache-2.0

internal import CBghost
public import FoundationEssentials
internal import Synchronization

/// What a handler knows about its run, and what the host does for it.
///
/// It is handed to the handler, and `TaskContext.current` is it too, also in child tasks. Use it
/// from any thread. Once the run is over it does nothing any more.
public final class TaskContext: Sendable {
    /// The context of the run that the calling task works for; `nil` outside a run.
    @TaskLocal public static var current: TaskContext?

    /// The identifier in `tasks.json` of the task that runs.
    public let taskIdentifier: String
    /// How many times it has been tried with this one; the first is 1.
    public let attempt: Int
    /// The plugin's own folder: writable, and kept from run to run.
    public let dataDirectory: URL
    /// When the run is asked to stop, on `clock`.
    public let deadline: SuspendingClock.Instant
    /// From the time a run is asked to stop to the time it is killed.
    public let grace: Duration
    /// Whether the run has a worker process, or is inside the daemon.
    public let isInWorker: Bool
    /// The task's parameters, a JSON object.
    public let rawParameters: String
    /// The plugin's `config` of `tasks.json`, a JSON object.
    public let rawConfiguration: String

    let host: Host
    let run: bg_run
    /// The most bytes that the run's result may have.
    let resultBytesMax: Int
    /// Whether transfers of a session have ended, and the run is told of them.
    let isWake: Bool
    /// What the handler is on after its first suspension; `nil` is Swift's pool.
    let executor: (any TaskExecutor)?
    /// The one of the handler's plugin.
    let center: UNUserNotificationCenter?
    /// `BG_WHY_*`; 0 until the run is asked to stop.
    private let stopCode = Atomic<UInt32>(0)
    private let launching = Atomic<Bool>(false)
    /// Made when it is needed first: most runs have nothing to do with sessions.
    private let lazySessions = Mutex<RunSessions?>(nil)

    /// Copies everything: a context may outlive its run, and the host's memory does not.
    init(_ info: bg_run_info, _ instance: PluginInstance, _ center: UNUserNotificationCenter?) {
        self.center = center
        host = instance.host
        run = info.run
        taskIdentifier = String(info.task_id)
        attempt = Int(info.attempt)
        dataDirectory = URL(filePath: String(info.data_dir), directoryHint: .isDirectory)
        // On Linux both are CLOCK_MONOTONIC.
        deadline = SuspendingClock().systemEpoch
            .advanced(by: .nanoseconds(info.deadline_mono_ns))
        grace = .milliseconds(info.grace_ms)
        isInWorker = info.flags & UInt32(BG_RUN_WORKER) != 0
        rawParameters = String(info.params)
        rawConfiguration = instance.config
        resultBytesMax = Int(info.max_result)
        isWake = info.flags & UInt32(BG_RUN_WAKE) != 0
        executor = instance.executors?(info.run)
    }

    /// The time left until the run is asked to stop, from zero.
    public var remainingTime: Duration {
        max(.zero, clock.now.duration(to: deadline))
    }

    /// The clock of the run's limits.
    ///
    /// Sleep on it rather than by `Task.sleep`, and tests of the handler need not wait.
    public var clock: TaskClock { TaskClock(self) }

    /// The time now, which somebody may set; in a test, the test's.
    public var now: Date {
        guard let clock = HostClock(host) else { return Date() }
        return Date(unixNanoseconds: clock.now.unix)
    }

    /// Sleeps on the clock of the run's limits; returns at once if there is nothing to wait for.
    ///
    /// - Throws: `CancellationError` once the task is cancelled, or the run is over.
    public func sleep(for duration: Duration) async throws {
        let clock = clock
        try await clock.sleep(until: clock.now.advanced(by: duration))
    }

    /// Why the run was asked to stop; `nil` as long as it was not.
    ///
    /// It is set before the task is cancelled, so cancellation handlers can read it.
    public var stopReason: StopReason? {
        let code = stopCode.load(ordering: .acquiring)
        return code == 0 ? nil : StopReason(code: code)
    }

    func willStop(_ why: UInt32) {
        stopCode.store(why == 0 ? .max : why, ordering: .releasing)
    }

    /// Whether a launch handler is being called.
    var isLaunching: Bool { launching.load(ordering: .acquiring) }

    func setLaunching(_ isLaunching: Bool) { launching.store(isLaunching, ordering: .releasing) }

    /// What the run has to do with sessions.
    var sessions: RunSessions {
        if let made = usedSessions { return made }
        // Outside of the lock, as it may ask the host; who comes second takes what is there.
        let made = RunSessions(wake: isWake ? SessionWake(self) : nil)
        return lazySessions.withLock { sessions in
            if sessions == nil { sessions = made }
            return sessions ?? made
        }
    }

    /// The same, if it was needed.
    var usedSessions: RunSessions? { lazySessions.withLock { $0 } }

    /// The task's parameters as a value.
    ///
    /// - Throws: `MismatchError`, which names the place, if they do not fit the type.
    public func parameters<Value: Decodable>(as type: Value.Type = Value.self) throws -> Value {
        try JSON.decode(type, from: rawParameters, what: "parameters")
    }

    /// The plugin's settings, its `config` of `tasks.json`, as a value.
    ///
    /// - Throws: `MismatchError`, which names the place, if they do not fit the type.
    public func configuration<Value: Decodable>(as type: Value.Type = Value.self) throws -> Value {
        try JSON.decode(type, from: rawConfiguration, what: "config")
    }

    /// Tells how far the run is.
    ///
    /// Cheap; the host drops what comes too fast.
    ///
    /// - Parameters:
    ///   - total: what `done` grows to; 0 is unknown.
    ///   - phase: what it is doing now, for people.
    public func progress(_ done: Int, of total: Int = 0, _ phase: String = "") {
        host.progress(
            run,
            done: UInt64(clamping: done),
            total: UInt64(clamping: total),
            phase: phase
        )
    }

    /// Writes a line into the log of this run.
    ///
    /// The text is taken as it is and cut at 8 KiB. The host drops and counts a flood.
    public func log(_ level: LogLevel, _ message: String) {
        host.log(level, message, run: run)
    }

    /// A logger for code that need not know of runs.
    public var logger: Logger { Logger(self) }
}
