// SPDX-License-Identifier: Apache-2.0

/// The delays between the attempts to send one batch.
package struct ExportBackoff: Equatable, Sendable {
    /// Nanoseconds.
    package var first: UInt64 = 1_000_000_000
    /// The longest delay without a word of the receiver, nanoseconds.
    package var longest: UInt64 = 30_000_000_000
    /// After this time from the first attempt, the batch is dropped, nanoseconds: newer spans are worth more.
    package var limit: UInt64 = 120_000_000_000

    package init() {}

    /// The delay before the next attempt, nanoseconds; `nil` if the batch is to be dropped.
    ///
    /// - Parameters:
    ///   - failures: the attempts so far, at least 1.
    ///   - elapsed: the time since the first attempt, nanoseconds.
    ///   - asked: what the receiver asked for, nanoseconds.
    ///   - random: a number from 0 up to the given one, so that daemons do not come at the same time.
    package func delay(
        after failures: Int,
        elapsed: UInt64,
        asked: UInt64?,
        random: (UInt64) -> UInt64
    ) -> UInt64? {
        let doubled = first << UInt64(min(max(0, failures - 1), 16))
        let plain = min(doubled, longest)
        // Between half of the delay and all of it; what the receiver asks for is the least.
        let delay = max(asked ?? 0, plain / 2 + random(plain / 2 + 1))
        let (sum, overflow) = elapsed.addingReportingOverflow(delay)
        return overflow || sum > limit ? nil : delay
    }
}
