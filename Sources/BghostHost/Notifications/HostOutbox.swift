// SPDX-License-Identifier: Apache-2.0

internal import BghostCore
internal import BghostLinux
internal import BghostStore

/// The outbox and what the host adds to it: chance, names, and what runs have said.
struct HostOutbox {
    var outbox: Outbox
    /// What a delivery said about its next attempt, nanoseconds, until its run has been recorded.
    var retryAfter: [RunID: UInt64] = [:]
    var isAdvancing = false
    private var ids = RunIDSource()

    private static let zones = SystemZones { try ZoneTable(name: $0, tzif: $1) }

    init(_ settings: NotificationSettings) {
        outbox = Outbox(settings)
    }

    /// A key that no other notification has.
    mutating func nextKey(_ now: Int64) -> RunID {
        var random = SystemRandomNumberGenerator()
        return ids.next(unixMilliseconds: UInt64(clamping: now / 1_000_000)) { random.next() }
    }

    /// Begins what is due.
    mutating func advance(now: Int64, _ effects: inout [OutboxEffect]) {
        // Apart, for the outbox is being changed meanwhile.
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

    /// What only those know who were given a link.
    static func token() -> String {
        var random = SystemRandomNumberGenerator()
        let digits = Array("0123456789abcdef".utf8)
        let bytes = (0..<Outbox.tokenBytes).map { _ in digits[Int(random.next() & 15)] }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// When a notification comes again and again; `nil` if it comes once.
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
