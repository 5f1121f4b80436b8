// SPDX-License-Identifier: Apache-2.0

package import BghostBase

/// The workers of a plugin that the daemon killed because they worked without a run.
///
/// Each of them counts as a crash of the plugin, unless the worker was still loading the plugin. `status`
/// shows them for as long as a crash counts towards a quarantine, and until an operator enables the
/// plugin.
package struct IdleWorkerEnds: Equatable, Sendable {
    /// The number of kills in a row, each within the window of the previous one.
    package var count: Int
    /// The times of the first and the last kill, Unix nanoseconds.
    package var since: Int64
    package var last: Int64
    /// What the last worker did, as a clause with the worker as the subject.
    package var reason: String

    package init(count: Int, since: Int64, last: Int64, reason: String) {
        self.count = count
        self.since = since
        self.last = last
        self.reason = reason
    }
}

/// The history of workers that were killed without a run.
///
/// Times that are shown are Unix nanoseconds.
package struct IdleEndHistory: Equatable, Sendable {
    private var ends: IdleWorkerEnds?
    private var lastAt: MonotonicInstant = .zero

    package init() {}

    /// Records a kill.
    ///
    /// - Parameter window: how long it is shown, nanoseconds.
    package mutating func ended(
        for reason: String,
        now: MonotonicInstant,
        wall: Int64,
        window: UInt64
    ) {
        let known = news(now: now, window: window)
        ends = IdleWorkerEnds(
            count: (known?.count ?? 0) + 1,
            since: known?.since ?? wall,
            last: wall,
            reason: reason
        )
        lastAt = now
    }

    /// The kills to show; `nil` if the last one is older than the window.
    package func news(now: MonotonicInstant, window: UInt64) -> IdleWorkerEnds? {
        ends.flatMap { now.since(lastAt) < window ? $0 : nil }
    }
}
