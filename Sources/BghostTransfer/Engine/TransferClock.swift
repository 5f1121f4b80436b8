// SPDX-License-Identifier: Apache-2.0

internal import BghostLinux

/// The clock for retries and timeouts of transfers.
package protocol TransferClock: Sendable {
    /// Monotonic nanoseconds, which also advance while the machine sleeps.
    var now: UInt64 { get }
    /// Nanoseconds since 1970.
    var unixNow: Int64 { get }

    /// Returns when `now` has reached a moment; throws if the task is cancelled before.
    func sleep(until moment: UInt64) async throws
}

/// The machine's clock.
package struct SystemTransferClock: TransferClock {
    private let start = ContinuousClock.now

    package init() {}

    package var now: UInt64 {
        let (seconds, attoseconds) = start.duration(to: .now).components
        return UInt64(max(0, seconds)) * 1_000_000_000 + UInt64(attoseconds) / 1_000_000_000
    }

    package var unixNow: Int64 { WallClock.now }

    package func sleep(until moment: UInt64) async throws {
        // A year is longer than any transfer lives, and far from an overflow of the clock.
        let delay = min(moment, 366 * 86_400_000_000_000)
        try await ContinuousClock().sleep(until: start.advanced(by: .nanoseconds(Int64(delay))))
    }
}
