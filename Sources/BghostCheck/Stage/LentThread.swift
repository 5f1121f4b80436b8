// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostLinux
internal import BghostPlugin
internal import CBghostSystem
internal import Glibc
internal import Synchronization

/// The thread of a check, which has loaded the plugin: it is lent to the plugin as a worker lends its main
/// thread, for as long as the check only waits.
enum LentThread {
    private struct State: @unchecked Sendable {
        // @unchecked: a thread's name and what only that thread uses.
        var thread: pthread_t
        var serving: MainServing
    }

    private static let state = Mutex<State?>(nil)
    /// Readable once an event was signalled; opened with the first plugin that wants the thread, and never
    /// closed.
    private static let wake = bgs_eventfd()
    private static let isLent = Atomic<Bool>(false)

    /// Lends the calling thread to the plugin that it has just opened, if that wants it.
    static func lend(to runtime: PluginRuntime) {
        guard runtime.wantsMain, let serving = runtime.mainServing(wake: wake) else {
            return takeBack()
        }
        state.withLock { $0 = State(thread: pthread_self(), serving: serving) }
        isLent.store(true, ordering: .releasing)
    }

    /// Serves no plugin any more: it has been closed, which ends a worker.
    static func takeBack() {
        isLent.store(false, ordering: .releasing)
        state.withLock { $0 = nil }
    }

    /// Ends a wait of the thread, to look again at what it waits for.
    static func wakeUp() {
        guard isLent.load(ordering: .acquiring) else { return }
        // This fails only if so many wake-ups are pending that the thread is awake anyway.
        _ = bgs_eventfd_signal(wake)
    }

    /// Serves the plugin once, until it has been served, until `wakeUp` is called, or until a moment.
    ///
    /// - Returns: `false` at once if the calling thread is not lent.
    static func serve(until deadline: MonotonicInstant) -> Bool {
        guard isLent.load(ordering: .acquiring) else { return false }
        let lent = state.withLock { state in
            state.flatMap { pthread_equal($0.thread, pthread_self()) != 0 ? $0.serving : nil }
        }
        guard var serving = lent else { return false }
        let now = Monotonic.now
        let rest = deadline > now ? deadline.since(now) / 1_000_000 + 1 : 0
        serving.wait(milliseconds: Int32(clamping: rest))
        // It is empty if the wait ended by itself.
        _ = bgs_eventfd_drain(wake)
        // It remembers which descriptors the plugin has closed.
        state.withLock { $0?.serving = serving }
        return true
    }
}
