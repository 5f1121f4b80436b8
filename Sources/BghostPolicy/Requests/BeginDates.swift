// SPDX-License-Identifier: Apache-2.0

internal import BghostModel

/// The dates between which a request may start, Unix nanoseconds.
struct BeginDates {
    var earliest: Int64?
    var latest: Int64?

    init(earliest: Int64?, latest: Int64?) {
        self.earliest = earliest
        self.latest = latest
    }

    /// Takes the dates from a request; its tolerance is already applied to the earliest one.
    init(_ request: Request) {
        self.init(earliest: request.begin, latest: request.latestBegin)
    }

    /// The earliest time at which the request may start, Unix nanoseconds.
    ///
    /// - Parameter delayedUntil: the time until which its identifier is delayed; `nil` if it is not.
    func due(delayedUntil: Int64?) -> Int64 { max(earliest ?? .min, delayedUntil ?? .min) }

    /// Whether the request needs a decision now: its date has passed, or it was missed and must be closed.
    func isDue(delayedUntil: Int64?, now: Int64) -> Bool {
        due(delayedUntil: delayedUntil) <= now || isMissed(now: now)
    }

    /// The next date on which the request may start or becomes missed; `nil` if there is none.
    func nextDate(delayedUntil: Int64?, now: Int64) -> Int64? {
        let due = due(delayedUntil: delayedUntil)
        if due > now {
            guard let latest, latest < due else { return due }
        }
        guard let latest, latest < .max, latest >= now else { return nil }
        return latest + 1
    }

    func isMissed(now: Int64) -> Bool {
        if let latest { latest < now } else { false }
    }
}
