// SPDX-License-Identifier: Apache-2.0

internal import BghostCore
internal import BghostLinux
internal import BghostStore

/// The outbox with the host's additions: random numbers, keys and retry delays.
struct HostOutbox {
    var outbox: Outbox
    /// The retry delay that a delivery requested, in nanoseconds, until its run is recorded.
    var retryAfter: [RunID: UInt64] = [:]
    var isAdvancing = false
    private var ids = RunIDSource()

    private static let zones = SystemZones { try ZoneTable(name: $0, tzif: $1) }

    init(_ settings: NotificationSettings) {
        outbox = Outbox(settings)
    }

    /// A unique key for a notification.
    mutating func nextKey(_ now: Int64) -> RunID {
        var random = SystemRandomNumberGenerator()
        return ids.next(unixMilliseconds: UInt64(clamping: now / 1_000_000)) { random.next() }
    }

    /// Starts the deliveries that are due.
    mutating func advance(now: Int64, _ effects: inout [OutboxEffect]) {
        // Use a copy in the closure, because `advance` has exclusive access to the outbox.
        var ids = ids
        var random = SystemRandomNumberGenerator()
        outbox.advance(
            now: now,
            key: {
                ids.next(unixMilliseconds: UInt64(clamping: now / 1_000_000)) { random.next() }
            },
            &effects
        )
        self.ids = ids
    }

    /// A secret token for the links of a notification.
    static func token() -> String {
        var random = SystemRandomNumberGenerator()
        let digits = Array("0123456789abcdef".utf8)
        let bytes = (0..<Outbox.tokenBytes).map { _ in digits[Int(random.next() & 15)] }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The recurrence of a notification; `nil` if it is delivered once.
    static func recurrence(
        _ content: NotificationContent,
        postedAt: Int64,
        zone: ZoneTable
    ) throws(NotificationFault) -> Recurrence? {
        do {
            if !content.calendar.isEmpty {
                let expression = try CalendarExpression(content.calendar)
                let zone = content.timeZone.isEmpty ? zone : try zones.zone(content.timeZone)
                return try .calendar(
                    expression,
                    zone: zone,
                    minInterval: NotificationContent.everyMin
                )
            }
            guard content.every > 0 else { return nil }
            return try .every(
                content.every,
                anchor: content.at == 0 ? postedAt : content.at,
                minInterval: NotificationContent.everyMin
            )
        } catch {
            throw NotificationFault(.bad, "it cannot be repeated like this: \(error)")
        }
    }
}
