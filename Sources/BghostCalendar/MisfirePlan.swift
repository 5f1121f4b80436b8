// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

/// The misfire plan of a schedule: which past scheduled times to submit now, and which one is next.
///
/// The scheduler computes it at the schedule's timer, after a start, after a clock step and after an edit. It
/// counts past times instead of enumerating them, so the cost depends on the months of downtime and not on
/// their number: ten years of one time per second take a few microseconds.
package struct MisfirePlan: Equatable, Sendable {
    /// The handling of times that passed while nothing could start.
    package enum Policy: Equatable, Sendable {
        /// The last of them gets a run, which makes up for all others.
        case once
        /// None of them gets a run.
        case skip
        /// The last ones get a run each, up to this number and `timesMax`.
        case all(max: Int)
    }

    /// The history of a schedule; instants are Unix nanoseconds.
    package struct History: Equatable, Sendable {
        /// The instant up to which all times were submitted or skipped; `nil` before the first time.
        var lastServedTime: Int64?
        /// When the schedule was created or last changed; times before this instant are never due.
        var editedAt: Int64?

        package init(lastServedTime: Int64?, editedAt: Int64?) {
            self.lastServedTime = lastServedTime
            self.editedAt = editedAt
        }
    }

    /// The rules for late times; durations are nanoseconds.
    package struct Rules: Equatable, Sendable {
        var policy: Policy
        /// A time that is later than this is missed with every policy; `nil` means no limit.
        package var startDeadline: Int64?
        /// A time that is not later than this is on time, so it gets a run even with `skip`.
        package var onTime: Int64
        package var offset: StableOffset
        /// The longest random delay of a start; a start that waits for its delay is on time.
        package var randomDelay: Int64

        init(
            policy: Policy = .once,
            startDeadline: Int64? = nil,
            onTime: Int64 = 60_000_000_000,
            offset: StableOffset = .none,
            randomDelay: Int64 = 0
        ) {
            self.policy = policy
            self.startDeadline = startDeadline
            self.onTime = onTime.addingClamped(randomDelay)
            self.offset = offset
            self.randomDelay = randomDelay
        }
    }

    /// The most times to submit at once.
    package static let timesMax = 1000

    /// The times to submit now, in order; their starts are `offset.start(of:)`.
    package private(set) var times: [Int64] = []
    /// The number of past times that are neither in `times` nor taken before.
    package private(set) var missedCount = 0
    /// The first missed time.
    package private(set) var missedFrom: Int64?
    /// The next time; `nil` if there is none.
    package private(set) var next: Int64?
    /// The new `History.lastServedTime`, to store if all times up to now are submitted or skipped.
    package private(set) var lastServedTime: Int64?
    /// Whether the clock is behind the history.
    private(set) var sawClockBack = false

    /// Computes the plan.
    ///
    /// After the clock was set back, times count again from then on, except those that were served. So no time
    /// gets two runs, and times that were skipped while the clock was ahead get their run. The caller stores the
    /// present as the last served time when the clock is set back; otherwise no time is due until the clock
    /// reaches that time again.
    ///
    /// - Parameters:
    ///   - now: the wall clock, Unix nanoseconds.
    ///   - served: the times that were served or withdrawn.
    ///   - isTaken: whether another time was submitted before. It is called at most `timesMax` times.
    package init(
        _ recurrence: Recurrence,
        history: History,
        now: Int64,
        rules: Rules = Rules(),
        served: ServedTimes = ServedTimes(),
        isTaken: (Int64) -> Bool = { _ in false }
    ) {
        let now = rules.offset.scheduledTime(now)
        lastServedTime = history.lastServedTime
        if let last = history.lastServedTime, last > now {
            sawClockBack = true
            lastServedTime = now
            next = Self.nextFree(recurrence, after: now, served: served, isTaken: isTaken)
            return
        }
        let edited =
            history.editedAt.map(rules.offset.scheduledTime) ?? history.lastServedTime ?? now
        sawClockBack = edited > now
        // Limit an edit in the future of this clock; otherwise it would block the schedule until then.
        let base = min(max(edited, history.lastServedTime ?? Int64.min), now)
        next = Self.nextFree(recurrence, after: now, served: served, isTaken: isTaken)
        let count = recurrence.count(after: base, through: now)
        guard count > 0, let latest = recurrence.latest(atOrBefore: now) else { return }
        lastServedTime = latest
        let due = Due(
            count: max(0, count - served.count(of: recurrence, after: base, through: now)),
            after: base,
            latest: latest,
            now: now
        )
        let taken = choose(recurrence, due, rules, served: served, isTaken: isTaken)
        missedCount = due.count - taken - times.count
        // The last times are submitted, so if any time is missed, the first one is.
        if missedCount > 0 {
            missedFrom = Self.nextFree(recurrence, after: base, served: served, isTaken: isTaken)
        }
    }

    /// The past times.
    private struct Due {
        /// The number of those that were not served.
        var count: Int
        var after: Int64
        var latest: Int64
        var now: Int64
    }

    /// Fills `times`.
    ///
    /// - Returns: the number of times that were omitted because they are taken, without those served.
    private mutating func choose(
        _ recurrence: Recurrence,
        _ due: Due,
        _ rules: Rules,
        served: ServedTimes,
        isTaken: (Int64) -> Bool
    ) -> Int {
        let (wanted, lateness) =
            switch rules.policy {
            case .once: (1, Int64.max)
            case .skip: (1, rules.onTime)
            case .all(let max): (Swift.min(max, Self.timesMax, due.count), Int64.max)
            }
        let deadline = rules.startDeadline?.addingClamped(rules.randomDelay)
        let latenessMax = min(lateness, deadline ?? Int64.max)
        var time: Int64? = due.latest
        var taken = 0
        while let candidate = time, candidate > due.after, times.count < wanted,
            taken < Self.timesMax, Self.distance(from: candidate, to: due.now) <= latenessMax
        {
            let range = served.start(ofRangeWith: candidate)
            if range == nil {
                if isTaken(candidate) { taken += 1 } else { times.append(candidate) }
            }
            time = recurrence.last(before: range ?? candidate)
        }
        times.reverse()
        return taken
    }

    private static func nextFree(
        _ recurrence: Recurrence,
        after instant: Int64,
        served: ServedTimes,
        isTaken: (Int64) -> Bool
    ) -> Int64? {
        var time = recurrence.next(after: instant)
        for _ in 0..<timesMax {
            guard let candidate = time else { return nil }
            let end = served.end(ofRangeWith: candidate)
            guard end != nil || isTaken(candidate) else { return candidate }
            time = recurrence.next(after: end ?? candidate)
        }
        return time
    }

    private static func distance(from low: Int64, to high: Int64) -> Int64 {
        let (distance, overflow) = high.subtractingReportingOverflow(low)
        return overflow ? Int64.max : distance
    }
}
