// SPDX-License-Identifier: Apache-2.0

internal import CBghost

/// The clock that measures a run's limits.
///
/// It is the machine's monotonic clock, the same as `SuspendingClock`, unless the host has its own
/// time: in tests, `BackgroundTasksTesting` controls it. Use it from any thread.
public struct TaskClock: Clock {
    /// A point in time that can be compared with `TaskContext.deadline`.
    public typealias Instant = SuspendingClock.Instant

    private let context: TaskContext

    init(_ context: TaskContext) { self.context = context }

    /// The current time.
    public var now: Instant {
        guard let clock = HostClock(context.host) else { return SuspendingClock.now }
        return SuspendingClock().systemEpoch.advanced(by: .nanoseconds(clock.now.monotonic))
    }

    /// One nanosecond.
    public var minimumResolution: Duration { .nanoseconds(1) }

    /// Sleeps until a point in time; returns at once if that has passed.
    ///
    /// - Parameters:
    ///   - deadline: when to wake.
    ///   - tolerance: how much later the wake may be; a host with its own time is exact.
    /// - Throws: `CancellationError` once the task is cancelled or the run is over.
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
    // The host never changes or frees this table, as with its main table.
    private let table: ExtensionTable<bg_clock>

    /// Finds the extension; `nil` if the host uses the machine's time.
    init?(_ host: Host) {
        guard let table = host.extension(BG_EXT_CLOCK, as: bg_clock.self) else { return nil }
        self.host = host
        self.table = table
    }

    /// Nanoseconds since 1970 and on the monotonic clock.
    var now: (unix: Int64, monotonic: Int64) {
        var unix: Int64 = 0
        var monotonic: Int64 = 0
        // It fails only without places to write to.
        _ = table.now?(host.pointer, &unix, &monotonic)
        return (unix, monotonic)
    }

    /// Starts a sleep.
    ///
    /// - Parameter held: a reference that `Sleep.done` releases.
    func sleep(_ run: bg_run, until: Int64, _ held: UnsafeMutableRawPointer) throws -> bg_sleep {
        var number: bg_sleep = 0
        let status =
            table.sleep?(
                host.pointer,
                run,
                until,
                { held, _, status in Sleep.done(held, status) },
                held,
                &number
            ) ?? BG_E_ABSENT
        // The run is over, or the plugin is closed.
        guard status == BG_OK else { throw CancellationError() }
        return number
    }

    // A sleep that has ended meanwhile is stale, which is as good.
    func wake(_ number: bg_sleep) { _ = table.wake?(host.pointer, number) }
}

/// A sleep in progress.
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
            // The host holds this reference. `done` releases it, or this function if the host does
            // not accept the sleep.
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
