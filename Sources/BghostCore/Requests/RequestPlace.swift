// SPDX-License-Identifier: Apache-2.0

/// A request, and where it stands among others.
struct RequestPlace: Sendable {
    let request: Request
    let rank: UInt64

    var dates: BeginDates { BeginDates(request) }

    /// Its own date, with what its tolerance makes of it.
    var begin: Int64 { request.begin ?? .min }

    func isMissed(now: Int64) -> Bool { !request.isSimulated && dates.isMissed(now: now) }
}

/// What decides between requests that could begin.
enum RequestRank {
    /// The higher the priority, the further ahead of its time it stands: nine minutes of waiting are
    /// worth 54 of 1000.
    private static let agingPerPriority: UInt64 = 10_000

    /// The lower goes first.
    ///
    /// Everything that waits grows older at the same rate, so two requests never change their order
    /// and the rank can be a constant: the time since which only others stand in its way, less what
    /// its priority is worth. Requests of the same millisecond and priority go by their order.
    static func of(_ request: Request, order: UInt64, now: Int64) -> UInt64 {
        let readyAt = max(now, request.begin ?? now)
        let priority = UInt64(min(1000, max(0, request.priority)))
        let milliseconds = UInt64(max(0, readyAt)) / 1_000_000
        return (milliseconds + (1000 - priority) * agingPerPriority) << 20 | order & 0xF_FFFF
    }
}
