// SPDX-License-Identifier: Apache-2.0

package import BghostBase
package import BghostModel
package import BghostPolicy

/// The throttle points of an identifier, and their delay.
package struct ThrottleStatus: Equatable, Sendable {
    package var task: String
    /// The current number of points.
    package var points: Int
    /// Whether the delay is enforced, only reported, or off.
    package var mode: ThrottlePolicy.Mode
    /// The minimum time between the last end and the next start with these points.
    package var delay: Duration
    /// The earliest start of its next run, in a dry run without effect, Unix nanoseconds; `nil` means now.
    package var nextStart: Int64?
    /// The newest runs that added points.
    package var runs: [LateRun]

    package init(
        task: String,
        points: Int = 0,
        mode: ThrottlePolicy.Mode = .on,
        delay: Duration = .zero,
        nextStart: Int64? = nil,
        runs: [LateRun] = []
    ) {
        self.task = task
        self.points = points
        self.mode = mode
        self.delay = delay
        self.nextStart = nextStart
        self.runs = runs
    }

    /// Creates the status of an identifier with these points.
    package init(
        task: String,
        _ throttle: ThrottlePoints,
        _ policy: ThrottlePolicy,
        now: Int64
    ) {
        let delay = Duration.seconds(ThrottlePoints.delays[throttle.level(now: now)])
        self.init(
            task: task,
            points: throttle.points(now: now),
            mode: policy.mode,
            delay: policy.mode == .off ? .zero : min(delay, policy.delayMax),
            nextStart: policy.nextStart(throttle, now: now),
            runs: throttle.points(now: now) > 0 ? throttle.runs : []
        )
    }
}

/// The result of `disable` or `enable`.
package struct PluginSwitch: Equatable, Sendable {
    package var plugin: String
    /// Why it is disabled, "" without a reason; `nil` if it is enabled.
    var off: String?
    /// The runs that were cancelled.
    package var stopping: [RunID]
    /// The runs that continue.
    package var running: [RunID]

    package init(plugin: String, off: String?, stopping: [RunID] = [], running: [RunID] = []) {
        self.plugin = plugin
        self.off = off
        self.stopping = stopping
        self.running = running
    }
}
