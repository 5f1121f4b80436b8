// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostLinux
internal import BghostModel
internal import BghostServices
internal import BghostWire

/// Executes the runs of a plugin: in a worker process, or in the daemon itself.
///
/// It has one slot for each concurrent run. Use it on the host's executor only.
protocol RunExecutor: AnyObject {
    /// What the daemon keeps of every executor.
    var slots: ExecutorSlots { get }

    /// The worker's process ID; `nil` for an executor in the daemon.
    var pid: Int32? { get }

    /// Whether the executor is a separate process, which can be killed and replaced.
    var isProcess: Bool { get }

    // MARK: Messages

    /// Sends a run to the plugin.
    ///
    /// - Returns: `false` if the run cannot be sent.
    func start(_ start: Start) -> Bool

    /// Asks the plugin to stop a run.
    func cancel(_ cancel: Cancel)

    /// Sends a reply to a call of the plugin.
    ///
    /// - Parameter share: counts the memory of the reply's body.
    func reply(_ reply: Reply, holding share: HeldShare?)

    /// Whether the start of a run was not sent yet, so that no valid frame can refer to it.
    func isStartUnsent(_ run: UInt64) -> Bool

    /// Whether a log line about one of its calls is within its rate limit; counts the line.
    func mayReport(now: MonotonicInstant) -> Bool

    // MARK: Runs

    /// Called when the start of a run was handed to ``start(_:)``.
    func wasSent(_ run: RunRecord, _ pool: WorkerPool)

    /// Begins to measure the processor time of a run.
    func beginMeasuring(_ run: ActiveRun, now: MonotonicInstant)

    /// Writes what a run has used until now into its record, if the run lasted long enough.
    func measure(_ run: ActiveRun, now: MonotonicInstant)

    /// Reads the memory that is in use, because it cannot be read after a kill.
    func sampleMemory()

    /// Called when the handler has released a completed run.
    func wasReleased()

    /// Whether processes that a run started are still running.
    ///
    /// - Parameter lasted: the duration of the run.
    func hasLeftProcesses(after lasted: Duration?) -> Bool

    /// The newest run; output outside of runs is attributed to it.
    var newestRun: (id: RunID?, task: String?) { get }

    // MARK: Life

    /// Called when its last run has left it.
    func becameIdle(_ pool: WorkerPool)

    /// Asks it to finish; it has no run.
    func finish(_ pool: WorkerPool)

    /// Prepares the kill of a run.
    ///
    /// - Returns: whether the executor first reports what the run does; the kill then follows by itself.
    func willKill(for reason: KillReason, _ pool: WorkerPool) -> Bool

    /// Ends it and everything that runs in it, without asking it to finish.
    func kill(_ pool: WorkerPool)

    /// Called when its output outside of runs is far over the limit.
    func exceededOutput(_ pool: WorkerPool)

    /// Called after each reply; its socket may have no more room.
    func didReply(_ pool: WorkerPool)

    /// Pins the executor's threads to one processor.
    ///
    /// - Returns: `false` if they cannot be pinned.
    func pin(to core: ProcessorSet, from everywhere: ProcessorSet) -> Bool

    /// Unpins the executor's threads.
    func unpin(from core: ProcessorSet, to everywhere: ProcessorSet)
}
