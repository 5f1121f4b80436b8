// SPDX-License-Identifier: Apache-2.0

package import BghostBase
internal import BghostCalendar
internal import BghostModel

/// Deliveries: starts those that are due, and retries those that failed.
extension Outbox {
    /// The delay after the first failure, which doubles with each further one, and its maximum; nanoseconds.
    private static let backoffBase: UInt64 = 5_000_000_000
    private static let backoffMax: UInt64 = 3_600_000_000_000
    /// The maximum delay that the delivering handler can request, nanoseconds.
    static let retryAfterMax: UInt64 = 86_400_000_000_000
    /// The delay after a refusal because of a limit, nanoseconds.
    private static let roomDelay: Int64 = 1_000_000_000
    private static let faultBytesMax = 512

    /// Starts the deliveries that are due, and drops expired notifications.
    ///
    /// - Parameters:
    ///   - now: Unix nanoseconds.
    ///   - key: creates the key of a digest.
    package mutating func advance(
        now: Int64,
        key: () -> RunID,
        _ effects: inout [OutboxEffect]
    ) {
        isStale = false
        expire(now: now, &effects)
        trim(&effects)
        let period = Int64(clamping: settings.rate.per.clampedNanoseconds)
        for plugin in senders.keys {
            guard let begun = senders[plugin]?.begun else { continue }
            // After a restart under an earlier clock, start dates in the future must not block a plugin.
            let kept = begun.map { min($0, now) }.filter { $0 > now.subtractingClamped(period) }
            senders[plugin]?.begun = kept
            if kept.isEmpty, senders[plugin]?.isHeld == false { senders[plugin] = nil }
        }
        let eligible = entries.eligible(now: now).sorted(by: Self.goesFirst)
        for row in eligible where entries[row.key]?.isCounted == true {
            begin(row.key, now: now, &effects)
        }
        let new = eligible.filter { entries[$0.key]?.isCounted == false }
        let waiting = Set(new.map(\.plugin))
        // If all waiting notifications were withdrawn, there is nothing to summarize.
        for plugin in senders.keys where !waiting.contains(plugin) {
            senders[plugin]?.isHeld = false
        }
        for plugin in waiting.sorted() {
            beginNew(new.filter { $0.plugin == plugin }, of: plugin, now: now, key, &effects)
        }
        nextDate = nextDate(now: now, period: period)
        // The calls above may have set it, for instance for a digest; all entries are checked already.
        isStale = false
    }

    /// The order of deliveries: by level, and then by date.
    private static func goesFirst(_ a: NotificationRow, _ b: NotificationRow) -> Bool {
        (b.content.level.rawValue, a.due, a.key) < (a.content.level.rawValue, b.due, b.key)
    }

    /// Starts deliveries that count towards the rate.
    private mutating func beginNew(
        _ rows: [NotificationRow],
        of plugin: String,
        now: Int64,
        _ key: () -> RunID,
        _ effects: inout [OutboxEffect]
    ) {
        var sender = senders[plugin, default: Sender()]
        defer { senders[plugin] = sender }
        var room = settings.rate.count - sender.begun.count
        var rows = rows[...]
        if sender.isHeld, room > 0, rows.count > 1, !rows.contains(where: \.isDigest),
            keys[Name(plugin: plugin, id: "")] == nil
        {
            let digest = digest(Array(rows), of: plugin, key: key(), now: now, &effects)
            insert(digest, nil)
            store(.kept(digest), &effects)
            rows = [digest]
        }
        while room > 0, let row = rows.first, flights < mostFlights {
            rows.removeFirst()
            room -= 1
            sender.begun.append(now)
            entries[row.key]?.isCounted = true
            begin(row.key, now: now, &effects)
        }
        sender.isHeld = room <= 0 && !rows.isEmpty
    }

    private var mostFlights: Int { settings.task.isFamily ? Self.flightsMax : 1 }

    private mutating func begin(_ key: RunID, now: Int64, _ effects: inout [OutboxEffect]) {
        guard flights < mostFlights, let row = entries[key]?.row else { return }
        let task = settings.task.member("\(key)")
        entries[key]?.flight = Flight(task: task, request: nil)
        flights += 1
        effects.append(
            .deliver(
                key: key,
                task: task,
                parameters: row.parameters(actionPort: settings.actionPort)
            )
        )
    }

    // MARK: Ends of deliveries

    /// Records that the request of a delivery was submitted.
    package mutating func submitted(_ key: RunID, request: RunID) {
        guard entries[key]?.flight != nil else { return }
        entries[key]?.flight?.request = request
        requests[request] = key
    }

    /// Records that the request of a delivery was refused.
    ///
    /// - Parameter isFull: whether it was refused only because of a limit; then it is not a failure.
    package mutating func refused(
        _ key: RunID,
        _ message: String,
        isFull: Bool,
        now: Int64,
        random: (UInt64) -> UInt64,
        _ effects: inout [OutboxEffect]
    ) {
        guard land(key) != nil else { return }
        if isFull {
            entries[key]?.row.notBefore = now.addingClamped(Self.roomDelay)
        } else {
            fail(key, DeliveryEnd(succeeded: false, message: message), now: now, random, &effects)
        }
    }

    /// Whether this is the request of a delivery.
    package func knows(request: RunID) -> Bool { requests[request] != nil }

    /// Records that the request of a delivery has ended.
    package mutating func ended(
        request: RunID,
        _ end: DeliveryEnd,
        now: Int64,
        random: (UInt64) -> UInt64,
        _ effects: inout [OutboxEffect]
    ) {
        guard let key = requests[request], land(key) != nil, let entry = entries[key] else {
            return
        }
        guard end.succeeded else { return fail(key, end, now: now, random, &effects) }
        effects.append(
            .note(.init(event: .delivered, plugin: entry.row.plugin, message: entry.row.label))
        )
        entries[key]?.row.deliveredAt = now
        if entry.row.isDigest {
            forget(entry, &effects)
            store(.removed(plugin: entry.row.plugin, id: ""), &effects)
        } else {
            scheduleNext(key, now: now)
            if let row = entries[key]?.row { store(.kept(row), &effects) }
        }
    }

    /// Prepares a delivered notification for its next occurrence, or for answers.
    mutating func scheduleNext(_ key: RunID, now: Int64) {
        guard let entry = entries[key] else { return }
        var row = entry.row
        row.failures = 0
        row.notBefore = 0
        row.fault = ""
        row.replaces = row.replaces || row.deliveredAt != nil
        // A clock that was set back meanwhile shows an earlier time than the date that was served. That of an
        // interval lies ahead by more than a step only if a restart has limited it.
        let isServed =
            !row.content.calendar.isEmpty
            || row.due.subtractingClamped(now) < ClockSteps.stepMin
        if let next = entry.recurrence?.next(after: now, besides: isServed ? row.due : nil) {
            row.due = next
            row.occurrence += 1
        } else {
            row.state = .delivered
        }
        entries[key]?.row = row
        entries[key]?.isCounted = false
        isStale = true
    }

    private mutating func fail(
        _ key: RunID,
        _ end: DeliveryEnd,
        now: Int64,
        _ random: (UInt64) -> UInt64,
        _ effects: inout [OutboxEffect]
    ) {
        guard var row = entries[key]?.row else { return }
        row.failures += 1
        row.fault = String(decoding: end.message.utf8.prefix(Self.faultBytesMax), as: UTF8.self)
        let shift = UInt64(min(row.failures - 1, 16))
        let delay = min(Self.backoffMax, Self.backoffBase << shift)
        let wait = end.retryAfter.map { min($0, Self.retryAfterMax) } ?? delay + random(delay / 4)
        row.notBefore = now.addingClamped(Int64(clamping: wait))
        entries[key]?.row = row
        store(.kept(row), &effects)
        let again = DurationText.of(nanoseconds: wait)
        effects.append(
            .note(
                .init(
                    event: .failed,
                    plugin: row.plugin,
                    message: "\(row.label): \(row.fault); it is tried again in \(again)"
                )
            )
        )
    }

    // MARK: Expiry

    private mutating func expire(now: Int64, _ effects: inout [OutboxEffect]) {
        while let key = entries.nextExpired(now: now), let entry = entries[key] {
            let row = entry.row
            let isLate = row.state == .waiting
            if isLate {
                effects.append(
                    .note(.init(event: .expired, plugin: row.plugin, message: row.expiryText))
                )
            }
            if isLate, entry.recurrence?.next(after: max(row.due, now)) != nil {
                skip(row.key, now: now)
                if let row = entries[row.key]?.row { store(.kept(row), &effects) }
            } else {
                forget(entry, &effects)
                store(.removed(plugin: row.plugin, id: row.content.id), &effects)
            }
        }
    }

    /// Prepares a repeating notification for its next occurrence after a missed one.
    private mutating func skip(_ key: RunID, now: Int64) {
        guard let entry = entries[key],
            let latest = entry.recurrence?.latest(atOrBefore: now),
            latest > entry.row.due
        else { return scheduleNext(key, now: now) }
        // The latest past occurrence is still to be delivered.
        scheduleNext(key, now: latest.subtractingClamped(1))
    }

    /// Limits the number of delivered notifications per plugin.
    private mutating func trim(_ effects: inout [OutboxEffect]) {
        for plugin in entries.takeGrown() {
            let delivered = entries.entries(of: plugin).filter { $0.row.state == .delivered }
            guard delivered.count > Self.deliveredMax else { continue }
            let oldest = delivered.sorted { ($0.row.deliveredAt ?? 0) < ($1.row.deliveredAt ?? 0) }
            for entry in oldest.dropLast(Self.deliveredMax) {
                forget(entry, &effects)
                store(.removed(plugin: plugin, id: entry.row.content.id), &effects)
            }
        }
    }

    // MARK: The next date

    private mutating func nextDate(now: Int64, period: Int64) -> Int64? {
        entries.settle(now: now)
        let ends = senders.values.compactMap { sender in
            sender.isHeld ? sender.begun.first?.addingClamped(period) : nil
        }
        return (ends + [entries.nextDate()].compactMap { $0 }).min()
    }
}

extension Outbox.Entry {
    /// Whether it may expire during its delivery.
    ///
    /// The delivery may wait forever, for instance for a plugin that cannot be loaded. A repeating
    /// notification does not expire during a delivery, which belongs to the occurrence that it started for.
    var mayExpire: Bool { flight == nil || recurrence == nil }

    /// When its delivery may start, Unix nanoseconds.
    var start: Int64 { max(row.due, row.notBefore) }

    func isDue(now: Int64) -> Bool {
        flight == nil && row.state == .waiting && start <= now
    }
}

extension NotificationRow {
    /// The description of a notification for the log.
    var label: String {
        let shown = PrintableText.escaped(String(publicID.prefix(80)))
        return "notification `\(shown)` of `\(plugin)`"
    }

    fileprivate var expiryText: String {
        let why = fault.isEmpty ? "nothing delivered it" : fault
        return "\(label) is given up after \(failures) failures: \(why)"
    }
}

extension IdentifierPattern {
    /// The identifier itself, or the member of the family with this name.
    func member(_ name: String) -> String {
        isFamily ? String(description.dropLast()) + name : description
    }
}
