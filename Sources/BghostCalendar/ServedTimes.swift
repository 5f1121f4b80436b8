// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

/// The served times of a schedule, so that no time is served again after the clock was set back.
///
/// A time that was withdrawn before it came counts as served.
///
/// Successive times form one range, so a schedule that is served without gaps needs one range. The oldest
/// ranges are dropped: a wrong clock is corrected before they matter.
package struct ServedTimes: Equatable, Codable, Sendable {
    /// A range of served times, both ends included; Unix nanoseconds.
    package struct Range: Equatable, Codable, Sendable {
        var from: Int64
        var through: Int64

        init(from: Int64, through: Int64) {
            self.from = from
            self.through = through
        }
    }

    /// The number of ranges that are kept.
    static let rangesMax = 32

    /// In the order of their creation.
    package private(set) var ranges: [Range]

    /// - Parameter ranges: only the last `rangesMax` are kept.
    package init(_ ranges: [Range] = []) {
        self.ranges = Array(ranges.suffix(Self.rangesMax))
    }

    /// The latest served time; `nil` if there is none.
    package var last: Int64? { ranges.map(\.through).max() }

    /// The ranges as text, such as `1795219200000000000/1795305600000000000`, separated by spaces.
    package var text: String {
        ranges.map { "\($0.from)/\($0.through)" }.joined(separator: " ")
    }

    /// Parses the format of `text`; `nil` for any other text.
    package init?(text: String) {
        var ranges: [Range] = []
        for part in text.split(separator: " ", omittingEmptySubsequences: false) {
            let ends = part.split(separator: "/", omittingEmptySubsequences: false)
            guard ends.count == 2, let from = Int64(ends[0]), let through = Int64(ends[1]),
                from <= through
            else { return nil }
            ranges.append(Range(from: from, through: through))
        }
        guard ranges.count <= Self.rangesMax else { return nil }
        self.init(ranges)
    }

    /// The last time of the range that contains a time; `nil` if the time is not served.
    package func end(ofRangeWith time: Int64) -> Int64? {
        ranges.lazy.filter { $0.from <= time && time <= $0.through }.map(\.through).max()
    }

    /// The first time of the range that contains a time; `nil` if the time is not served.
    func start(ofRangeWith time: Int64) -> Int64? {
        ranges.lazy.filter { $0.from <= time && time <= $0.through }.map(\.from).min()
    }

    /// The number of times of a recurrence that are served, after one instant up to another, inclusive.
    func count(of recurrence: Recurrence, after low: Int64, through high: Int64) -> Int {
        ranges.reduce(0) { sum, range in
            let before = max(low, range.from.subtractingClamped(1))
            return sum + recurrence.count(after: before, through: min(high, range.through))
        }
    }

    package func contains(_ time: Int64) -> Bool {
        ranges.contains { $0.from <= time && time <= $0.through }
    }

    /// Adds a served time.
    ///
    /// - Parameter before: the previous time of the schedule.
    package mutating func insert(_ time: Int64, before: Int64?) {
        if let last = ranges.indices.last, let before, ranges[last].through == before {
            ranges[last].through = time
            return
        }
        ranges.append(Range(from: time, through: time))
        if ranges.count > Self.rangesMax { ranges.removeFirst() }
    }

    // MARK: Intervals

    /// The ranges of times of one recurrence; those of a former schedule of the task are others.
    package func times(of recurrence: Recurrence) -> ServedTimes {
        ServedTimes(ranges.filter { recurrence.contains($0.from) })
    }

    /// Moves the times of an interval by a step, nanoseconds, as the interval itself moves.
    ///
    /// - Parameter recurrence: the interval before it moves.
    package mutating func move(by step: Int64, of recurrence: Recurrence) {
        for index in ranges.indices where recurrence.contains(ranges[index].from) {
            ranges[index].from = ranges[index].from.addingClamped(step)
            ranges[index].through = ranges[index].through.addingClamped(step)
        }
    }

    /// Forgets the times of an interval that are over at an instant: they do not come again.
    package mutating func forget(through instant: Int64, of recurrence: Recurrence) {
        ranges.removeAll { $0.through <= instant && recurrence.contains($0.from) }
    }
}
