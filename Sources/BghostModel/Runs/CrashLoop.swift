// SPDX-License-Identifier: Apache-2.0

package import BghostBase

/// Counts the crashes of a plugin's workers, and decides when the next worker may start.
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
        case pause(until: MonotonicInstant)
        /// The crash happened during the current pause and does not extend it.
        case counted
        /// No further worker starts.
        case quarantine
    }

    /// The times of the crashes within the window.
    private(set) var crashes: [MonotonicInstant] = []
    private var pausedUntil: MonotonicInstant = .zero

    package init() {}

    /// Whether a crash still counts, or a pause has not ended.
    package func isActive(now: MonotonicInstant, window: UInt64) -> Bool {
        now < pausedUntil || crashes.contains { now.since($0) < window }
    }

    /// Records a crash.
    ///
    /// Several workers that started before a pause may crash during it for the same reason. Only the crash of
    /// a worker that started after the pause indicates a loop, so the others are not counted.
    package mutating func crashed(now: MonotonicInstant, _ limits: Limits) -> Verdict {
        guard now >= pausedUntil else { return .counted }
        crashes.removeAll { now.since($0) >= limits.window }
        crashes.append(now)
        guard crashes.count < limits.crashesMax else { return .quarantine }
        let doublings = min(crashes.count - 1, 32)
        let (length, overflow) = limits.pause.multipliedReportingOverflow(
            by: 1 << UInt64(doublings)
        )
        pausedUntil = now + (overflow ? .max : length)
        return .pause(until: pausedUntil)
    }
}
