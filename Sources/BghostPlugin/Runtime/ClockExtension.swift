// SPDX-License-Identifier: Apache-2.0

internal import CBghost
internal import Synchronization

/// A clock of a host whose time is not the machine's, such as the host of handlers' tests.
///
/// Any thread may call any function, concurrently. No function may call back into the plugin.
package protocol RuntimeClock: AnyObject, Sendable {
    /// Nanoseconds since 1970, and nanoseconds that only grow, on which deadlines of runs are.
    var now: (unix: Int64, monotonic: Int64) { get }

    /// Starts a sleep of a run; `PluginRuntime.answer` with its number ends it.
    ///
    /// The runtime ends the sleeps of a completed run itself.
    ///
    /// - Parameter until: monotonic nanoseconds.
    /// - Returns: `false` if the run may not sleep, because the host considers it over.
    func sleep(_ number: UInt64, run: UInt64, until: Int64) -> Bool

    /// Ends a sleep before its time, by `PluginRuntime.answer` with `BG_E_CANCELLED`.
    func wake(_ number: UInt64)
}

/// The extension `bghost.clock/1`, which only a host with a clock of its own has.
extension PluginRuntime {
    static func fill(_ table: UnsafeMutablePointer<bg_clock>) {
        table.pointee.size = UInt32(MemoryLayout<bg_clock>.size)
        table.pointee.now = { host, unix, monotonic in
            guard let clock = PluginRuntime.of(host)?.options.clock else { return BG_E_ARG }
            let now = clock.now
            unix?.pointee = now.unix
            monotonic?.pointee = now.monotonic
            return BG_OK
        }
        table.pointee.sleep = { host, run, until, done, context, out in
            guard let runtime = PluginRuntime.of(host), let clock = runtime.options.clock else {
                return BG_E_ARG
            }
            return runtime.beginSleep(on: clock, run, until: until, done, context, out)
        }
        table.pointee.wake = { host, number in
            guard let runtime = PluginRuntime.of(host), let clock = runtime.options.clock else {
                return BG_E_ARG
            }
            return runtime.wake(number, on: clock)
        }
    }

    private func beginSleep(
        on clock: any RuntimeClock,
        _ run: bg_run,
        until: Int64,
        _ done: (@convention(c) (UnsafeMutableRawPointer?, bg_sleep, bg_status) -> Void)?,
        _ context: UnsafeMutableRawPointer?,
        _ out: UnsafeMutablePointer<bg_sleep>?
    ) -> bg_status {
        guard !isClosed.load(ordering: .relaxed) else { return BG_E_CLOSED }
        guard let slot = liveSlot(run) else { return BG_E_STALE }
        guard let done else { return BG_E_ARG }
        // Increment the count before checking the run again, as for a fetch.
        slot.openFetches.add(1, ordering: .acquiringAndReleasing)
        let wait = CallTable.SleepWait(run: run, done: done, context: context)
        guard liveSlot(run) === slot, let number = calls.add(.sleep(wait)) else {
            return giveUp(slot, run, liveSlot(run) == nil ? BG_E_STALE : BG_E_LIMIT)
        }
        out?.pointee = number
        guard clock.sleep(number, run: run, until: until) else {
            guard calls.remove(number) != nil else { return BG_OK }
            return giveUp(slot, run, BG_E_STALE)
        }
        return BG_OK
    }

    private func wake(_ number: bg_sleep, on clock: any RuntimeClock) -> bg_status {
        guard !isClosed.load(ordering: .relaxed) else { return BG_E_CLOSED }
        guard calls.hasSleep(number) else { return BG_E_STALE }
        clock.wake(number)
        return BG_OK
    }
}
