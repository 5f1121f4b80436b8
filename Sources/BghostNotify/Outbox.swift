// SPDX-License-Identifier: Apache-2.0

package import BghostBase
package import BghostCalendar
package import BghostModel

/// The notifications that are not delivered yet, and those that can still be answered.
///
/// It is a value: its methods get events with their times, and append effects. Its state equals that of the
/// store if the store applies the changes in order.
package struct Outbox: Sendable {
    /// Identifies a plugin's notification.
    struct Name: Hashable {
        var plugin: String
        var id: String
    }

    struct Entry {
        var row: NotificationRow
        /// The occurrences of a repeating notification; `nil` if it does not repeat.
        var recurrence: Recurrence?
        /// Whether its delivery was counted towards the rate.
        var isCounted = false
        var flight: Flight?
        /// The alarm of its next date in the table; `nil` if it has none.
        var alarm: UInt64?

        /// Whether it, or a notification that it replaced, may have been delivered.
        var mayBeKnown: Bool {
            row.replaces || row.deliveredAt != nil || row.failures > 0 || flight != nil
        }
    }

    /// A delivery in progress.
    struct Flight {
        /// The identifier of its request's task.
        var task: String
        /// `nil` until the request is submitted.
        var request: RunID?
    }

    /// The delivery state of a plugin.
    struct Sender {
        /// The start times of its last deliveries, Unix nanoseconds, the oldest first.
        var begun: [Int64] = []
        /// Whether more notifications wait than the rate allows, so that they become a digest.
        var isHeld = false
    }

    let settings: NotificationSettings
    var entries: OutboxTable
    var keys: [Name: RunID] = [:]
    var requests: [RunID: RunID] = [:]
    var flights = 0
    var senders: [String: Sender] = [:]
    /// The number of notifications that are being stored.
    ///
    /// Changes to the notifications that they replace are not stored any more.
    private var storing: [Name: Int] = [:]
    /// When to call `advance` next, Unix nanoseconds; `nil` if nothing waits for a date.
    package internal(set) var nextDate: Int64?
    /// Whether there was an event since the last `advance`, so that it must be called again.
    package internal(set) var isStale = false

    /// The most waiting notifications of a plugin.
    static let waitingMax = 64
    /// The most delivered notifications of a plugin that are kept for answers.
    static let deliveredMax = 64
    /// The most deliveries in progress, if the delivering task is a family.
    static let flightsMax = 8

    package init(_ settings: NotificationSettings) {
        self.settings = settings
        entries = OutboxTable(expiry: Int64(clamping: settings.expiry.clampedNanoseconds))
    }

    // MARK: Posting

    /// Checks a notification and creates its row; the caller stores it and then calls `arrived`.
    ///
    /// - Parameters:
    ///   - recurrence: the occurrences of its calendar or interval; `nil` if it does not repeat.
    ///   - token: an unguessable text of letters and digits.
    package mutating func accept(
        _ content: NotificationContent,
        of plugin: String,
        recurrence: Recurrence?,
        key: RunID,
        token: String,
        now: Int64
    ) throws(NotificationFault) -> NotificationRow {
        try content.check()
        let name = Name(plugin: plugin, id: content.id)
        let old = keys[name].flatMap { entries[$0] }
        if old?.row.state != .waiting {
            let waiting = entries.entries(of: plugin).count { $0.row.state == .waiting }
            let others = storing.reduce(0) { $0 + ($1.key.plugin == plugin ? $1.value : 0) }
            guard waiting + others < Self.waitingMax else {
                throw NotificationFault(
                    .limit,
                    "\(Self.waitingMax) notifications of `\(plugin)` wait to be delivered"
                )
            }
        }
        var due = content.at == 0 ? now : content.at
        if !content.calendar.isEmpty {
            guard let first = recurrence?.next(after: now) else {
                throw NotificationFault(.bad, "its calendar never comes")
            }
            due = first
        }
        storing[name, default: 0] += 1
        return NotificationRow(
            key: key,
            plugin: plugin,
            content: content,
            token: token,
            postedAt: now,
            due: due,
            replaces: old?.mayBeKnown ?? false
        )
    }

    /// Records whether an accepted row was stored.
    package mutating func finishPost(
        _ row: NotificationRow,
        recurrence: Recurrence?,
        isStored: Bool,
        _ effects: inout [OutboxEffect]
    ) {
        let name = Name(plugin: row.plugin, id: row.content.id)
        storing[name, default: 1] -= 1
        if storing[name] == 0 { storing[name] = nil }
        let old = keys[name].flatMap { entries[$0] }
        guard isStored else {
            // The changes of the old row since then were not stored.
            let (plugin, id) = (row.plugin, row.content.id)
            store(old.map { .kept($0.row) } ?? .removed(plugin: plugin, id: id), &effects)
            return
        }
        var row = row
        if let old {
            forget(old, &effects)
            if old.mayBeKnown, !row.replaces {
                // The old notification was delivered while the new one was being stored.
                row.replaces = true
                store(.kept(row), &effects)
            }
        }
        insert(row, recurrence)
    }

    /// Withdraws a notification that is not delivered yet.
    ///
    /// - Returns: `false` if there is none.
    package mutating func withdraw(
        _ id: String,
        of plugin: String,
        _ effects: inout [OutboxEffect]
    ) -> Bool {
        guard let key = keys[Name(plugin: plugin, id: id)], let entry = entries[key],
            entry.row.state == .waiting, !entry.row.isDigest
        else { return false }
        forget(entry, &effects)
        store(.removed(plugin: plugin, id: id), &effects)
        return true
    }

    // MARK: Recovery

    /// Restores a stored row; a date that only a clock which was ahead can have set becomes an earlier one.
    package mutating func restore(
        _ row: NotificationRow,
        recurrence: Recurrence?,
        now: Int64,
        _ effects: inout [OutboxEffect]
    ) {
        var entry = Entry(row: row, recurrence: recurrence)
        entry.limit(now: now)
        insert(entry.row, entry.recurrence)
        if entry.row != row { store(.kept(entry.row), &effects) }
        if let at = entry.row.deliveredAt {
            senders[row.plugin, default: Sender()].begun.append(at)
        }
        senders[row.plugin]?.begun.sort()
    }

    /// Restores a delivery whose request an earlier daemon has submitted.
    ///
    /// - Parameter key: the idempotency key of the notification; no effect if it no longer exists.
    package mutating func adopt(request: RunID, task: String, key: String) {
        guard let id = RunID(key.prefix(26)), let entry = entries[id], entry.flight == nil,
            entry.row.state == .waiting, entry.row.idempotencyKey == key
        else { return }
        entries[id]?.flight = Flight(task: task, request: request)
        entries[id]?.isCounted = true
        requests[request] = id
        flights += 1
    }

    /// Makes the next `advance` check all dates.
    package mutating func touch() { isStale = true }

    /// The number of notifications that the calls of `advance` have looked at: their work, which tests count.
    package var visits: Int { entries.visits }

    // MARK: Queries

    /// The notifications of a plugin that are not delivered yet, as a JSON array, the oldest first.
    package func pending(of plugin: String) -> String {
        var writer = JSONWriter()
        writer.array { writer in
            let rows = entries.entries(of: plugin).map(\.row).sorted { $0.key < $1.key }
            for row in rows where row.state == .waiting && !row.isDigest {
                row.write(to: &writer)
            }
        }
        return writer.text
    }

    /// All notifications, the oldest first.
    package var rows: [NotificationRow] {
        entries.values.map(\.row).sorted { $0.key < $1.key }
    }

    /// Whether a delivery of a notification is in progress.
    package func isUnderWay(_ key: RunID) -> Bool { entries[key]?.flight != nil }

    /// The notifications with an id, of one plugin or of all plugins.
    package func find(id: String, plugin: String?) -> [NotificationRow] {
        rows.filter { row in
            row.publicID.isSameText(as: id) && (plugin.map { $0 == row.plugin } ?? true)
        }
    }

    /// The notification that a link belongs to.
    ///
    /// It compares every row completely, so that the duration reveals nothing about the tokens.
    package func find(token: String) -> NotificationRow? {
        let wanted = Array(token.utf8)
        guard wanted.count == Self.tokenBytes else { return nil }
        var found: NotificationRow?
        for entry in entries.values {
            let own = Array(entry.row.token.utf8)
            guard own.count == wanted.count else { continue }
            let difference = zip(own, wanted).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) }
            if difference == 0 { found = entry.row }
        }
        return found
    }

    /// The length of a token, bytes.
    package static let tokenBytes = 32

    // MARK: Entries

    mutating func store(_ change: NotificationChange, _ effects: inout [OutboxEffect]) {
        let name: Name =
            switch change {
            case .kept(let row): Name(plugin: row.plugin, id: row.content.id)
            case .removed(let plugin, let id): Name(plugin: plugin, id: id)
            }
        // The store has, or will have, a newer row with this id, which must not be overwritten.
        guard storing[name] == nil else { return }
        effects.append(.store(change))
    }

    mutating func insert(_ row: NotificationRow, _ recurrence: Recurrence?) {
        entries[row.key] = Entry(row: row, recurrence: recurrence)
        keys[Name(plugin: row.plugin, id: row.content.id)] = row.key
        isStale = true
    }

    /// Removes an entry, and withdraws the request of its delivery; does not change the store.
    mutating func forget(_ entry: Entry, _ effects: inout [OutboxEffect]) {
        let key = entry.row.key
        if let flight = land(key), let request = flight.request {
            effects.append(.withdraw(request: request, task: flight.task))
        }
        entries[key] = nil
        keys[Name(plugin: entry.row.plugin, id: entry.row.content.id)] = nil
        isStale = true
    }

    /// Removes a delivery from those in progress.
    @discardableResult
    mutating func land(_ key: RunID) -> Flight? {
        guard let flight = entries[key]?.flight else { return nil }
        entries[key]?.flight = nil
        if let request = flight.request { requests[request] = nil }
        flights -= 1
        isStale = true
        return flight
    }
}
