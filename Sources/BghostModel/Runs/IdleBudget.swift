// SPDX-License-Identifier: Apache-2.0

package import BghostBase

/// Limits the processor time that a worker may use while it has no run.
///
/// A library needs a little time to clean up after a run or to maintain its state. A library that does more
/// work outside of its runs evades their limits. All processor time outside of runs counts. Each run gives
/// back a fixed amount, and elapsed time gives back a hundredth of itself.
package struct IdleBudget: Equatable, Sendable {
    /// The full budget, nanoseconds.
    package static let most: Int64 = 100_000_000
    /// The amount that each run gives back, nanoseconds.
    static let perRun: Int64 = 1_000_000
    /// The divisor of the elapsed time that is given back: a worker may always use this share of a processor.
    static let shareOfTime: UInt64 = 100

    private var left = most
    /// The time up to which elapsed time was given back.
    private var filledAt: MonotonicInstant
    /// The worker's processor time at the last check without a run; `nil` if there was none.
    private var usedBefore: Int64?

    package init(now: MonotonicInstant) { filledAt = now }

    /// Whether the worker has used more than its budget.
    package var isSpent: Bool { left < 0 }

    /// Records that the worker's last run has ended.
    ///
    /// - Parameter used: the worker's processor time, nanoseconds; `nil` if unknown: then the next `look`
    ///   sets it.
    package mutating func becameIdle(used: Int64?) { usedBefore = used }

    /// Records that the worker gets a run.
    ///
    /// - Parameter used: the worker's processor time, nanoseconds; `nil` if unknown. The use since the worker
    ///   became idle counts even without a check in between.
    package mutating func runBegan(used: Int64?, now: MonotonicInstant) {
        if let used, usedBefore != nil { update(used: used, now: now) }
        usedBefore = nil
        left = min(Self.most, left + Self.perRun)
    }

    /// Subtracts the processor time that the worker has used since the last check without a run.
    package mutating func update(used: Int64, now: MonotonicInstant) {
        let passed = Int64(clamping: now.since(filledAt) / Self.shareOfTime)
        left = min(Self.most, left.addingReportingOverflow(passed).partialValue)
        filledAt = max(filledAt, now)
        if let usedBefore { left -= max(0, used - usedBefore) }
        usedBefore = used
    }
}
