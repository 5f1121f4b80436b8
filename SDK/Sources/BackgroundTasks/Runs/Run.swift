// SPDX-License-Identifier: Apache-2.0

internal import CBghost
internal import Synchronization

/// One run in progress.
///
/// Its instance holds it from `start` until just before it is complete.
final class Run: Sendable {
    private struct State {
        /// The task while it runs the handler.
        var task: LiveTask?
        var isInStart = true
        /// The return value of `start`, if the run ended before `start` returned and its status
        /// suffices.
        var answer: bg_status?
    }

    /// A task that has not ended; the holder of the lock of `state` may cancel it.
    private struct LiveTask: @unchecked Sendable {
        // @unchecked: only `cancel` is used, which is safe as long as the task lives. The task
        // removes itself from `state` before it ends.
        let task: UnsafeCurrentTask
    }

    private let context: TaskContext
    private let instance: PluginInstance
    private let state = Mutex(State())

    private init(_ context: TaskContext, _ instance: PluginInstance) {
        self.context = context
        self.instance = instance
    }

    /// Starts a run on the host's thread, and returns when the handler first suspends or ends.
    ///
    /// This saves each run a thread switch. A handler that never suspends keeps this thread, which
    /// `BG_TASK_MAY_BLOCK` permits; `cancel` can still arrive. On Swift's pool, such a handler
    /// would take one of few threads from all other tasks.
    static func start(
        _ handler: Handler,
        of instance: PluginInstance,
        _ info: bg_run_info
    ) -> bg_status {
        let run = Run(TaskContext(info, instance, handler.objects), instance)
        instance.add(run, info.run)
        // A cancellation before the line above found no run, and the host does not repeat it; so
        // check.
        let why = instance.host.cancelled(info.run)
        guard why >= 0 else {
            instance.remove(info.run)
            return BG_E_FAILED
        }
        if why > 0 { run.context.willStop(UInt32(why)) }
        Task.immediateDetached(executorPreference: run.context.executor) {
            await run.execute(handler)
        }
        return run.state.withLock { state in
            state.isInStart = false
            return state.answer ?? BG_PENDING
        }
    }

    /// Cancels the run's task.
    ///
    /// Its cancellation handlers run here, on the host's thread, which is not the task's: what they log
    /// belongs to the run all the same.
    func cancel(_ why: UInt32) {
        context.willStop(why)
        TaskContext.$current.withValue(context) {
            // Hold the lock, so that the task does not end meanwhile.
            state.withLock { $0.task?.task.cancel() }
        }
    }

    private func execute(_ handler: Handler) async {
        let end = await TaskContext.$current.withValue(context) {
            await withUnsafeCurrentTask { task in
                enter(task)
                defer { state.withLock { $0.task = nil } }
                return await RunEnd(of: handler, context)
            }
        }
        // An end that the run has taken meanwhile is told while it is under way.
        await context.usedSessions?.drain()
        instance.remove(context.run)
        let isTold = state.withLock { state in
            guard state.isInStart, end.isPlain else { return false }
            state.answer = end.status
            return true
        }
        // This call ends the run: do not use the host's memory for the run afterwards.
        if !isTold { end.report(to: context) }
    }

    private func enter(_ task: UnsafeCurrentTask?) {
        guard let task else { return }
        state.withLock { $0.task = LiveTask(task: task) }
        // An earlier cancellation found no task to cancel.
        if context.stopReason != nil { task.cancel() }
    }
}
