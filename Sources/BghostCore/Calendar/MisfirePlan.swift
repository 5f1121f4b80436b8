// SPDX-License-Identifier: Apache-2.0

/// What to do with slots that have come: which to submit now, and which is the next.
///
/// Worked out whenever a schedule is looked at: at its timer, after a start, after a jump of the
/// clock, after an edit. Slots that come due are counted and not gone through, so that the cost does
/// not grow with the downtime but by the months of it: ten years of a slot each second take a few
/// microseconds.
package struct MisfirePlan: Equatable, Sendable {
    /// What becomes of slots that came while nobody could start them.
    package enum Policy: Equatable, Sendable {
        /// The last of them runs, and stands for all.
        case once
        /// None of them runs.
        case skip
        /// The last so many of them run; not more than `slotsMax`.
        case all(max: Int)
    }

    /// What is known of a schedule, as instants in Unix nanoseconds.
    package struct History: Equatable, Sendable {
        /// The instant up to which slots were dealt with: submitted or let go.
        ///
        /// `nil` before the first.
        package var lastSlot: Int64?
        /// When the schedule was made or last changed; no slot from before comes due.
        package var editedAt: Int64?

        package init(lastSlot: Int64?, editedAt: Int64?) {
            self.lastSlot = lastSlot
            self.editedAt = editedAt
        }
    }

    /// How late slots are treated, in nanoseconds.
    package struct Rules: Equatable, Sendable {
        package var policy: Policy
        /// A slot that is later than this is missed, whatever the policy; `nil` for no limit.
        package var startDeadline: Int64?
        /// A slot that is not later than this is on time, which is what `skip` lets run.
        package var onTime: Int64
        /// A last slot that is further ahead than this was set by a wrong clock.
        package var clockBackMax: Int64
        package var offset: StableOffset

        package init(
            policy: Policy = .once,
            startDeadline: Int64? = nil,
            onTime: Int64 = 60_000_000_000,
            clockBackMax: Int64 = 26 * 3_600_000_000_000,
            offset: StableOffset = .none
        ) {
            self.policy = policy
            self.startDeadline = startDeadline
            self.onTime = onTime
            self.clockBackMax = clockBackMax
            self.offset = offset
        }
    }

    /// The most slots that are submitted at once.
    package static let slotsMax = 1000

    /// The slots to submit now, in order; their starts are `offset.start(of:)`.
    package private(set) var slots: [Int64] = []
    /// How many slots have come and are not among `slots`, but for those already taken.
    package private(set) var missedCount = 0
    /// The first of those.
    package private(set) var missedFrom: Int64?
    /// The slot to wait for; `nil` if none will ever come.
    package private(set) var next: Int64?
    /// What to remember as `History.lastSlot`, in the transaction that submits `slots`.
    package private(set) var lastSlot: Int64?
    /// Whether the clock was behind what is remembered.
    package private(set) var sawClockBack = false

    /// Works out what is due.
    ///
    /// After the clock was put back by up to `clockBackMax`, the next slot is the first that was not
    /// yet dealt with. If it was put back further, the clock had been wrong: slots count from now on
    /// again, but for those of which `isTaken` says that they were submitted under the wrong clock.
    ///
    /// - Parameters:
    ///   - now: the wall clock, in Unix nanoseconds.
    ///   - isTaken: whether a slot was submitted before: the unique key of the store. It is asked at
    ///     most twice `slotsMax` times.
    package init(
        _ recurrence: Recurrence,
        history: History,
        now: Int64,
        rules: Rules = Rules(),
        isTaken: (Int64) -> Bool = { _ in false }
    ) {
        let now = rules.offset.slotTime(now)
        lastSlot = history.lastSlot
        if let last = history.lastSlot, last > now {
            sawClockBack = true
            if Self.distance(from: now, to: last) <= rules.clockBackMax {
                next = Self.untaken(recurrence, after: last, isTaken)
                return
            }
            lastSlot = now
            next = Self.untaken(recurrence, after: now, isTaken)
            return
        }
        let edited = history.editedAt.map(rules.offset.slotTime) ?? history.lastSlot ?? now
        sawClockBack = edited > now
        // An edit from the future of this clock would hold the schedule back until then.
        let base = min(max(edited, history.lastSlot ?? Int64.min), now)
        next = Self.untaken(recurrence, after: now, isTaken)
        let count = recurrence.count(after: base, through: now)
        guard count > 0, let latest = recurrence.latest(atOrBefore: now) else { return }
        lastSlot = latest
        let due = Due(count: count, after: base, latest: latest, now: now)
        missedCount = count - choose(recurrence, due, rules, isTaken) - slots.count
        // What is submitted are the last ones, so the first that came is missed if any is.
        if missedCount > 0 { missedFrom = recurrence.next(after: base) }
    }

    /// The slots that have come.
    private struct Due {
        var count: Int
        var after: Int64
        var latest: Int64
        var now: Int64
    }

    /// Fills `slots`, and returns how many were passed over as taken.
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
        _ isTaken: (Int64) -> Bool
    ) -> Int64? {
        var slot = recurrence.next(after: instant)
        for _ in 0..<slotsMax {
            guard let candidate = slot, isTaken(candidate) else { return slot }
            slot = recurrence.next(after: candidate)
        }
        return slot
    }

    private static func distance(from low: Int64, to high: Int64) -> Int64 {
        let (distance, overflow) = high.subtractingReportingOverflow(low)
        return overflow ? Int64.max : distance
    }
}
