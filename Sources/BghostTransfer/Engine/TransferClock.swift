// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The time by which transfers are tried again and given up.
package protocol TransferClock: Sendable {
    /// Nanoseconds that only go forward, also while the machine sleeps.
    var now: UInt64 { get }
    /// Nanoseconds since 1970.
    var unixNow: Int64 { get }

    /// Returns when `now` has reached a moment; throws if the task is cancelled before.
    func sleep(until moment: UInt64) async throws
}

/// The machine's own.
package struct SystemTransferClock: TransferClock {
    private let start = ContinuousClock.now

    package init() {}

    package var now: UInt64 {
        let (seconds, attoseconds) = start.duration(to: .now).components
        return UInt64(max(0, seconds)) * 1_000_000_000 + UInt64(attoseconds) / 1_000_000_000
    }

    package var unixNow: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    package func sleep(until moment: UInt64) async throws {
        // Longer than any transfer lives, and far from where the clock overflows.
        let delay = min(moment, 366 * 86_400_000_000_000)
        try await ContinuousClock().sleep(until: start.advanced(by: .nanoseconds(Int64(delay))))
    }
}
