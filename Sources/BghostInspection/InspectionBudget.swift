// SPDX-License-Identifier: Apache-2.0

package import BghostBase

/// The budget for automatic inspections of one plugin.
///
/// Two limits apply, and the later time counts. After each inspection, the next one waits 20 times
/// the duration of the last, so that one plugin uses at most a twentieth of one processor. In
/// addition, successive inspections are 1 s apart, then 2 s, 4 s and so on up to 60 s, until there
/// has been no change for twice that time.
package struct InspectionBudget: Equatable, Sendable {
    /// The reciprocal of the share of one processor.
    package static let share: UInt64 = 20
    static let pauseMax: UInt64 = 60_000_000_000

    /// The number of inspections since the start of the daemon.
    private(set) var count = 0
    /// The processor time of all inspections, in nanoseconds.
    private(set) var processorTime: UInt64 = 0
    /// The earliest time of the next automatic inspection.
    package private(set) var next: MonotonicInstant = .zero
    private var pause: UInt64 = 0
    private var last: MonotonicInstant = .zero

    package init() {}

    /// Records an inspection.
    ///
    /// - Parameters:
    ///   - took: its duration.
    ///   - processorTime: its processor time.
    ///   - least: the first pause.
    package mutating func spend(
        took: UInt64,
        processorTime spent: UInt64,
        now: MonotonicInstant,
        least: UInt64
    ) {
        // A long wait is not a quiet time, because no inspection was possible during it.
        let isQuiet =
            count == 0
            || now > last + max(pause, least).multipliedClamped(by: 2)
                && now > next + max(pause, least)
        pause = isQuiet ? least : min(Self.pauseMax, pause.multipliedClamped(by: 2))
        count += 1
        processorTime = processorTime.addingClamped(spent)
        last = now
        rest(took: took, now: now)
        next = max(next, now + pause)
    }

    /// Adds the duration of work that belongs to the last inspection, such as a trial load.
    package mutating func rest(took: UInt64, now: MonotonicInstant) {
        next = max(next, now + took.multipliedClamped(by: Self.share))
    }
}
