// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

/// Dates on which entries become ready.
extension PendingRequestIndex {
    /// The next date on which a request becomes due, Unix nanoseconds; that request may have been withdrawn.
    package var nextDue: Int64? { waiting.next.map { Int64(clamping: $0) } }

    /// Adds the entries to the ready heaps whose date has passed.
    package mutating func becomeDue(now: Int64) {
        while let entry = popAlarm(now: now) {
            entries.rows[entry].alarm = RequestRow.noAlarm
            enqueueIfReady(entry, now: now, isDue: true)
        }
    }

    mutating func arm(_ entry: Int, now: Int64) {
        guard let next = entries.nextDate(entry, now: now) else { return }
        let date = UInt64(max(1, next))
        let armed = entries.rows[entry].alarm
        if armed == RequestRow.noAlarm || date < armed { setAlarm(entry, at: date) }
    }

    private mutating func setAlarm(_ entry: Int, at date: UInt64) {
        let isStale = entries.rows[entry].alarm != RequestRow.noAlarm
        entries.rows[entry].alarms &+= 1
        entries.rows[entry].alarm = date
        waiting.insert(deadline: date, token: entries.rows[entry].alarmToken(entry))
        if isStale { countStaleAlarm() }
    }

    mutating func countStaleAlarm() {
        let rows = entries.rows
        waiting.forget { Self.isLive($0, $1, rows) }
    }

    private mutating func popAlarm(now: Int64) -> Int? {
        let rows = entries.rows
        return waiting.popDue(now: UInt64(max(0, now))) { Self.isLive($0, $1, rows) }
            .map { Int($0 >> 32) }
    }

    private static func isLive(_ token: UInt64, _ date: UInt64, _ rows: [RequestRow]) -> Bool {
        let number = Int(token >> 32)
        return rows[number].alarm == date && rows[number].alarmToken(number) == token
    }
}
