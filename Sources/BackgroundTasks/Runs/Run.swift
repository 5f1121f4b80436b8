// SPDX-License-Identifier: Apache-2.0

internal import CBghost
internal import Synchronization

/// One run under way.
///
/// Its instance has it from `start` until just before it is complete.
final class Run: Sendable {
    private struct State {
        /// The task while it carries the handler out.
        var task: LiveTask?
        var isInStart = true
        /// What `start` is to answer, if the run ended before it returned and needs no more words.
        var answer: bg_status?
    }

    /// A task that has not ended, which whoever holds the lock of `state` may cancel.
    private struct LiveTask: @unchecked Sendable {
        // @unchecked: of what is not safe from other threads nothing is used, and `cancel` is safe
        // as long as the task lives; it takes itself out of `state` before it ends.
        let task: UnsafeCurrentTask
    }

    private let context: TaskContext
    private let instance: PluginInstance
    private let state = Mutex(State())

    private init(_ context: TaskContext, _ instance: PluginInstance) {
        self.context = context
        self.instance = instance
    }

    /// Begins a run on the thread of the host, and returns when the handler first suspends or ends.
    ///
    /// This saves every run a change of threads. A handler that never suspends has the thread to
    /// itself, where `BG_TASK_MAY_BLOCK` allows that and lets `cancel` come meanwhile; on Swift's
    /// pool it would keep one of a few threads from all other tasks.
    static func start(
        _ handler: Handler,
        of instance: PluginInstance,
        _ info: bg_run_info
    ) -> bg_status {
        let run = Run(TaskContext(info, instance, handler.center), instance)
        instance.add(run, info.run)
        // A cancel that came before the line above found nobody, and there will be no second one.
        let why = instance.host.cancelled(info.run)
        guard why >= 0 else {
            instance.remove(info.run)
            return BG_E_FAILED
        }
        if why > 0 { run.context.willStop(UInt32(why)) }
        Task.immediateDetached(executorPreference: run.context.executor) {
            await run.carryOut(handler)
        }
        return run.state.withLock { state in
            state.isInStart = false
            return state.answer ?? BG_PENDING
        }
    }

    /// Cancels the run's task.
    ///
    /// Its cancellation handlers run here, on the thread of the host.
    func cancel(_ why: UInt32) {
        context.willStop(why)
        // Under the lock, so that the task does not end meanwhile.
        state.withLock { $0.task?.task.cancel() }
    }

    private func carryOut(_ handler: Handler) async {
        let end = await TaskContext.$current.withValue(context) {
            await withUnsafeCurrentTask { task in
                enter(task)
                defer { state.withLock { $0.task = nil } }
                return await RunEnd(of: handler, context)
            }
        }
        instance.remove(context.run)
        let isTold = state.withLock { state in
            guard state.isInStart, end.isPlain else { return false }
            state.answer = end.status
            return true
        }
        // The run is over with this call: nothing of the host's may be used after it.
        if !isTold { end.report(to: context) }
    }

    private func enter(_ task: UnsafeCurrentTask?) {
        guard let task else { return }
        state.withLock { $0.task = LiveTask(task: task) }
        // Whoever asked before had no task to cancel.
        if context.stopReason != nil { task.cancel() }
    }
}
