// SPDX-License-Identifier: Apache-2.0

/// How often a plugin's workers have crashed, and what follows from that.
///
/// Times are monotonic nanoseconds.
package struct CrashLoop: Equatable, Sendable {
    /// When enough is enough.
    package struct Limits: Equatable, Sendable {
        /// After a first crash no worker is begun for so long, after each further one twice as long.
        package var pause: UInt64 = 1_000_000_000
        /// So many crashes within the window are one too many.
        package var crashesMax = 5
        /// Nanoseconds; what is older is forgotten.
        package var window: UInt64 = 600_000_000_000

        /// The limits of a daemon: 1 s, 2 s, 4 s, 8 s, and no further try after 5 crashes in 10 min.
        package init() {}
    }

    /// What follows from a crash.
    package enum Verdict: Equatable, Sendable {
        /// No worker is begun before this time.
        case pause(until: UInt64)
        /// It belongs to a pause that stands already.
        case counted
        /// None is begun any more.
        case quarantine
    }

    /// When it crashed, within the window.
    package private(set) var crashes: [UInt64] = []
    private var pausedUntil: UInt64 = 0

    package init() {}

    /// Takes note of a crash.
    ///
    /// Workers that were begun before a pause may crash in it, all for the same reason; it is what is
    /// begun after it that makes a loop.
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
