// SPDX-License-Identifier: Apache-2.0

/// The handling of local times that are skipped when the clock is put forward.
package enum GapPolicy: String, Sendable, CaseIterable {
    /// They all occur at the first instant after the gap.
    case shift
    /// They do not occur.
    case skip
}

/// The handling of local times that are repeated when the clock is put back.
package enum FoldPolicy: String, Sendable, CaseIterable {
    /// They occur the first time that the clock shows them.
    case first
    /// They occur the second time that the clock shows them.
    case second
    case both
}

/// A calendar on the clock of a zone: its occurrences in Unix seconds.
///
/// It processes the zone's spans of constant offset in order. Within a span, local times and instants
/// correspond, so the occurrences are in order and without duplicates for every zone.
struct CalendarSchedule: Equatable, Sendable {
    let expression: CalendarExpression
    let zone: ZoneTable
    let gap: GapPolicy
    let fold: FoldPolicy

    /// The part of a span that belongs to the calendar.
    private struct Span {
        /// The first Unix second.
        var start: Int64
        var offset: Int64
        /// The first of the local times that count, all of them within the span.
        var low: Int64
        var high: Int64
        /// The skipped local times that occur at the start of this span.
        var gap: Range<Int64>?
    }

    func first(after instant: Int64) -> Int64? {
        guard instant < ZoneTable.range.upperBound else { return nil }
        let from = max(instant, ZoneTable.range.lowerBound - 1) + 1
        for index in zone.index(at: from)..<zone.segments.count {
            let span = span(index)
            if span.start >= from, makesUp(span) { return span.start }
            let low = max(span.low, from + span.offset)
            if let local = expression.first(from: low, before: span.high) {
                return local - span.offset
            }
        }
        return nil
    }

    func last(through instant: Int64) -> Int64? {
        guard instant >= ZoneTable.range.lowerBound else { return nil }
        let to = min(instant, ZoneTable.range.upperBound)
        for index in stride(from: zone.index(at: to), through: 0, by: -1) {
            let span = span(index)
            let high = min(span.high, to + span.offset + 1)
            if let local = expression.last(from: span.low, before: high) {
                return local - span.offset
            }
            if makesUp(span) { return span.start }
        }
        return nil
    }

    func count(after low: Int64, through high: Int64) -> Int {
        let from = max(low, ZoneTable.range.lowerBound - 1) + 1
        let to = min(high, ZoneTable.range.upperBound)
        guard from <= to else { return 0 }
        var count = 0
        for index in zone.index(at: from)...zone.index(at: to) {
            let span = span(index)
            let first = max(span.low, from + span.offset)
            count += expression.count(
                from: first,
                before: min(span.high, to + span.offset + 1)
            )
            guard span.start >= from, makesUp(span) else { continue }
            // A regular occurrence at the same instant is already counted.
            let arrival = span.start + span.offset
            let isRegular =
                span.low <= arrival && expression.first(from: arrival, before: arrival + 1) != nil
            count += isRegular ? 0 : 1
        }
        return count
    }

    /// Whether an occurrence replaces local times that the clock skipped.
    func isShifted(_ instant: Int64) -> Bool {
        let span = span(zone.index(at: instant))
        return span.start == instant && makesUp(span)
    }

    private func makesUp(_ span: Span) -> Bool {
        guard let gap = span.gap else { return false }
        return expression.first(from: gap.lowerBound, before: gap.upperBound) != nil
    }

    private func span(_ index: Int) -> Span {
        let segment = zone.segments[index]
        let end = zone.end(of: index)
        var span = Span(
            start: segment.start,
            offset: segment.offset,
            low: segment.start + segment.offset,
            high: end + segment.offset,
            gap: nil
        )
        guard !expression.hasWildcardHour else { return span }
        if index > 0 {
            let reached = segment.start + zone.segments[index - 1].offset
            if reached < span.low, gap == .shift {
                span.gap = reached..<span.low
            } else if reached > span.low, fold == .first {
                span.low = reached
            }
        }
        if fold == .second, index + 1 < zone.segments.count {
            // Times that the next span repeats count there.
            span.high = min(span.high, end + zone.segments[index + 1].offset)
        }
        return span
    }
}
