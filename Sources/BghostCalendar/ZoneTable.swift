// SPDX-License-Identifier: Apache-2.0

/// A time zone: its offsets from UTC, past and future.
///
/// The rules for the future are expanded until 2262, where nanoseconds in 64 bits end, so that a lookup is
/// one binary search. A zone with daylight saving time takes about 10 KiB; copies share it.
package struct ZoneTable: Equatable, Sendable {
    /// A span of time with one offset; it ends where the next one starts.
    struct Segment: Equatable, Sendable {
        /// Unix seconds.
        var start: Int64
        /// Seconds east of UTC.
        var offset: Int64
    }

    /// The instants at which the zone's clock shows a local time.
    package enum LocalMatch: Equatable, Sendable {
        /// The usual case, with the Unix seconds.
        case once(Int64)
        /// The clock was put back and shows it twice.
        case twice(Int64, Int64)
        /// The clock was put forward at an instant, by a number of seconds, and skipped it.
        case skipped(at: Int64, gap: Int64)
    }

    /// A change of the offset.
    package struct Change: Equatable, Sendable {
        /// The first Unix second with the new offset.
        package var at: Int64
        /// Seconds east of UTC.
        package var offsetBefore: Int64
        package var offsetAfter: Int64
    }

    /// The whole Unix seconds that fit into 64 bits as nanoseconds.
    package static let range: ClosedRange<Int64> = -9_223_372_036...9_223_372_036

    /// A name such as `Europe/Berlin`.
    package let name: String
    /// The spans in order, with different offsets; the first one starts with the range.
    let segments: [Segment]

    init(name: String, segments: [Segment]) {
        self.name = name
        self.segments = segments
    }

    /// Coordinated universal time, which needs no file.
    package static let utc = ZoneTable(name: "UTC", fixedOffset: 0)

    /// Creates a zone with a constant offset, seconds east of UTC.
    package init(name: String, fixedOffset: Int64) {
        self.init(
            name: name,
            segments: [Segment(start: Self.range.lowerBound, offset: fixedOffset)]
        )
    }

    /// The offset at an instant (Unix seconds), seconds east of UTC.
    package func offset(at instant: Int64) -> Int64 { segments[index(at: instant)].offset }

    /// The first change after an instant; `nil` if there is none before 2262.
    package func nextChange(after instant: Int64) -> Change? {
        let index = index(at: instant) + 1
        guard index < segments.count else { return nil }
        return Change(
            at: segments[index].start,
            offsetBefore: segments[index - 1].offset,
            offsetAfter: segments[index].offset
        )
    }

    /// Finds the instants at which the clock shows a local time.
    ///
    /// - Parameter local: seconds since 1970-01-01 00:00:00 on that clock.
    /// - Returns: `nil` outside the range.
    package func match(local: Int64) -> LocalMatch? {
        guard Self.range.contains(local) else { return nil }
        var found: Int64?
        var skipped: LocalMatch?
        let last = index(at: local + Self.offsetMax)
        for index in index(at: local - Self.offsetMax)...last {
            let segment = segments[index]
            let instant = local - segment.offset
            if instant >= segment.start, instant < end(of: index) {
                // Three matches would require two changes within a day, which no zone has had; report the
                // outer two.
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

    /// The maximum distance from UTC, seconds; files with a larger one are rejected.
    static let offsetMax: Int64 = 26 * 3600

    /// The index of the segment that contains an instant; outside the range, that of the nearest one.
    func index(at instant: Int64) -> Int {
        var low = 0
        var high = segments.count
        while high - low > 1 {
            let middle = (low + high) / 2
            if segments[middle].start <= instant { low = middle } else { high = middle }
        }
        return low
    }

    /// The first second after a segment.
    func end(of index: Int) -> Int64 {
        index + 1 < segments.count ? segments[index + 1].start : Self.range.upperBound + 1
    }
}
