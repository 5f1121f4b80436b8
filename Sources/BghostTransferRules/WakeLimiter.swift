// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

/// Limits how often a session wakes its plugin: a handler that creates new transfers in each wake would run
/// forever.
///
/// Each time that the plugin creates transfers within the delay, the delay doubles. After a delay without new
/// transfers, it starts again from `base`. Times are nanoseconds of a clock that cannot be set.
package struct WakeLimiter: Equatable, Sendable {
    /// The default first delay.
    package static let base: Int64 = 60_000_000_000
    static let cap: Int64 = 3_600_000_000_000

    private let base: Int64
    /// The delay of the next wake; 0 if there is none.
    package private(set) var delay: Int64 = 0
    /// The start of the delay.
    private var since: Int64 = 0
    /// Whether a wake was delayed by the current delay.
    private var isUsed = false

    /// - Parameter base: the first delay.
    package init(base: Int64 = base) { self.base = base }

    /// Records that a run of a wake has created transfers; several transfers of a run count once.
    package mutating func created(now: Int64) {
        let isAgain = delay > 0 && (isUsed || isUnderWay(now))
        delay = isAgain ? min(Self.cap, delay * 2) : base
        since = now
        isUsed = false
    }

    /// The earliest start of the session's handler; `nil` means now.
    package mutating func earliest(now: Int64) -> Int64? {
        guard isUnderWay(now) else {
            self = WakeLimiter(base: base)
            return nil
        }
        isUsed = true
        return since.addingClamped(delay)
    }

    private func isUnderWay(_ now: Int64) -> Bool {
        delay > 0 && now >= since && now < since.addingClamped(delay)
    }
}
