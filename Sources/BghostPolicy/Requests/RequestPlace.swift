// SPDX-License-Identifier: Apache-2.0

internal import BghostModel

/// A request and its rank among the others.
struct RequestPlace: Sendable {
    let request: Request
    let rank: UInt64

    var dates: BeginDates { BeginDates(request) }

    /// Its own earliest date, with its tolerance applied, Unix nanoseconds.
    var begin: Int64 { request.begin ?? .min }

    func isMissed(now: Int64) -> Bool { !request.isManual && dates.isMissed(now: now) }
}

/// The order of requests that could start.
enum RequestRank {
    /// The waiting time that equals one step of priority, milliseconds: nine minutes of waiting equal 54 of
    /// the 1000 steps.
    private static let agingPerPriority: UInt64 = 10_000

    /// The rank of a request; the lowest rank starts first.
    ///
    /// All waiting requests age at the same rate, so the order of two requests never changes and the rank is
    /// a constant: the time at which the request became ready, minus an amount for its priority. Requests
    /// with the same millisecond and priority start in the order of submission.
    static func of(_ request: Request, order: UInt64, now: Int64) -> UInt64 {
        let readyAt = max(now, request.begin ?? now)
        let priority = UInt64(min(1000, max(0, request.priority)))
        let milliseconds = UInt64(max(0, readyAt)) / 1_000_000
        return rank(milliseconds, priority, order)
    }

    /// The rank of a request whose dates have moved; it keeps its order among requests of the same
    /// millisecond.
    static func moved(_ rank: UInt64, of request: Request, now: Int64) -> UInt64 {
        of(request, order: rank & orderMask, now: now)
    }

    private static let orderMask: UInt64 = 0xF_FFFF

    private static func rank(_ milliseconds: UInt64, _ priority: UInt64, _ order: UInt64) -> UInt64
    {
        (milliseconds + (1000 - priority) * agingPerPriority) << 20 | order & orderMask
    }
}
