// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
package import BghostModel

extension ThrottlePolicy {
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
