// SPDX-License-Identifier: Apache-2.0

/// Between which times a request may begin, Unix nanoseconds.
struct BeginDates {
    var earliest: Int64?
    var latest: Int64?

    init(earliest: Int64?, latest: Int64?) {
        self.earliest = earliest
        self.latest = latest
    }

    /// Those of a request, with what its tolerance makes of them.
    init(_ request: Request) {
        self.init(earliest: request.begin, latest: request.latestBegin)
    }

    /// When it may begin at the earliest.
    ///
    /// - Parameter hold: what its identifier is held until.
    func due(hold: Int64?) -> Int64 { max(earliest ?? .min, hold ?? .min) }

    /// Whether it is to be looked at: its date has come, or it is missed and to be closed.
    func isUp(hold: Int64?, now: Int64) -> Bool { due(hold: hold) <= now || isMissed(now: now) }

    /// The next date on which it may begin, or is missed.
    func nextDate(hold: Int64?, now: Int64) -> Int64? {
        let due = due(hold: hold)
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
