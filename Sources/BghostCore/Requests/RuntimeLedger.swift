// SPDX-License-Identifier: Apache-2.0

/// How long runs took within the last 24 hours, minute by minute.
///
/// A minute leaves as a whole once a day has passed since its end, so no 24 hours ever hold more than
/// they may. It holds 1441 minutes at the most, however many runs there are.
package struct RuntimeLedger: Equatable, Sendable {
    private struct Minute: Equatable, Sendable {
        var number: Int64
        var used: Int64
    }

    private static let length: Int64 = 60_000_000_000

    /// Oldest first.
    private var minutes: [Minute] = []
    /// What all of them hold, nanoseconds.
    package private(set) var used: Int64 = 0

    package init() {}

    package static func minute(of unix: Int64) -> Int64 { max(0, unix) / length }

    /// When a minute has left the window, Unix nanoseconds.
    private static func end(of minute: Int64) -> Int64 {
        let (end, overflow) = minute.addingClamped(RuntimeUse.minutesKept)
            .multipliedReportingOverflow(by: length)
        return overflow ? .max : end
    }

    /// Adds a run that has ended.
    ///
    /// - Parameter now: Unix nanoseconds.
    /// - Returns: what its minute holds now.
    package mutating func add(
        _ nanoseconds: Int64,
        now: Int64
    ) -> (minute: Int64, nanoseconds: Int64) {
        forget(now: now)
        let time = max(0, nanoseconds)
        let minute = max(Self.minute(of: now), minutes.last?.number ?? 0)
        if minutes.last?.number != minute { minutes.append(Minute(number: minute, used: 0)) }
        let last = minutes.count - 1
        minutes[last].used = minutes[last].used.addingClamped(time)
        used = used.addingClamped(time)
        return (minute, minutes[last].used)
    }

    /// Takes over what an earlier daemon kept of one minute.
    ///
    /// One that has not come was written under a wrong clock and is left out: it would hold the
    /// plugin back for nobody knows how long.
    package mutating func takeOver(minute: Int64, nanoseconds: Int64, now: Int64) {
        guard minute <= Self.minute(of: now), minute >= 0, nanoseconds > 0,
            Self.end(of: minute) > now
        else { return }
        let place = minutes.firstIndex { $0.number >= minute } ?? minutes.count
        minutes.insert(Minute(number: minute, used: nanoseconds), at: place)
        used = used.addingClamped(nanoseconds)
    }

    /// Drops what is older than a day.
    package mutating func forget(now: Int64) {
        let old = minutes.prefix { Self.end(of: $0.number) <= now }.count
        guard old > 0 else { return }
        minutes.removeFirst(old)
        used = minutes.reduce(0) { $0.addingClamped($1.used) }
    }

    /// The clock was set: what is of a time that has not come is of now.
    package mutating func clockWasSet(now: Int64) {
        forget(now: now)
        let minute = Self.minute(of: now)
        let past = minutes.prefix { $0.number < minute }
        let rest: Int64 = minutes.dropFirst(past.count).reduce(0) { $0.addingClamped($1.used) }
        minutes = Array(past) + (rest > 0 ? [Minute(number: minute, used: rest)] : [])
    }

    /// When less than a limit is used, if nothing is added, Unix nanoseconds; `nil` if it is now.
    package func freeAt(limit: Int64) -> Int64? {
        guard used >= limit else { return nil }
        var left = used
        for minute in minutes {
            left -= minute.used
            if left < limit { return Self.end(of: minute.number) }
        }
        return .max
    }
}
