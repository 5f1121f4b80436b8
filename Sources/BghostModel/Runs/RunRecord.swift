// SPDX-License-Identifier: Apache-2.0

package import BghostBase

/// The state of a run.
package enum RunState: String, Equatable, Codable, Sendable, CaseIterable {
    /// A worker is being prepared.
    case starting
    case running
    /// It was cancelled, and has its grace to stop.
    case cancelling
    /// Its worker was sent SIGKILL and has not ended yet.
    case killing
    case ended
}

/// The stored record of a run.
///
/// Times are Unix nanoseconds; durations are monotonic.
package struct RunRecord: Equatable, Codable, Sendable {
    package var id: RunID
    package var request: RunID
    package var task: String
    /// The plugin or function that runs the task.
    package var plugin: String
    package var attempt: Int
    /// The fencing token: greater than that of all earlier runs, also across restarts.
    package var epoch: UInt64
    package var state: RunState
    /// Set if and only if the state is `ended`.
    package var outcome: Outcome?
    /// Why it was cancelled; `nil` if it was not.
    package var stopReason: StopReason?
    /// One line for people: the message of the handler, or that of the host about a failure.
    package var message: String
    /// The handler's result as JSON; "" if there is none.
    package var result: String
    package var progress: RunProgress?
    package var limits: RunLimits
    package var pid: Int32?
    package var submittedAt: Int64
    /// When the handler started; `nil` if it did not.
    package var startedAt: Int64?
    package var endedAt: Int64?
    /// The time from the start of the handler to the end of the run.
    package var duration: Duration?
    package var usage: RunUsage
    /// The kind of its task; `nil` in records of older versions.
    package var kind: TaskKind?
    /// The code of the run; `nil` while it is unknown, and in records of older versions.
    package var origin: RunOrigin?
    /// Data that only few runs have.
    ///
    /// It is set after the scheduler has decided how the request continues, and does not affect that
    /// decision.
    package var details: RunDetails?
    /// Its place in a trace; `nil` if it has none.
    package var trace: RunTrace?
    /// The run in which its request was submitted, or whose success its request followed; `nil` if there was
    /// none, and in records of older versions.
    package var submitterRun: RunID?

    private enum CodingKeys: String, CodingKey {
        case id, request, task, plugin, attempt, epoch, state, outcome, stopReason, message, result
        case progress, limits, pid, submittedAt, startedAt, endedAt, duration, usage, kind, origin
        case trace, submitterRun
    }

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
        usage: RunUsage = RunUsage(),
        kind: TaskKind? = nil,
        origin: RunOrigin? = nil,
        details: RunDetails? = nil,
        trace: RunTrace? = nil,
        submitterRun: RunID? = nil
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
        self.kind = kind
        self.origin = origin
        self.details = details
        self.trace = trace
        self.submitterRun = submitterRun
    }
}

/// The last progress that a handler reported.
package struct RunProgress: Equatable, Codable, Sendable {
    package var done: UInt64
    /// 0 means unknown.
    package var total: UInt64
    package var phase: String

    package init(done: UInt64, total: UInt64, phase: String) {
        self.done = done
        self.total = total
        self.phase = phase
    }
}

/// The resource usage of a run, as measured by the kernel.
///
/// `nil` if the run was too short to be measured, or ran in the daemon's process.
package struct RunUsage: Equatable, Codable, Sendable {
    /// The processor time of the worker during the run.
    package var cpu: Duration?
    /// The peak resident memory of the worker until the end of the run.
    package var peakMemoryBytes: UInt64?
    /// The output on stdout, stderr and the log, including dropped output, bytes.
    package var outputBytes: Int

    package init(cpu: Duration? = nil, peakMemoryBytes: UInt64? = nil, outputBytes: Int = 0) {
        self.cpu = cpu
        self.peakMemoryBytes = peakMemoryBytes
        self.outputBytes = outputBytes
    }
}
