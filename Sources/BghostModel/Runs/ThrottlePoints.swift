// SPDX-License-Identifier: Apache-2.0

package import BghostBase

/// The throttle points of an identifier: they count recent runs that did not stop in time, and
/// delay the next start.
///
/// A killed run adds 2 points, a run that stopped late by itself adds 1. A success removes 1 point,
/// and so does every period of six hours without a change.
package struct ThrottlePoints: Equatable, Codable, Sendable {
    /// The time after which one point expires, nanoseconds.
    package static let clearsOneAfter: Int64 = 6 * 3_600_000_000_000

    /// The minimum time between the last end and the next start, seconds, by level.
    package static let delays: [Int64] = [0, 60, 300, 900, 3600, 14_400, 86_400]

    /// The maximum number of late runs that are kept.
    package static let runsMax = 8

    /// The number of points at `changedAt`.
    package private(set) var points: Int
    /// When the points last changed, Unix nanoseconds.
    package private(set) var changedAt: Int64
    /// When the run that last changed the points ended, Unix nanoseconds.
    package private(set) var lastEnd: Int64
    /// The runs that added points, the newest first, at most `runsMax`.
    package private(set) var runs: [LateRun]

    package init(
        points: Int = 0,
        changedAt: Int64 = 0,
        lastEnd: Int64 = 0,
        runs: [LateRun] = []
    ) {
        self.points = max(0, points)
        self.changedAt = changedAt
        self.lastEnd = lastEnd
        self.runs = Array(runs.prefix(Self.runsMax))
    }

    /// The effect of a run's end on the points.
    package enum Event: Equatable, Sendable {
        /// The run did not stop in time.
        case late(LateRun)
        case succeeded
    }

    /// The points at a time, Unix nanoseconds, less those that have expired.
    package func points(now: Int64) -> Int {
        let (idle, overflow) = now.subtractingReportingOverflow(changedAt)
        guard points > 0, !overflow, idle > 0 else { return points }
        return max(0, points - Int(clamping: idle / Self.clearsOneAfter))
    }

    /// The index into `delays` at a time, Unix nanoseconds.
    package func level(now: Int64) -> Int { min(points(now: now), Self.delays.count - 1) }

    /// When the last point has expired, Unix nanoseconds; `nil` if there are no points.
    package var end: Int64? {
        points > 0 ? Self.sum(changedAt, Self.clearsOneAfter, points) : nil
    }

    /// The earliest time of the next start, Unix nanoseconds; `nil` is now.
    ///
    /// Points that expire meanwhile shorten the delay: if a delay of one day drops to four hours after six
    /// hours, it ends after six hours.
    ///
    /// - Parameters:
    ///   - now: Unix nanoseconds.
    ///   - delayMax: the upper limit of every delay, seconds.
    package func nextStart(now: Int64, delayMax: Int64 = .max) -> Int64? {
        var level = min(points, Self.delays.count - 1)
        while level > 0 {
            // The highest level has no start: any higher number of points belongs to it.
            let isHighest = level == Self.delays.count - 1
            let begins = Self.sum(changedAt, Self.clearsOneAfter, isHighest ? 0 : points - level)
            let ends = Self.sum(changedAt, Self.clearsOneAfter, points - level + 1)
            let delay = Int(min(Self.delays[level], max(0, delayMax)))
            let start = max(begins, Self.sum(lastEnd, 1_000_000_000, delay))
            if start < ends { return start > now ? start : nil }
            level -= 1
        }
        let clean = Self.sum(changedAt, Self.clearsOneAfter, points)
        return clean > now ? clean : nil
    }

    private static func sum(_ base: Int64, _ step: Int64, _ count: Int) -> Int64 {
        let (product, overflow) = step.multipliedReportingOverflow(by: Int64(count))
        let (sum, carry) = base.addingReportingOverflow(product)
        return overflow || carry ? .max : sum
    }

    /// Applies the end of a run to the points.
    package mutating func apply(_ event: Event, now: Int64) {
        let before = points(now: now)
        let after: Int
        switch event {
        case .late(let run):
            after = before + run.points
            // Runs before the last time without points do not explain the current points.
            runs = Array(([run] + (before == 0 ? [] : runs)).prefix(Self.runsMax))
        case .succeeded: after = max(0, before - 1)
        }
        // Points beyond the highest level only prolong the recovery, so their number is limited.
        points = min(after, 2 * (Self.delays.count - 1))
        if points == 0 { runs = [] }
        changedAt = now
        lastEnd = now
    }

    /// Limits the dates to the present, when the clock may have been set back: the delay would be too long.
    ///
    /// Do it once, and not at each question: it would begin anew each time.
    package mutating func limit(now: Int64) {
        changedAt = min(changedAt, now)
        lastEnd = min(lastEnd, now)
    }

    /// Removes all points.
    package mutating func clear(now: Int64) {
        points = 0
        runs = []
        changedAt = now
    }
}

/// A run that stopped too late after it was cancelled.
package struct LateRun: Equatable, Codable, Sendable {
    package var run: RunID
    /// The time from its cancellation until its end, nanoseconds.
    package var stoppedAfter: UInt64
    /// Whether it was killed when its grace ended, or abandoned in the daemon's process.
    package var isKilled: Bool
    /// Unix nanoseconds.
    package var endedAt: Int64

    package init(run: RunID, stoppedAfter: UInt64, isKilled: Bool, endedAt: Int64) {
        self.run = run
        self.stoppedAfter = stoppedAfter
        self.isKilled = isKilled
        self.endedAt = endedAt
    }

    /// The throttle points that it adds.
    package var points: Int { isKilled ? 2 : 1 }

    /// A clause for people: `stopped 4.80 s after it was asked to stop`.
    package var sentence: String {
        (isKilled ? "killed " : "stopped ") + DurationText.of(nanoseconds: stoppedAfter)
            + " after it was asked to stop"
    }
}

extension [LateRun] {
    /// The format in which the store keeps late runs.
    package var text: String {
        map { "\($0.run) \($0.stoppedAfter) \($0.isKilled ? 1 : 0) \($0.endedAt)" }
            .joined(separator: ",")
    }

    /// Parses the format of `text`; `nil` if it does not match.
    package init?(text: String) {
        self = []
        for part in text.split(separator: ",") {
            let words = part.split(separator: " ", omittingEmptySubsequences: false)
            guard words.count == 4, let run = RunID(String(words[0])),
                let stoppedAfter = UInt64(words[1]), ["0", "1"].contains(words[2]),
                let endedAt = Int64(words[3])
            else { return nil }
            append(
                LateRun(
                    run: run,
                    stoppedAfter: stoppedAfter,
                    isKilled: words[2] == "1",
                    endedAt: endedAt
                )
            )
        }
    }
}
