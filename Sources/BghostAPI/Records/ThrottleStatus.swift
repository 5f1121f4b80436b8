// SPDX-License-Identifier: Apache-2.0

package import BghostBase
package import BghostModel
internal import BghostPolicy

/// The throttle points of an identifier, and their delay.
package struct ThrottleStatus: Codable, Equatable, Sendable {
    /// The identifier of the task.
    package var task: String
    /// The current number of points.
    package var points: Int
    /// Whether the delay is enforced, only reported, or off.
    package var mode: ThrottlePolicy.Mode
    /// The minimum time between the last end and the next start with these points.
    @FormOrDefault<Seconds> package var delay: Duration
    /// The earliest start of its next run, in a dry run without effect, Unix nanoseconds; `nil` means now.
    @FormOrNull<RFC3339> package var nextStart: Int64?
    /// The newest runs that added points.
    @FormElements<LateRunForm> package var runs: [LateRun]

    private enum CodingKeys: String, CodingKey {
        case task, points, mode
        case delay = "delaySeconds"
        case nextStart, runs
    }

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

/// A run that added throttle points.
package enum LateRunForm: FieldForm {
    package static func json(_ value: LateRun) -> API.LateRun {
        API.LateRun(
            run: value.run,
            points: value.points,
            killed: value.isKilled,
            stoppedAfterSeconds: Duration(nanoseconds: value.stoppedAfter),
            endedAt: value.endedAt
        )
    }

    package static func value(_ json: API.LateRun) -> LateRun? {
        LateRun(
            run: json.run,
            stoppedAfter: json.stoppedAfterSeconds.clampedNanoseconds,
            isKilled: json.killed,
            endedAt: json.endedAt
        )
    }
}

extension API {
    /// A run that added throttle points.
    package struct LateRun: Codable, Equatable, Sendable {
        /// The id of the run.
        @Formatted<ULID> var run: RunID
        /// The points that it added.
        @OrDefault var points: Int
        /// Whether it was killed when its grace ended.
        var killed: Bool
        /// The time from its cancellation until its end, seconds.
        @Formatted<Seconds> var stoppedAfterSeconds: Duration
        /// When it ended.
        @Formatted<RFC3339> var endedAt: Int64
    }
}

/// The result of `disable` or `enable`.
package struct PluginSwitch: Codable, Equatable, Sendable {
    /// The name of the plugin.
    package var plugin: String
    /// Whether it is enabled.
    package var isEnabled: Bool
    /// Why it is disabled; null if it is enabled.
    @OrNull private var reason: String?
    /// The runs that were cancelled.
    @FormElements<ULID> package var stopping: [RunID]
    /// The runs that continue.
    @FormElements<ULID> package var running: [RunID]

    private enum CodingKeys: String, CodingKey {
        case plugin
        case isEnabled = "enabled"
        case reason, stopping, running
    }

    package init(plugin: String, off: String?, stopping: [RunID] = [], running: [RunID] = []) {
        self.plugin = plugin
        isEnabled = off == nil
        reason = off
        self.stopping = stopping
        self.running = running
    }

    /// Why it is disabled, "" without a reason; `nil` if it is enabled.
    var off: String? { isEnabled ? nil : reason ?? "" }
}
