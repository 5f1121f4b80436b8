// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
package import BghostCalendar

/// A weekly window in which no alert is sent, such as `sat 02:00-04:00`.
package struct MuteWindow: Equatable, Sendable {
    /// Why a text is no window; a clause.
    package struct Fault: Error, Equatable {
        package var reason: String
    }

    /// The days on which it begins, 0 for Monday.
    package let days: Set<Int>
    /// Minutes after midnight.
    package let start: Int
    /// Minutes after midnight; before `start` if it ends on the next day.
    package let end: Int

    private static let names = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]

    /// Reads `02:00-04:00` (each day), `sat 02:00-04:00`, `mon-fri 22:00-06:00` or `sat,sun 00:00-24:00`.
    package init(_ text: String) throws(Fault) {
        let parts = text.split(separator: " ", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), let times = parts.last else {
            throw Fault(reason: "it is not of the form `sat 02:00-04:00`")
        }
        days = parts.count == 1 ? Set(0..<7) : try Self.days(parts[0])
        let bounds = times.split(separator: "-", omittingEmptySubsequences: false)
        guard bounds.count == 2 else {
            throw Fault(reason: "\(String(times).quoted) is not of the form 02:00-04:00")
        }
        let start = try Self.minute(bounds[0])
        let end = try Self.minute(bounds[1])
        guard start < MuteCalendar.day else {
            throw Fault(reason: "no window begins at 24:00; write 00:00 of the next day")
        }
        guard start != end else {
            throw Fault(reason: "it is empty; 00:00-24:00 is a whole day")
        }
        self.start = start
        self.end = end
    }

    /// The length in minutes.
    var length: Int { end > start ? end - start : end + MuteCalendar.day - start }

    private static func days(_ text: Substring) throws(Fault) -> Set<Int> {
        var days: Set<Int> = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let ends = part.split(separator: "-", omittingEmptySubsequences: false)
            let first = try day(ends.first ?? "")
            guard ends.count <= 2 else { throw Fault(reason: "\(String(part).quoted) is no range") }
            var next = first
            let last = ends.count == 2 ? try day(ends[1]) : first
            days.insert(next)
            while next != last {
                next = (next + 1) % 7
                days.insert(next)
            }
        }
        return days
    }

    private static func day(_ text: Substring) throws(Fault) -> Int {
        guard let day = names.firstIndex(of: String(text)) else {
            throw Fault(
                reason:
                    "\(String(text).quoted) is no day; there are \(names.joined(separator: ", "))"
            )
        }
        return day
    }

    private static func minute(_ text: Substring) throws(Fault) -> Int {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ $0.utf8.count == 2 }),
            parts.allSatisfy({ $0.utf8.allSatisfy { (48...57).contains($0) } }),
            let hour = Int(parts[0]), let minute = Int(parts[1]),
            hour < 24 && minute < 60 || hour == 24 && minute == 0
        else {
            throw Fault(reason: "\(String(text).quoted) is no time of day such as 02:00")
        }
        return hour * 60 + minute
    }
}

/// Weekly windows that do not overlap.
package struct MuteCalendar: Equatable, Sendable {
    static let day = 1440
    static let week = 7 * day

    package private(set) var windows: [MuteWindow] = []

    package init() {}

    /// Adds a window.
    ///
    /// - Returns: the earlier window that it overlaps, and then it is not added; `nil` if there is none.
    package mutating func add(_ window: MuteWindow) -> MuteWindow? {
        for other in windows where Self.overlap(window, other) { return other }
        windows.append(window)
        return nil
    }

    private static func overlap(_ a: MuteWindow, _ b: MuteWindow) -> Bool {
        a.days.contains { first in
            b.days.contains { second in
                let (one, other) = (first * day + a.start, second * day + b.start)
                return (other - one + week) % week < a.length
                    || (one - other + week) % week < b.length
            }
        }
    }

    /// The end of the window at an instant; `nil` if none is open.
    ///
    /// A change of the clocks within the window moves the end: ask again then.
    ///
    /// - Parameter now: Unix nanoseconds.
    /// - Returns: Unix nanoseconds.
    package func end(at now: Int64, in zone: ZoneTable) -> Int64? {
        guard !windows.isEmpty else { return nil }
        let second = Int64(1_000_000_000)
        let unix = now >= 0 ? now / second : (now - second + 1) / second
        let local = unix + zone.offset(at: unix)
        // 1970-01-01 was a Thursday.
        let weekSeconds = Int64(Self.week) * 60
        let sinceMonday = ((local + 3 * 86_400) % weekSeconds + weekSeconds) % weekSeconds
        let minute = Int(sinceMonday / 60)
        for window in windows {
            for day in window.days {
                let elapsed = (minute - day * Self.day - window.start + Self.week) % Self.week
                guard elapsed < window.length else { continue }
                let left = Int64(window.length - elapsed) * 60 - sinceMonday % 60
                return (unix + left) * second
            }
        }
        return nil
    }
}
