// SPDX-License-Identifier: Apache-2.0

import BghostCalendar

extension FuzzTarget {
    /// An instant of eight bytes, and a calendar in cron's words.
    static let calendar = FuzzTarget("calendar", bytesMax: 512) { bytes throws(BrokenProperty) in
        var cursor = ByteCursor(bytes)
        let instant: Int64 = cursor.integer()
        let words = cursor.remaining
        let expression: CalendarExpression
        do throws(CalendarError) {
            expression = try CalendarExpression(String(decoding: words, as: UTF8.self))
        } catch {
            let bytes = String(decoding: words, as: UTF8.self).utf8.count
            try require(
                error.offset >= 0 && error.length >= 0 && error.offset + error.length <= bytes,
                "the fault at \(error.offset) lies outside of \(bytes) bytes"
            )
            try MessageText.check(error.description)
            return
        }
        for zone in [ZoneTable.utc, berlin] {
            for (gap, fold) in [(GapPolicy.shift, FoldPolicy.first), (.skip, .both)] {
                let recurrence = try? Recurrence.calendar(
                    expression,
                    zone: zone,
                    gap: gap,
                    fold: fold
                )
                try SlotProperties.check(
                    try unwrap(recurrence, "a calendar comes more often than each second"),
                    around: instant
                )
            }
        }
    }

    /// An instant of eight bytes, and a compiled time zone.
    static let zone = FuzzTarget("zone", bytesMax: 8 << 10) { bytes throws(BrokenProperty) in
        var cursor = ByteCursor(bytes)
        let instant: Int64 = cursor.integer()
        let zone: ZoneTable
        do throws(ZoneError) {
            zone = try ZoneTable(name: "Fuzz/Zone", tzif: cursor.remaining)
        } catch {
            try MessageText.check(error.description)
            return
        }
        try checkOffsets(zone, at: instant % ZoneTable.range.upperBound)
        for text in ["30 2 * * *", "*/7 * * * *"] {
            guard let expression = try? CalendarExpression(text),
                let recurrence = try? Recurrence.calendar(expression, zone: zone)
            else { throw BrokenProperty("\(text) cannot be scheduled") }
            try SlotProperties.check(recurrence, around: instant)
        }
    }

    private static let berlin: ZoneTable = {
        // Summer time by a rule, as a file would say it.
        let header = Array("TZif2".utf8) + [UInt8](repeating: 0, count: 15)
        let counts: [UInt8] = [0, 0, 0, 0] + [0, 0, 0, 0] + [0, 0, 0, 0] + [0, 0, 0, 0]
        let block =
            header + counts + [0, 0, 0, 1] + [0, 0, 0, 4]
            + [0, 0, 0x0E, 0x10, 0, 0] + Array("CET\0".utf8)
        let bytes = block + block + Array("\nCET-1CEST,M3.5.0,M10.5.0/3\n".utf8)
        return (try? ZoneTable(name: "Europe/Berlin", tzif: bytes)) ?? .utc
    }()

    private static func checkOffsets(
        _ zone: ZoneTable,
        at instant: Int64
    ) throws(BrokenProperty) {
        let local = instant + zone.offset(at: instant)
        switch zone.match(local: local) {
        case .once(let found): try require(found == instant, "\(instant) becomes \(found)")
        case .twice(let first, let second):
            try require(first < second, "the second time of \(local) comes first")
            try require(first <= instant && instant <= second, "\(instant) is not among its own")
        case .skipped: throw BrokenProperty("\(local) is shown at \(instant), and yet skipped")
        case nil: try require(!ZoneTable.range.contains(local), "\(local) is never shown")
        }
        if let change = zone.nextChange(after: instant) {
            try require(change.at > instant, "the next change is not later")
            try require(change.offsetBefore != change.offsetAfter, "a change that changes nothing")
            try require(
                zone.offset(at: change.at) == change.offsetAfter
                    && zone.offset(at: change.at - 1) == change.offsetBefore,
                "the change at \(change.at) is not one"
            )
        }
    }
}

/// What holds of the times of any schedule.
enum SlotProperties {
    static func check(
        _ recurrence: Recurrence,
        around instant: Int64
    ) throws(BrokenProperty) {
        var last = instant
        for _ in 0..<4 {
            guard let next = recurrence.next(after: last) else { break }
            try require(next > last, "\(next) comes after \(last)")
            try require(
                recurrence.latest(atOrBefore: next) == next,
                "\(next) is a time forwards, and not backwards"
            )
            try require(
                recurrence.count(after: last, through: next) == 1,
                "there are \(recurrence.count(after: last, through: next)) from \(last) to \(next)"
            )
            if let before = recurrence.last(before: next) {
                try require(before <= last, "\(before) lies between \(last) and \(next)")
            }
            last = next
        }
    }
}
