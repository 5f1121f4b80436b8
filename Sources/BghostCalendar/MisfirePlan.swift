// SPDX-License-Identifier: Apache-2.0

/// The misfire plan of a schedule: which past slots to submit now, and which slot is next.
///
/// The scheduler computes it at the schedule's timer, after a start, after a clock step and after an edit. It
/// counts past slots instead of enumerating them, so the cost depends on the months of downtime and not on
/// the slots: ten years of a slot per second take a few microseconds.
package struct MisfirePlan: Equatable, Sendable {
    /// The handling of slots that passed while nothing could start.
    package enum Policy: Equatable, Sendable {
        /// The last slot runs, and makes up for all others.
        case once
        /// No slot runs.
        case skip
        /// The last slots run, up to this number and `slotsMax`.
        case all(max: Int)
    }

    /// The history of a schedule; instants are Unix nanoseconds.
    package struct History: Equatable, Sendable {
        /// The instant up to which all slots were submitted or skipped; `nil` before the first slot.
        var lastSlot: Int64?
        /// When the schedule was created or last changed; slots before this instant are never due.
        var editedAt: Int64?

        package init(lastSlot: Int64?, editedAt: Int64?) {
            self.lastSlot = lastSlot
            self.editedAt = editedAt
        }
    }

    /// The rules for late slots; durations are nanoseconds.
    package struct Rules: Equatable, Sendable {
        var policy: Policy
        /// A slot that is later than this is missed with every policy; `nil` means no limit.
        package var startDeadline: Int64?
        /// A slot that is not later than this is on time, so it runs even with `skip`.
        package var onTime: Int64
        package var offset: StableOffset

        init(
            policy: Policy = .once,
            startDeadline: Int64? = nil,
            onTime: Int64 = 60_000_000_000,
            offset: StableOffset = .none
        ) {
            self.policy = policy
            self.startDeadline = startDeadline
            self.onTime = onTime
            self.offset = offset
        }
    }

    /// The most slots to submit at once.
    package static let slotsMax = 1000

    /// The slots to submit now, in order; their starts are `offset.start(of:)`.
    package private(set) var slots: [Int64] = []
    /// The number of past slots that are neither in `slots` nor taken before.
    package private(set) var missedCount = 0
    /// The first missed slot.
    package private(set) var missedFrom: Int64?
    /// The next slot; `nil` if there is none.
    package private(set) var next: Int64?
    /// The new `History.lastSlot`, to store in the transaction that submits `slots`.
    private(set) var lastSlot: Int64?
    /// Whether the clock is behind the history.
    private(set) var sawClockBack = false

    /// Computes the plan.
    ///
    /// After the clock was set back, slots count again from now on, except those for which `isTaken` is true.
    /// So no slot runs twice, and slots that were skipped while the clock was ahead run at their time.
    ///
    /// - Parameters:
    ///   - now: the wall clock, Unix nanoseconds.
    ///   - isTaken: whether a slot was submitted before, according to the unique key in the store. It is
    ///     called at most `slotsMax` times, and once for each range of taken slots.
    ///   - takenThrough: the last taken slot of the range that contains a slot; the search continues after
    ///     it. The default is the slot itself.
    package init(
        _ recurrence: Recurrence,
        history: History,
        now: Int64,
        rules: Rules = Rules(),
        isTaken: (Int64) -> Bool = { _ in false },
        takenThrough: (Int64) -> Int64 = { $0 }
    ) {
        let now = rules.offset.slotTime(now)
        lastSlot = history.lastSlot
        if let last = history.lastSlot, last > now {
            sawClockBack = true
            lastSlot = now
            next = Self.untaken(recurrence, after: now, isTaken, takenThrough)
            return
        }
        let edited = history.editedAt.map(rules.offset.slotTime) ?? history.lastSlot ?? now
        sawClockBack = edited > now
        // Limit an edit in the future of this clock; otherwise it would block the schedule until then.
        let base = min(max(edited, history.lastSlot ?? Int64.min), now)
        next = Self.untaken(recurrence, after: now, isTaken, takenThrough)
        let count = recurrence.count(after: base, through: now)
        guard count > 0, let latest = recurrence.latest(atOrBefore: now) else { return }
        lastSlot = latest
        let due = Due(count: count, after: base, latest: latest, now: now)
        missedCount = count - choose(recurrence, due, rules, isTaken) - slots.count
        // The last slots are submitted, so if any slot is missed, the first one is.
        if missedCount > 0 { missedFrom = recurrence.next(after: base) }
    }

    /// The past slots.
    private struct Due {
        var count: Int
        var after: Int64
        var latest: Int64
        var now: Int64
    }

    /// Fills `slots`.
    ///
    /// - Returns: the number of slots that were omitted because they are taken.
    private mutating func choose(
        _ recurrence: Recurrence,
        _ due: Due,
        _ rules: Rules,
        _ isTaken: (Int64) -> Bool
    ) -> Int {
        let (wanted, lateness) =
            switch rules.policy {
            case .once: (1, Int64.max)
            case .skip: (1, rules.onTime)
            case .all(let max): (Swift.min(max, Self.slotsMax, due.count), Int64.max)
            }
        let latenessMax = min(lateness, rules.startDeadline ?? Int64.max)
        var slot: Int64? = due.latest
        var taken = 0
        while let candidate = slot, candidate > due.after, slots.count < wanted,
            taken < Self.slotsMax, Self.distance(from: candidate, to: due.now) <= latenessMax
        {
            if isTaken(candidate) { taken += 1 } else { slots.append(candidate) }
            slot = recurrence.last(before: candidate)
        }
        slots.reverse()
        return taken
    }

    private static func untaken(
        _ recurrence: Recurrence,
        after instant: Int64,
        _ isTaken: (Int64) -> Bool,
        _ takenThrough: (Int64) -> Int64
    ) -> Int64? {
        var slot = recurrence.next(after: instant)
        for _ in 0..<slotsMax {
            guard let candidate = slot, isTaken(candidate) else { return slot }
            slot = recurrence.next(after: max(candidate, takenThrough(candidate)))
        }
        return slot
    }

    private static func distance(from low: Int64, to high: Int64) -> Int64 {
        let (distance, overflow) = high.subtractingReportingOverflow(low)
        return overflow ? Int64.max : distance
    }
}
