// SPDX-License-Identifier: Apache-2.0

/// The throttle policy of a task: which runs add throttle points, and how long the points delay it.
package struct ThrottlePolicy: Equatable, Sendable {
    package enum Mode: String, Equatable, Sendable, CaseIterable {
        case on
        /// Points are counted and shown, but delay nothing.
        case dryRun
        case off
    }

    package var mode: Mode
    /// The time after its cancellation in which a run can stop without a point; `nil` means half of its
    /// grace.
    package var stopWithin: Duration?
    /// The upper limit of the delay.
    package var delayMax: Duration

    package init(
        mode: Mode = .on,
        stopWithin: Duration? = nil,
        delayMax: Duration = .seconds(86_400)
    ) {
        self.mode = mode
        self.stopWithin = stopWithin
        self.delayMax = delayMax
    }

    /// The time that a run with these limits has to stop without a point, nanoseconds.
    package func stopLimit(_ limits: RunLimits) -> UInt64 {
        stopWithin?.clampedNanoseconds ?? limits.grace.clampedNanoseconds / 2
    }

    /// The effect of a run's end on the points of its task; `nil` if there is none.
    ///
    /// A run adds points only if it was cancelled because its own runtime or resources were used up. The
    /// number of points depends on the time that it took to stop, not on its outcome. A run that was
    /// cancelled by the operator, an unmet requirement or a drain adds none. A success that is not late
    /// removes one point.
    package func event(of finish: RunFinish) -> ThrottlePoints.Event? {
        guard mode != .off else { return nil }
        let inTime: ThrottlePoints.Event? = finish.outcome == .succeeded ? .succeeded : nil
        switch finish.record.stopReason {
        case .expired, .quota: break
        case .user, .drain, .condition, nil: return inTime
        }
        guard let stoppedAfter = finish.stoppedAfter else { return inTime }
        let isKilled =
            finish.outcome == .killed(.graceExceeded) || finish.outcome == .abandoned
        guard isKilled || stoppedAfter > stopLimit(finish.record.limits) && !finish.hasDetached
        else { return inTime }
        return .late(
            LateRun(
                run: finish.record.id,
                stoppedAfter: stoppedAfter,
                isKilled: isKilled,
                endedAt: finish.record.endedAt ?? 0
            )
        )
    }

    /// The earliest time of the next start with these points, Unix nanoseconds; `nil` is now.
    ///
    /// In a dry run, this is the time that would apply.
    package func nextStart(_ points: ThrottlePoints, now: Int64) -> Int64? {
        guard mode != .off else { return nil }
        return points.nextStart(
            now: now,
            delayMax: Int64(clamping: delayMax.clampedNanoseconds / 1_000_000_000)
        )
    }
}
