// SPDX-License-Identifier: Apache-2.0

/// Counts the crashes of a plugin's workers, and decides when the next worker may start.
///
/// Times are monotonic nanoseconds.
package struct CrashLoop: Equatable, Sendable {
    /// The thresholds of a crash loop.
    package struct Limits: Equatable, Sendable {
        /// The delay of the next worker start after the first crash, nanoseconds; it doubles with
        /// each further crash.
        var pause: UInt64 = 1_000_000_000
        /// The number of crashes within the window that leads to quarantine.
        package var crashesMax = 5
        /// The window, nanoseconds; older crashes do not count.
        package var window: UInt64 = 600_000_000_000

        /// The daemon's defaults: delays of 1 s, 2 s, 4 s and 8 s, and quarantine after 5 crashes
        /// in 10 min.
        package init() {}
    }

    /// The decision after a crash.
    package enum Verdict: Equatable, Sendable {
        /// No worker starts before this time.
        case pause(until: UInt64)
        /// The crash happened during the current pause and does not extend it.
        case counted
        /// No further worker starts.
        case quarantine
    }

    /// The times of the crashes within the window.
    private(set) var crashes: [UInt64] = []
    private var pausedUntil: UInt64 = 0

    package init() {}

    /// Whether a crash still counts, or a pause has not ended.
    package func isActive(now: UInt64, window: UInt64) -> Bool {
        now < pausedUntil || crashes.contains { now &- $0 < window }
    }

    /// Records a crash.
    ///
    /// Several workers that started before a pause may crash during it for the same reason. Only the crash of
    /// a worker that started after the pause indicates a loop, so the others are not counted.
    package mutating func crashed(now: UInt64, _ limits: Limits) -> Verdict {
        guard now >= pausedUntil else { return .counted }
        crashes.removeAll { now &- $0 >= limits.window }
        crashes.append(now)
        guard crashes.count < limits.crashesMax else { return .quarantine }
        let doublings = min(crashes.count - 1, 32)
        let (length, overflow) = limits.pause.multipliedReportingOverflow(
            by: 1 << UInt64(doublings)
        )
        let (end, isBeyond) = now.addingReportingOverflow(overflow ? .max : length)
        pausedUntil = isBeyond ? .max : end
        return .pause(until: pausedUntil)
    }
}
