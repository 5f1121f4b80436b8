// SPDX-License-Identifier: Apache-2.0

/// The times of a schedule that have been served, so that none is served again after the clock was
/// set back.
///
/// Times that follow one another make one range, so a schedule that is served without a gap needs
/// one. The oldest ranges are dropped: a clock that was wrong is set right by then.
package struct ServedSlots: Equatable, Codable, Sendable {
    /// From one time to another, both of them and all between served; Unix nanoseconds.
    package struct Range: Equatable, Codable, Sendable {
        package var from: Int64
        package var through: Int64

        package init(from: Int64, through: Int64) {
            self.from = from
            self.through = through
        }
    }

    /// How many ranges are kept.
    package static let rangesMax = 32

    /// In the order in which they were begun.
    package private(set) var ranges: [Range]

    /// - Parameter ranges: the last `rangesMax` of them count.
    package init(_ ranges: [Range] = []) {
        self.ranges = Array(ranges.suffix(Self.rangesMax))
    }

    /// All of it as text, such as `1795219200000000000/1795305600000000000`, times apart by a
    /// space.
    package var text: String {
        ranges.map { "\($0.from)/\($0.through)" }.joined(separator: " ")
    }

    /// Reads what `text` wrote; `nil` for anything else.
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

    package func contains(_ slot: Int64) -> Bool {
        ranges.contains { $0.from <= slot && slot <= $0.through }
    }

    /// Takes in a time that is served.
    ///
    /// - Parameter before: the time of the schedule before that.
    package mutating func insert(_ slot: Int64, before: Int64?) {
        if let last = ranges.indices.last, let before, ranges[last].through == before {
            ranges[last].through = slot
            return
        }
        ranges.append(Range(from: slot, through: slot))
        if ranges.count > Self.rangesMax { ranges.removeFirst() }
    }
}
