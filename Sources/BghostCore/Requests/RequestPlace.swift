// SPDX-License-Identifier: Apache-2.0

/// A request and its place in the order of acceptance.
struct RequestPlace: Sendable {
    let request: Request
    let order: UInt64
    /// Since when only others stand in its way, Unix nanoseconds.
    let readyAt: Int64

    /// The higher the priority, the further ahead of its time it stands: nine minutes of waiting are
    /// worth 54 of 1000.
    private static let agingPerPriority: UInt64 = 10_000

    init(_ request: Request, order: UInt64, now: Int64) {
        self.request = request
        self.order = order
        readyAt = max(now, request.begin ?? now)
    }

    /// The lower goes first.
    ///
    /// Everything that waits grows older at the same rate, so two requests never change their order
    /// and the rank can be a constant: the time since which it waits, less what its priority is worth.
    /// Requests of the same millisecond and priority go by their order.
    var rank: UInt64 {
        let priority = UInt64(min(1000, max(0, request.priority)))
        let milliseconds = UInt64(max(0, readyAt)) / 1_000_000
        return (milliseconds + (1000 - priority) * Self.agingPerPriority) << 20 | order & 0xF_FFFF
    }

    /// When it may begin at the earliest.
    ///
    /// - Parameter hold: what its identifier is held until.
    func due(hold: Int64?) -> Int64 {
        if request.isSimulated { return .min }
        return max(begin, hold ?? .min)
    }

    /// Its own date, with what its tolerance makes of it.
    var begin: Int64 { request.begin ?? .min }

    /// The next date on which it may begin, or is missed.
    func nextDate(hold: Int64?, now: Int64) -> Int64? {
        let due = due(hold: hold)
        if due > now {
            guard let latest = request.latestBegin, latest < due else { return due }
        }
        guard let latest = request.latestBegin, latest < .max, latest >= now else { return nil }
        return latest + 1
    }

    func isMissed(now: Int64) -> Bool {
        if let latest = request.latestBegin, !request.isSimulated { latest < now } else { false }
    }
}
