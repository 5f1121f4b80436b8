// SPDX-License-Identifier: Apache-2.0

/// The notifications that people have not been told of yet, and those that they may still answer.
///
/// A value: it takes what has happened and the moment of it, and appends what is to be done. It is
/// right about what the store holds as long as the store keeps its changes in their order.
package struct Outbox: Sendable {
    /// Where a plugin's notification is found.
    struct Name: Hashable {
        var plugin: String
        var id: String
    }

    struct Entry {
        var row: NotificationRow
        /// When it comes again; `nil` for one that comes once.
        var recurrence: Recurrence?
        /// Whether it has been counted against the rate.
        var isCounted = false
        var flight: Flight?

        /// Whether people may have been told of it, or of one that it replaced.
        var mayBeKnown: Bool {
            row.replaces || row.deliveredAt != nil || row.failures > 0 || flight != nil
        }
    }

    /// A delivery under way.
    struct Flight {
        /// The identifier under which it was submitted.
        var task: String
        /// `nil` until its request is made.
        var request: RunID?
    }

    /// What is known of a plugin.
    struct Sender {
        /// When its last deliveries began, Unix nanoseconds, the oldest first.
        var begun: [Int64] = []
        /// More than the rate allows wait, so that they are told of together.
        var isHeld = false
    }

    package let settings: NotificationSettings
    var entries: [RunID: Entry] = [:]
    var keys: [Name: RunID] = [:]
    var requests: [RunID: RunID] = [:]
    var flights = 0
    var senders: [String: Sender] = [:]
    /// On their way to the store.
    ///
    /// What becomes of those that they replace is not stored any more.
    private var arriving: [Name: Int] = [:]
    /// When something is to be done, Unix nanoseconds; `nil` if nothing is.
    package internal(set) var nextDate: Int64?
    /// Whether something has happened since `advance`, which is to be called then.
    package internal(set) var isStale = false

    /// How many of a plugin's notifications may wait.
    package static let waitingMax = 64
    /// How many of a plugin's that were delivered are kept for answers.
    static let deliveredMax = 64
    /// How many deliveries may be under way where the task is a family.
    static let flightsMax = 8

    package init(_ settings: NotificationSettings) {
        self.settings = settings
    }

    // MARK: Posting

    /// Checks what a plugin posts and makes the row that is to be stored; `arrived` is told of how
    /// that went.
    ///
    /// - Parameters:
    ///   - recurrence: what its calendar or interval says; `nil` for one that comes once.
    ///   - token: unguessable, letters and digits.
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
            let waiting = entries.values.count {
                $0.row.plugin == plugin && $0.row.state == .waiting
            }
            let others = arriving.reduce(0) { $0 + ($1.key.plugin == plugin ? $1.value : 0) }
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
        arriving[name, default: 0] += 1
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

    /// A row that was accepted has been stored, or could not be.
    package mutating func arrived(
        _ row: NotificationRow,
        recurrence: Recurrence?,
        isStored: Bool,
        _ effects: inout [OutboxEffect]
    ) {
        let name = Name(plugin: row.plugin, id: row.content.id)
        arriving[name, default: 1] -= 1
        if arriving[name] == 0 { arriving[name] = nil }
        let old = keys[name].flatMap { entries[$0] }
        guard isStored else {
            // What became of it meanwhile was not stored.
            let (plugin, id) = (row.plugin, row.content.id)
            store(old.map { .kept($0.row) } ?? .removed(plugin: plugin, id: id), &effects)
            return
        }
        var row = row
        if let old {
            forget(old, &effects)
            if old.mayBeKnown, !row.replaces {
                // It went out while this one was on its way.
                row.replaces = true
                store(.kept(row), &effects)
            }
        }
        insert(row, recurrence)
    }

    /// Withdraws one that is not delivered yet.
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

    /// Takes over what the store held.
    package mutating func takeOver(_ row: NotificationRow, recurrence: Recurrence?) {
        insert(row, recurrence)
        if let at = row.deliveredAt { senders[row.plugin, default: Sender()].begun.append(at) }
        senders[row.plugin]?.begun.sort()
    }

    /// Takes over a request that the daemon before this one submitted: it delivers the notification
    /// of this idempotency key, if there still is one.
    package mutating func adopt(request: RunID, task: String, key: String) {
        guard let id = RunID(key.prefix(26)), let entry = entries[id], entry.flight == nil,
            entry.row.state == .waiting, entry.row.idempotencyKey == key
        else { return }
        entries[id]?.flight = Flight(task: task, request: request)
        entries[id]?.isCounted = true
        requests[request] = id
        flights += 1
    }

    /// Has the next `advance` look at all dates.
    package mutating func touch() { isStale = true }

    // MARK: Questions

    /// A plugin's notifications that are not delivered yet, as a JSON array, the oldest first.
    package func pending(of plugin: String) -> String {
        var writer = JSONWriter()
        writer.array { writer in
            for row in rows where row.plugin == plugin && row.state == .waiting && !row.isDigest {
                row.write(to: &writer)
            }
        }
        return writer.text
    }

    /// All of them, the oldest first.
    package var rows: [NotificationRow] {
        entries.values.map(\.row).sorted { $0.key < $1.key }
    }

    /// Whether a delivery of a notification is under way.
    package func isUnderWay(_ key: RunID) -> Bool { entries[key]?.flight != nil }

    /// Those of an id, of one plugin or of any.
    package func find(id: String, plugin: String?) -> [NotificationRow] {
        rows.filter { row in
            row.publicID.isSameText(as: id) && (plugin.map { $0 == row.plugin } ?? true)
        }
    }

    /// The one that a link belongs to.
    ///
    /// Every row is compared to the end, so that how long it takes tells nothing of the tokens.
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

    /// The length of a token.
    package static let tokenBytes = 32

    // MARK: Entries

    mutating func store(_ change: NotificationChange, _ effects: inout [OutboxEffect]) {
        let name: Name =
            switch change {
            case .kept(let row): Name(plugin: row.plugin, id: row.content.id)
            case .removed(let plugin, let id): Name(plugin: plugin, id: id)
            }
        // A newer one of this id is in the store, or will be, and must not be overwritten.
        guard arriving[name] == nil else { return }
        effects.append(.store(change))
    }

    mutating func insert(_ row: NotificationRow, _ recurrence: Recurrence?) {
        entries[row.key] = Entry(row: row, recurrence: recurrence)
        keys[Name(plugin: row.plugin, id: row.content.id)] = row.key
        isStale = true
    }

    /// Drops an entry, and its delivery with it if that has not begun; the store is not told.
    mutating func forget(_ entry: Entry, _ effects: inout [OutboxEffect]) {
        let key = entry.row.key
        if let flight = land(key), let request = flight.request {
            effects.append(.withdraw(request: request, task: flight.task))
        }
        entries[key] = nil
        keys[Name(plugin: entry.row.plugin, id: entry.row.content.id)] = nil
        isStale = true
    }

    /// Takes a delivery off the list of those under way.
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
