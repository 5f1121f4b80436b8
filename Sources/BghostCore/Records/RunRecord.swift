// SPDX-License-Identifier: Apache-2.0

/// Where a run stands.
package enum RunState: String, Equatable, Codable, Sendable, CaseIterable {
    /// A worker is being prepared for it.
    case starting
    case running
    /// Its runtime is over, or something asked it to stop; it has its grace to end.
    case cancelling
    /// Its worker has been sent SIGKILL and is not yet gone.
    case killing
    case ended
}

/// All that is kept of one run.
///
/// Times are Unix nanoseconds; durations are monotonic.
package struct RunRecord: Equatable, Codable, Sendable {
    package var id: RunID
    package var request: RunID
    package var task: String
    /// The plugin or the function that carries it out.
    package var plugin: String
    package var attempt: Int
    /// The fencing token: greater than that of every run that began before, also before a restart.
    package var epoch: UInt64
    package var state: RunState
    /// Present exactly when the state is `ended`.
    package var outcome: Outcome?
    /// Why it was asked to stop, if it was.
    package var stopReason: StopReason?
    /// One line for people: the handler's own, or the host's about a failure.
    package var message: String
    /// The handler's result, JSON, or "".
    package var result: String
    package var progress: RunProgress?
    package var limits: RunLimits
    package var pid: Int32?
    package var submittedAt: Int64
    /// When the handler was started; `nil` if it never was.
    package var startedAt: Int64?
    package var endedAt: Int64?
    /// From the handler's start to the run's end.
    package var duration: Duration?
    package var usage: RunUsage

    package init(
        id: RunID,
        request: RunID,
        task: String,
        plugin: String,
        attempt: Int = 1,
        epoch: UInt64 = 0,
        state: RunState = .starting,
        outcome: Outcome? = nil,
        stopReason: StopReason? = nil,
        message: String = "",
        result: String = "",
        progress: RunProgress? = nil,
        limits: RunLimits,
        pid: Int32? = nil,
        submittedAt: Int64,
        startedAt: Int64? = nil,
        endedAt: Int64? = nil,
        duration: Duration? = nil,
        usage: RunUsage = RunUsage()
    ) {
        self.id = id
        self.request = request
        self.task = task
        self.plugin = plugin
        self.attempt = attempt
        self.epoch = epoch
        self.state = state
        self.outcome = outcome
        self.stopReason = stopReason
        self.message = message
        self.result = result
        self.progress = progress
        self.limits = limits
        self.pid = pid
        self.submittedAt = submittedAt
        self.startedAt = startedAt
        self.endedAt = endedAt
        self.duration = duration
        self.usage = usage
    }
}

/// What a handler last said of how far it is.
package struct RunProgress: Equatable, Codable, Sendable {
    package var done: UInt64
    /// 0 is "unknown".
    package var total: UInt64
    package var phase: String

    package init(done: UInt64, total: UInt64, phase: String) {
        self.done = done
        self.total = total
        self.phase = phase
    }
}

/// What a run used, as the kernel tells it.
///
/// `nil` where the run was too short to be measured or ran inside the daemon.
package struct RunUsage: Equatable, Codable, Sendable {
    /// Processor time of the worker during the run.
    package var cpu: Duration?
    /// Peak resident memory of the worker up to the run's end.
    package var peakMemoryBytes: UInt64?
    /// What it wrote to stdout, stderr and the log, bytes, dropped ones included.
    package var outputBytes: Int

    package init(cpu: Duration? = nil, peakMemoryBytes: UInt64? = nil, outputBytes: Int = 0) {
        self.cpu = cpu
        self.peakMemoryBytes = peakMemoryBytes
        self.outputBytes = outputBytes
    }
}
