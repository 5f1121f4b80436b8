// SPDX-License-Identifier: Apache-2.0

/// How often an identifier's runs did not stop in time lately, and what that costs its next ones.
///
/// A run that had to be killed adds 2, one that was asked to stop and left nothing behind that goes
/// on adds 1, a success takes 1 away, and so do six hours without either.
package struct ExpiryDebt: Equatable, Codable, Sendable {
    /// How long six hours without an expiry are, nanoseconds.
    package static let forgiveness: Int64 = 6 * 3_600_000_000_000

    /// Seconds that must lie between the last end and the next start, by level.
    package static let delays: [Int64] = [0, 60, 300, 900, 3600, 14_400, 86_400]

    /// What is owed at `changedAt`.
    package private(set) var points: Int
    /// When it last changed, Unix nanoseconds.
    package private(set) var changedAt: Int64
    /// When the run that last changed it ended, Unix nanoseconds.
    package private(set) var lastEnd: Int64

    package init(points: Int = 0, changedAt: Int64 = 0, lastEnd: Int64 = 0) {
        self.points = max(0, points)
        self.changedAt = changedAt
        self.lastEnd = lastEnd
    }

    /// What a run's end does to the debt.
    package enum Event: Equatable, Sendable {
        case killed
        case expired
        case succeeded
    }

    /// What is owed now, after what time has forgiven.
    package func points(now: Int64) -> Int {
        let (idle, overflow) = now.subtractingReportingOverflow(changedAt)
        guard points > 0, !overflow, idle > 0 else { return points }
        return max(0, points - Int(clamping: idle / Self.forgiveness))
    }

    /// How far along the delays it is.
    package func level(now: Int64) -> Int { min(points(now: now), Self.delays.count - 1) }

    /// When the next run may begin, Unix nanoseconds; `nil` is now.
    ///
    /// What time forgives meanwhile counts: a day's delay that comes down to four hours after six is
    /// over after six.
    package func nextStart(now: Int64) -> Int64? {
        // A clock that was set back must not make it wait from a time that has not come.
        let end = min(lastEnd, now)
        let changed = min(changedAt, now)
        var level = min(points, Self.delays.count - 1)
        while level > 0 {
            // Of the highest level there is no beginning: all above it are it.
            let isHighest = level == Self.delays.count - 1
            let begins = Self.sum(changed, Self.forgiveness, isHighest ? 0 : points - level)
            let ends = Self.sum(changed, Self.forgiveness, points - level + 1)
            let start = max(begins, Self.sum(end, 1_000_000_000, Int(Self.delays[level])))
            if start < ends { return start > now ? start : nil }
            level -= 1
        }
        let clean = Self.sum(changed, Self.forgiveness, points)
        return clean > now ? clean : nil
    }

    private static func sum(_ base: Int64, _ step: Int64, _ count: Int) -> Int64 {
        let (product, overflow) = step.multipliedReportingOverflow(by: Int64(count))
        let (sum, carry) = base.addingReportingOverflow(product)
        return overflow || carry ? .max : sum
    }

    /// Takes in how a run ended.
    package mutating func take(_ event: Event, now: Int64) {
        let before = points(now: now)
        let after =
            switch event {
            case .killed: before + 2
            case .expired: before + 1
            case .succeeded: max(0, before - 1)
            }
        // Beyond the highest level nothing changes but how long it takes to come down again.
        points = min(after, 2 * (Self.delays.count - 1))
        changedAt = now
        lastEnd = now
    }

    /// Forgives all of it.
    package mutating func clear(now: Int64) {
        points = 0
        changedAt = now
    }
}
