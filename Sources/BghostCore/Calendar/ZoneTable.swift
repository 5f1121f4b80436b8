// SPDX-License-Identifier: Apache-2.0

/// A time zone: which offset from UTC was and will be in force when.
///
/// The rules for the future are written out up to 2262, where nanoseconds in 64 bits end, so that
/// a look is one binary search. A zone with daylight saving time takes about 10 KiB; copies share it.
package struct ZoneTable: Equatable, Sendable {
    /// A span of time with one offset; it ends where the next begins.
    struct Segment: Equatable, Sendable {
        /// Unix seconds.
        var start: Int64
        /// Seconds east of UTC.
        var offset: Int64
    }

    /// What a local time is on the zone's clock.
    package enum LocalMatch: Equatable, Sendable {
        /// The usual case, with the Unix seconds.
        case once(Int64)
        /// The clock was put back over it.
        case twice(Int64, Int64)
        /// The clock was put forward over it, at an instant and by some seconds.
        case skipped(at: Int64, gap: Int64)
    }

    /// A point where the offset changes.
    package struct Change: Equatable, Sendable {
        /// The first Unix second with the new offset.
        package var at: Int64
        /// Seconds east of UTC.
        package var offsetBefore: Int64
        package var offsetAfter: Int64
    }

    /// The whole Unix seconds that nanoseconds in 64 bits can say.
    package static let range: ClosedRange<Int64> = -9_223_372_036...9_223_372_036

    /// Such as `Europe/Berlin`.
    package let name: String
    /// In order, with a different offset in each; the first begins with the range.
    let segments: [Segment]

    init(name: String, segments: [Segment]) {
        self.name = name
        self.segments = segments
    }

    /// Coordinated universal time, which needs no file.
    package static let utc = ZoneTable(name: "UTC", fixedOffset: 0)

    /// A zone whose offset, in seconds east of UTC, never changes.
    package init(name: String, fixedOffset: Int64) {
        self.init(
            name: name,
            segments: [Segment(start: Self.range.lowerBound, offset: fixedOffset)]
        )
    }

    /// Seconds east of UTC at an instant in Unix seconds.
    package func offset(at instant: Int64) -> Int64 { segments[index(at: instant)].offset }

    /// The first change of the offset after an instant; `nil` if there is none before 2262.
    package func nextChange(after instant: Int64) -> Change? {
        let index = index(at: instant) + 1
        guard index < segments.count else { return nil }
        return Change(
            at: segments[index].start,
            offsetBefore: segments[index - 1].offset,
            offsetAfter: segments[index].offset
        )
    }

    /// Which instants show a local time, given in seconds from 1970-01-01 00:00:00 on that clock.
    ///
    /// `nil` outside the range.
    package func match(local: Int64) -> LocalMatch? {
        guard Self.range.contains(local) else { return nil }
        var found: Int64?
        var skipped: LocalMatch?
        let last = index(at: local + Self.offsetMax)
        for index in index(at: local - Self.offsetMax)...last {
            let segment = segments[index]
            let instant = local - segment.offset
            if instant >= segment.start, instant < end(of: index) {
                // Three would need two changes within a day, which no zone has had: the outer two.
                if let found { return .twice(found, instant) }
                found = instant
            } else if index > 0, instant < segment.start,
                local >= segment.start + segments[index - 1].offset
            {
                skipped = .skipped(
                    at: segment.start,
                    gap: segment.offset - segments[index - 1].offset
                )
            }
        }
        return found.map { .once($0) } ?? skipped
    }

    // MARK: - Segments

    /// No zone is further from UTC, in seconds; files that say so are refused.
    static let offsetMax: Int64 = 26 * 3600

    /// Of the segment that an instant lies in; the nearest one outside the range.
    func index(at instant: Int64) -> Int {
        var low = 0
        var high = segments.count
        while high - low > 1 {
            let middle = (low + high) / 2
            if segments[middle].start <= instant { low = middle } else { high = middle }
        }
        return low
    }

    /// The first second that is no longer part of a segment.
    func end(of index: Int) -> Int64 {
        index + 1 < segments.count ? segments[index + 1].start : Self.range.upperBound + 1
    }
}
