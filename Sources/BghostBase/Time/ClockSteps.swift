// SPDX-License-Identifier: Apache-2.0

/// Finds steps of the wall clock, by comparing it with the time since boot.
///
/// Who keeps dates that count from an event moves them by each step: they stay at the same distance on the
/// monotonic clock.
package struct ClockSteps: Sendable {
    /// A smaller step than this, nanoseconds, is taken for slewing of the clock; several of them add up.
    package static let stepMin: Int64 = 1_000_000_000

    private var offset: Int64?

    package init() {}

    /// How far the wall clock was set since the last call, nanoseconds; `nil` if it was not.
    package mutating func step(at now: Moment) -> Int64? {
        guard let before = offset else {
            offset = now.wallOffset
            return nil
        }
        let step = now.wallOffset.subtractingClamped(before)
        guard step.magnitude >= Self.stepMin.magnitude else { return nil }
        offset = now.wallOffset
        return step
    }
}
