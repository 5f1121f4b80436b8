// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostCalendar
internal import BghostModel

/// The notifications of an outbox, those that are due, and a heap of the next dates of the others.
///
/// A change of an entry, and a date that comes, cost O(log n) in the notifications of all plugins: one plugin that
/// posts in a loop makes no work for those of others.
struct OutboxTable: Sendable {
    private var entries: [RunID: Outbox.Entry] = [:]
    private var keysOfPlugin: [String: Set<RunID>] = [:]
    /// Entries that were changed since they were last looked at.
    private var changed: Set<RunID> = []
    /// Entries whose delivery may start, as far as their dates are concerned.
    private var due: Set<RunID> = []
    private var alarms = TimerHeap()
    /// The keys of live alarms, by their tokens.
    private var keysOfAlarms: [UInt64: RunID] = [:]
    private var lastToken: UInt64 = 0
    /// The plugins that got delivered notifications since `takeGrown`.
    private var grown: Set<String> = []
    /// How long a notification is kept, nanoseconds.
    private let expiry: Int64
    /// The number of entries that `nextExpired` and `settle` have looked at: their work, which tests count.
    private(set) var visits = 0

    init(expiry: Int64) {
        self.expiry = expiry
    }

    var keys: some Collection<RunID> { entries.keys }
    var values: some Collection<Outbox.Entry> { entries.values }

    /// The notifications of a plugin, in no order.
    func entries(of plugin: String) -> [Outbox.Entry] {
        keysOfPlugin[plugin]?.compactMap { entries[$0] } ?? []
    }

    /// The notification with this key; setting `nil` removes it.
    subscript(key: RunID) -> Outbox.Entry? {
        get { entries[key] }
        set {
            if let old = entries[key] { disarm(old) }
            guard var new = newValue else {
                remove(key)
                return
            }
            if new.row.state == .delivered, entries[key]?.row.state != .delivered {
                grown.insert(new.row.plugin)
            }
            new.alarm = nil
            entries[key] = new
            keysOfPlugin[new.row.plugin, default: []].insert(key)
            changed.insert(key)
        }
    }

    private mutating func remove(_ key: RunID) {
        changed.remove(key)
        due.remove(key)
        guard let plugin = entries.removeValue(forKey: key)?.row.plugin else { return }
        keysOfPlugin[plugin]?.remove(key)
        if keysOfPlugin[plugin]?.isEmpty == true { keysOfPlugin[plugin] = nil }
    }

    /// The plugins that got delivered notifications since the last call.
    mutating func takeGrown() -> Set<String> {
        defer { grown = [] }
        return grown
    }

    // MARK: Dates

    /// A notification that has expired, which the caller removes or changes; `nil` if there is none.
    mutating func nextExpired(now: Int64) -> RunID? {
        while let key = changed.popFirst() ?? popAlarm(now: now) {
            guard let entry = entries[key] else { continue }
            if entry.mayExpire, end(of: entry) <= now { return key }
            classify(entry, now: now)
        }
        return nil
    }

    /// The notifications whose delivery may start, in no order.
    ///
    /// A clock that was set back may show a time before the date of one that was due.
    mutating func eligible(now: Int64) -> [NotificationRow] {
        var rows: [NotificationRow] = []
        for key in due {
            guard let entry = entries[key] else { continue }
            if entry.isDue(now: now) { rows.append(entry.row) } else { changed.insert(key) }
        }
        return rows
    }

    /// Finds the next date of each entry that has changed.
    mutating func settle(now: Int64) {
        while let key = changed.popFirst() {
            if let entry = entries[key] { classify(entry, now: now) }
        }
    }

    /// The next date on which an entry expires or may start, Unix nanoseconds; `nil` if there is none.
    mutating func nextDate() -> Int64? {
        withAlarms { alarms, keys in
            alarms.first { token, _ in keys[token] != nil }.map { Self.date($0.deadline) }
        }
    }

    private mutating func classify(_ entry: Outbox.Entry, now: Int64) {
        visits += 1
        let key = entry.row.key
        if entry.isDue(now: now) { due.insert(key) } else { due.remove(key) }
        var dates = entry.mayExpire ? [end(of: entry)] : []
        // A due entry that has not started waits for the end of a delivery or for the rate.
        if entry.mayExpire, entry.row.state == .waiting, entry.flight == nil, entry.start > now {
            dates.append(entry.start)
        }
        disarm(entry)
        guard let date = dates.min() else { return }
        lastToken += 1
        keysOfAlarms[lastToken] = key
        entries[key]?.alarm = lastToken
        alarms.insert(deadline: Self.deadline(date), token: lastToken)
    }

    private mutating func popAlarm(now: Int64) -> RunID? {
        let token = withAlarms { alarms, keys in
            alarms.popDue(now: Self.deadline(now)) { token, _ in keys[token] != nil }
        }
        guard let token, let key = keysOfAlarms.removeValue(forKey: token) else { return nil }
        entries[key]?.alarm = nil
        return key
    }

    private mutating func disarm(_ entry: Outbox.Entry) {
        guard let token = entry.alarm, keysOfAlarms.removeValue(forKey: token) != nil else {
            return
        }
        withAlarms { alarms, keys in alarms.forget { token, _ in keys[token] != nil } }
    }

    /// Takes the heap out meanwhile, so that its questions do not copy the keys.
    private mutating func withAlarms<Result>(
        _ body: (inout TimerHeap, [UInt64: RunID]) -> Result
    ) -> Result {
        var heap = TimerHeap()
        swap(&heap, &alarms)
        defer { swap(&heap, &alarms) }
        return body(&heap, keysOfAlarms)
    }

    /// When a notification expires, Unix nanoseconds.
    private func end(of entry: Outbox.Entry) -> Int64 {
        guard entry.row.state == .waiting else {
            return (entry.row.deliveredAt ?? entry.row.due).addingClamped(expiry)
        }
        let end = max(entry.row.due, entry.row.postedAt).addingClamped(expiry)
        // The next occurrence of a repeating notification replaces this one.
        return min(end, entry.recurrence?.next(after: entry.row.due) ?? end)
    }

    /// The heap's deadlines have the order of dates, also of those before 1970.
    private static func deadline(_ date: Int64) -> UInt64 { UInt64(bitPattern: date) ^ 1 << 63 }
    private static func date(_ deadline: UInt64) -> Int64 { Int64(bitPattern: deadline ^ 1 << 63) }
}
