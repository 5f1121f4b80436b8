// SPDX-License-Identifier: Apache-2.0

internal import CBghost

/// The clock on which a run's limits are measured.
///
/// It is the machine's monotonic clock, as `SuspendingClock` has it, but for a host that has its own
/// time: in tests, `BackgroundTasksTesting` moves it. Use it from any thread.
public struct TaskClock: Clock {
    /// A point in time that `TaskContext.deadline` can be compared to.
    public typealias Instant = SuspendingClock.Instant

    private let context: TaskContext

    init(_ context: TaskContext) { self.context = context }

    /// Now.
    public var now: Instant {
        guard let clock = HostClock(context.host) else { return SuspendingClock.now }
        return SuspendingClock().systemEpoch.advanced(by: .nanoseconds(clock.now.monotonic))
    }

    /// One nanosecond.
    public var minimumResolution: Duration { .nanoseconds(1) }

    /// Sleeps until a point in time; returns at once if that has passed.
    ///
    /// - Parameter tolerance: how much later will do; a host that has its own time is punctual.
    /// - Throws: `CancellationError` once the task is cancelled, or the run is over.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        guard let clock = HostClock(context.host) else {
            return try await SuspendingClock().sleep(until: deadline, tolerance: tolerance)
        }
        try Task.checkCancellation()
        let since = SuspendingClock().systemEpoch.duration(to: deadline)
        try await Sleep(clock, of: context).end(at: since.wholeNanoseconds)
    }
}

/// The host's extension `bghost.clock/1`.
struct HostClock: @unchecked Sendable {
    private let host: Host
    // Never changed or freed by the host, like its main table.
    private let table: UnsafePointer<bg_clock>

    /// Finds it; `nil` if the host's time is the machine's.
    init?(_ host: Host) {
        guard let table = host.extension(BG_EXT_CLOCK, as: bg_clock.self) else { return nil }
        self.host = host
        self.table = table
    }

    /// Nanoseconds, since 1970 and on the monotonic clock.
    var now: (unix: Int64, monotonic: Int64) {
        var unix: Int64 = 0
        var monotonic: Int64 = 0
        _ = table.pointee.now?(host.pointer, &unix, &monotonic)
        return (unix, monotonic)
    }

    /// Begins a sleep.
    ///
    /// - Parameter held: the reference that `Sleep.done` gives back.
    func sleep(_ run: bg_run, until: Int64, _ held: UnsafeMutableRawPointer) throws -> bg_sleep {
        var number: bg_sleep = 0
        let status =
            table.pointee.sleep?(
                host.pointer,
                run,
                until,
                { held, _, status in Sleep.done(held, status) },
                held,
                &number
            ) ?? BG_E_ABSENT
        // The run is over, or the plugin is closed: nobody is left to go on.
        guard status == BG_OK else { throw CancellationError() }
        return number
    }

    func wake(_ number: bg_sleep) { _ = table.pointee.wake?(host.pointer, number) }
}

/// One sleep under way.
private final class Sleep: Sendable {
    private let clock: HostClock
    private let context: TaskContext
    private let wait: HostWait<Void>

    init(_ clock: HostClock, of context: TaskContext) {
        self.clock = clock
        self.context = context
        wait = HostWait { clock.wake($0) }
    }

    func end(at until: Int64) async throws {
        try await wait.value {
            // The host's reference, given back by `done`, or here if it does not take the sleep.
            let held = Unmanaged.passRetained(self)
            do {
                return try clock.sleep(context.run, until: until, held.toOpaque())
            } catch {
                held.release()
                throw error
            }
        }
    }

    static func done(_ held: UnsafeMutableRawPointer?, _ status: bg_status) {
        guard let held else { return }
        let sleep = Unmanaged<Sleep>.fromOpaque(held).takeRetainedValue()
        sleep.wait.finish(status == BG_OK ? .success(()) : .failure(CancellationError()))
    }
}
