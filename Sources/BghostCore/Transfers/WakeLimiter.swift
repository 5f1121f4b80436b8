// SPDX-License-Identifier: Apache-2.0

/// Keeps a session from waking its plugin again and again: whoever creates new transfers whenever it
/// is told of the last ones would run for ever.
///
/// Each time that it does so within the delay, the delay doubles; when one passes without that, it
/// begins anew. Times are Unix nanoseconds.
package struct WakeLimiter: Equatable, Sendable {
    /// The first delay.
    package static let base: Int64 = 60_000_000_000
    package static let cap: Int64 = 3_600_000_000_000

    /// How long the next wake is held back; 0 if it is not.
    package private(set) var delay: Int64 = 0
    /// Since when.
    private var since: Int64 = 0
    /// Whether a wake has been held back by this delay.
    private var isUsed = false

    package init() {}

    /// A run that was told of ends has created transfers; however many, it counts once.
    package mutating func created(now: Int64) {
        let isAgain = delay > 0 && (isUsed || isUnderWay(now))
        delay = isAgain ? min(Self.cap, delay * 2) : Self.base
        since = now
        isUsed = false
    }

    /// When the session's handler may be run; `nil` is "now".
    package mutating func earliest(now: Int64) -> Int64? {
        guard isUnderWay(now) else {
            self = WakeLimiter()
            return nil
        }
        isUsed = true
        return since.addingClamped(delay)
    }

    /// A clock that was set back holds nothing for longer than the delay.
    private func isUnderWay(_ now: Int64) -> Bool {
        delay > 0 && now >= since && now < since.addingClamped(delay)
    }
}
