// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

/// Parses times to come, as operators write them.
package enum FutureTime {
    /// What is accepted, for messages.
    package static let forms =
        "a date such as 2026-11-21T03:00:00Z or 2026-11-21 03:00, or a time of the next 24 hours such"
        + " as 03:00"

    /// Parses a time.
    ///
    /// A time without an offset is one of the zone. `03:00` is the next such time after now. A time that the
    /// clock skips is when it is put forward; of one that it shows twice, the first.
    ///
    /// - Parameter now: Unix nanoseconds.
    /// - Returns: Unix nanoseconds, which may be over; `nil` for other texts.
    package static func parse(_ text: String, now: Int64, in zone: ZoneTable) -> Int64? {
        if let exact = Timestamp.unixNanoseconds(text) { return exact }
        let seconds = Timestamp.floorDivide(now, 1_000_000_000)
        if let time = PastTime.timeOfDay(text[...]) {
            let day = Timestamp.floorDivide(seconds + zone.offset(at: seconds), 86_400)
            let today = instant(day * 86_400 + time, in: zone)
            let next =
                today.flatMap { $0 > seconds ? $0 : nil }
                ?? instant((day + 1) * 86_400 + time, in: zone)
            return next.flatMap(PastTime.nanoseconds)
        }
        guard let local = PastTime.date(text) else { return nil }
        return instant(local, in: zone).flatMap(PastTime.nanoseconds)
    }

    /// - Returns: Unix seconds.
    private static func instant(_ local: Int64, in zone: ZoneTable) -> Int64? {
        switch zone.match(local: local) {
        case .once(let instant), .twice(let instant, _): instant
        case .skipped(let change, _): change
        case nil: nil
        }
    }
}
