// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostModel

/// The runtime used within the last 24 hours, by minute.
///
/// A minute counts until a whole day has passed since its end, so that no window of 24 hours exceeds the
/// limit. The ledger has at most 1441 minutes, independent of the number of runs.
struct RuntimeLedger: Equatable, Sendable {
    private struct Minute: Equatable, Sendable {
        var number: Int64
        var used: Int64
    }

    private static let length: Int64 = 60_000_000_000

    /// Oldest first.
    private var minutes: [Minute] = []
    /// The sum over all minutes, nanoseconds.
    private(set) var used: Int64 = 0

    init() {}

    /// The last minute with runtime, as a number since 1970; `nil` if there is none.
    var newestMinute: Int64? { minutes.last?.number }

    static func minute(of unix: Int64) -> Int64 { max(0, unix) / length }

    /// The time at which a minute leaves the window, Unix nanoseconds.
    private static func end(of minute: Int64) -> Int64 {
        let (end, overflow) = minute.addingClamped(RuntimeUse.minutesKept)
            .multipliedReportingOverflow(by: length)
        return overflow ? .max : end
    }

    /// Adds the runtime of a run that has ended.
    ///
    /// - Parameters:
    ///   - nanoseconds: the runtime; a negative one counts as 0.
    ///   - now: Unix nanoseconds.
    /// - Returns: the minute to which the run was added, and its new sum.
    mutating func add(
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

    /// Adds one minute that an earlier daemon stored.
    ///
    /// A minute in the future was recorded while the clock was wrong, and is ignored: it would block the
    /// plugin for an unknown time.
    mutating func restore(minute: Int64, nanoseconds: Int64, now: Int64) {
        guard minute <= Self.minute(of: now), minute >= 0, nanoseconds > 0,
            Self.end(of: minute) > now
        else { return }
        let place = minutes.firstIndex { $0.number >= minute } ?? minutes.count
        minutes.insert(Minute(number: minute, used: nanoseconds), at: place)
        used = used.addingClamped(nanoseconds)
    }

    /// Removes the minutes that have left the window.
    mutating func forget(now: Int64) {
        let old = minutes.prefix { Self.end(of: $0.number) <= now }.count
        guard old > 0 else { return }
        minutes.removeFirst(old)
        used = minutes.reduce(0) { $0.addingClamped($1.used) }
    }

    /// Corrects the ledger after the clock was set: moves the runtime of future minutes to the current
    /// minute.
    mutating func clockWasSet(now: Int64) {
        forget(now: now)
        let minute = Self.minute(of: now)
        let past = minutes.prefix { $0.number < minute }
        let rest: Int64 = minutes.dropFirst(past.count).reduce(0) { $0.addingClamped($1.used) }
        minutes = Array(past) + (rest > 0 ? [Minute(number: minute, used: rest)] : [])
    }

    /// The time at which the usage falls below a limit if no run is added, Unix nanoseconds; `nil` if it is
    /// already below the limit.
    func freeAt(limit: Int64) -> Int64? {
        guard used >= limit else { return nil }
        var left = used
        for minute in minutes {
            left -= minute.used
            if left < limit { return Self.end(of: minute.number) }
        }
        return .max
    }
}
