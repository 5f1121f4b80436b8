// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

/// Parses times as operators write them.
package enum PastTime {
    /// What is accepted, for messages.
    package static let forms =
        "a date such as 2026-11-21T03:00:00Z or 2026-11-21 03:00, a time of the last 24 hours such as"
        + " 03:00, or a duration ago such as 2h or 3d"

    /// Parses a time.
    ///
    /// A time without an offset is one of the zone. `03:00` is the last such time up to now. A time that
    /// the clock skipped is when it was put forward; of one that it showed twice, the later one that is not
    /// after now.
    ///
    /// - Parameter now: Unix nanoseconds.
    /// - Returns: Unix nanoseconds; `nil` for other texts.
    package static func parse(_ text: String, now: Int64, in zone: ZoneTable) -> Int64? {
        if let exact = Timestamp.unixNanoseconds(text) { return exact }
        if let ago = duration(text) { return now.subtractingClamped(ago) }
        let seconds = Timestamp.floorDivide(now, 1_000_000_000)
        if let time = timeOfDay(text[...]) {
            let day = Timestamp.floorDivide(seconds + zone.offset(at: seconds), 86_400)
            let today = instant(day * 86_400 + time, in: zone, now: seconds)
            let last =
                today.flatMap { $0 <= seconds ? $0 : nil }
                ?? instant((day - 1) * 86_400 + time, in: zone, now: seconds)
            return last.flatMap(nanoseconds)
        }
        guard let local = date(text) else { return nil }
        return instant(local, in: zone, now: seconds).flatMap(nanoseconds)
    }

    static func nanoseconds(_ seconds: Int64) -> Int64? {
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        return overflow ? nil : product
    }

    /// - Returns: Unix seconds.
    private static func instant(_ local: Int64, in zone: ZoneTable, now: Int64) -> Int64? {
        switch zone.match(local: local) {
        case .once(let instant): instant
        case .twice(let first, let second): second <= now ? second : first
        case .skipped(let change, _): change
        case nil: nil
        }
    }

    /// A date with an optional time, seconds of the local clock.
    static func date(_ text: String) -> Int64? {
        let parts = text.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
        let halves =
            parts.count == 2
            ? parts : text.split(separator: "T", maxSplits: 1, omittingEmptySubsequences: false)
        let numbers = halves[0].split(separator: "-", omittingEmptySubsequences: false)
        guard halves.count <= 2, numbers.count == 3, let year = number(numbers[0], digits: 4),
            let month = number(numbers[1], digits: 2), let day = number(numbers[2], digits: 2),
            (1...12).contains(month), (1...Timestamp.daysOf(month: month, year: year)).contains(day)
        else { return nil }
        let start = Timestamp.day(year: year, month: month, day: day) * 86_400
        guard halves.count == 2 else { return start }
        return timeOfDay(halves[1]).map { start + $0 }
    }

    /// Seconds since midnight.
    static func timeOfDay(_ text: Substring) -> Int64? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard (2...3).contains(parts.count) else { return nil }
        var seconds: Int64 = 0
        for (part, most) in zip(parts, [23, 59, 59] as [Int64]) {
            guard let number = number(part, digits: 2), number <= most else { return nil }
            seconds = seconds * 60 + number
        }
        return parts.count == 2 ? seconds * 60 : seconds
    }

    private static func number(_ text: Substring, digits: Int) -> Int64? {
        guard text.utf8.count == digits, text.utf8.allSatisfy({ (48...57).contains($0) }) else {
            return nil
        }
        return Int64(text)
    }

    /// Nanoseconds.
    private static func duration(_ text: String) -> Int64? {
        guard let unit = text.last, let seconds = units[unit] else { return nil }
        let digits = text.dropLast()
        guard (1...9).contains(digits.utf8.count),
            let number = number(digits, digits: digits.utf8.count)
        else { return nil }
        return nanoseconds(number * seconds)
    }

    private static let units: [Character: Int64] = [
        "s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 7 * 86_400,
    ]
}
