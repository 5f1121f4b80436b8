// SPDX-License-Identifier: Apache-2.0

internal import CBghost
internal import Synchronization

/// One run under way: the state that the host holds for it from `start` to `release`.
final class Run: Sendable {
    private let context: TaskContext
    private let task = Mutex<Task<Void, Never>?>(nil)

    private init(_ context: TaskContext) { self.context = context }

    /// Begins a run and returns at once: `start` never waits for a handler, so no handler needs
    /// `BG_TASK_MAY_BLOCK`, and `cancel` always finds the task.
    static func start(
        _ handler: Handler,
        of instance: PluginInstance,
        _ info: UnsafePointer<bg_run_info>
    ) -> bg_status {
        guard Int(info.pointee.size) >= MemoryLayout<bg_run_info>.size else { return BG_E_ARG }
        let run = Run(TaskContext(info.pointee, instance))
        let state = Unmanaged.passRetained(run)
        // Before the handler begins, as nobody could stop it or free it otherwise.
        let status = run.context.host.setState(state.toOpaque(), of: run.context.run)
        guard status == BG_OK else {
            state.release()
            return BG_E_FAILED
        }
        run.begin(handler)
        return BG_PENDING
    }

    /// Cancels the run's task.
    ///
    /// Its cancellation handlers run here, on the thread of the host.
    static func cancel(_ state: UnsafeMutableRawPointer?, why: UInt32) {
        guard let state else { return }
        let run = Unmanaged<Run>.fromOpaque(state).takeUnretainedValue()
        run.context.willStop(why)
        // Outside the lock: cancellation handlers are the author's code.
        run.task.withLock { $0 }?.cancel()
    }

    static func release(_ state: UnsafeMutableRawPointer?) {
        guard let state else { return }
        Unmanaged<Run>.fromOpaque(state).release()
    }

    private func begin(_ handler: Handler) {
        // Does not hold the run, which holds the task.
        let work: @Sendable () async -> Void = { [context] in
            let end = await TaskContext.$current.withValue(context) {
                await RunEnd(of: handler, context)
            }
            // The run is over with this call: nothing of the host's may be used after it.
            end.report(to: context)
        }
        let begun =
            handler.options.contains(.startsImmediately)
            ? Task.immediateDetached(operation: work) : Task.detached(operation: work)
        task.withLock { $0 = begun }
    }
}
