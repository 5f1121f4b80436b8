// SPDX-License-Identifier: Apache-2.0

/// What a calendar does with local times over which the clock is put forward.
package enum GapPolicy: String, Sendable, CaseIterable {
    /// They come together at the first instant after the gap.
    case shift
    /// They do not come.
    case skip
}

/// What a calendar does with local times over which the clock is put back.
package enum FoldPolicy: String, Sendable, CaseIterable {
    /// They come the first time that the clock shows them.
    case first
    /// They come the second time that the clock shows them.
    case second
    case both
}

/// A calendar on the clock of a zone: the Unix seconds at which it comes.
///
/// The zone's spans of one offset are gone through in order. Within a span local times and instants
/// run side by side, so that what comes out is in order and without doubles, whatever the zone does.
struct CalendarSchedule: Equatable, Sendable {
    let expression: CalendarExpression
    let zone: ZoneTable
    let gap: GapPolicy
    let fold: FoldPolicy

    /// What of a span belongs to the calendar.
    private struct Span {
        /// The first Unix second.
        var start: Int64
        var offset: Int64
        /// The local times that count, all of them shown within the span.
        var low: Int64
        var high: Int64
        /// The local times that the change to this span passed over, and that it makes up for.
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
            // A regular slot at the same instant is counted already.
            let arrival = span.start + span.offset
            let isRegular =
                span.low <= arrival && expression.first(from: arrival, before: arrival + 1) != nil
            count += isRegular ? 0 : 1
        }
        return count
    }

    /// Whether a slot stands for local times that the clock passed over.
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
            // What the next span shows again counts there.
            span.high = min(span.high, end + zone.segments[index + 1].offset)
        }
        return span
    }
}
