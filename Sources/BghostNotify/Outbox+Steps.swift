// SPDX-License-Identifier: Apache-2.0

package import BghostBase
internal import BghostCalendar

/// Steps of the wall clock: what counts from an event does not follow them, what is a date does.
extension Outbox {
    /// Moves the times that count from an event, because the wall clock was set.
    ///
    /// The cost is O(n) in the notifications.
    ///
    /// - Parameters:
    ///   - step: how far the clock was set, nanoseconds.
    ///   - now: what it shows since, Unix nanoseconds.
    package mutating func followClock(
        by step: Int64,
        now: Int64,
        _ effects: inout [OutboxEffect]
    ) {
        for key in entries.keys.sorted() { followClock(key, by: step, now: now, &effects) }
        // A window of the rate may end early, but not late.
        for (plugin, sender) in senders where step < 0 {
            senders[plugin]?.begun = sender.begun.map { $0.addingClamped(step) }
        }
        isStale = true
    }

    /// Moves the times of one notification; no effect if there is none with this key.
    package mutating func followClock(
        _ key: RunID,
        by step: Int64,
        now: Int64,
        _ effects: inout [OutboxEffect]
    ) {
        guard var entry = entries[key] else { return }
        entry.follow(step, now: now)
        guard entry.row != entries[key]?.row else { return }
        entries[key] = entry
        isStale = true
        store(.kept(entry.row), &effects)
    }
}

extension Outbox.Entry {
    /// Whether its delivery counts from its posting or from the one before, and not from a date.
    ///
    /// A first date at most one interval after the posting is the end of the first interval.
    private var isRelative: Bool {
        let content = row.content
        guard content.calendar.isEmpty else { return false }
        return content.at == 0
            || content.every > 0
                && (row.occurrence > 0 || row.due.subtractingClamped(row.postedAt) <= content.every)
    }

    /// Moves what counts from an event by a step of the clock, and finds the next date of a calendar again.
    fileprivate mutating func follow(_ step: Int64, now: Int64) {
        // One whose date has come waits for its delivery only.
        let hasCome = row.content.calendar.isEmpty && row.due <= now.subtractingClamped(step)
        if isRelative || hasCome {
            row.due = row.due.addingClamped(step)
            row.postedAt = row.postedAt.addingClamped(step)
            recurrence = recurrence?.moved(by: step)
        } else {
            findDate(now: now)
        }
        if row.notBefore > 0 { row.notBefore = row.notBefore.addingClamped(step) }
        row.deliveredAt = row.deliveredAt?.addingClamped(step)
    }

    /// Sets a calendar's next date, which a clock that was ahead has put off.
    private mutating func findDate(now: Int64) {
        guard row.state == .waiting, flight == nil, row.due > now, let recurrence else { return }
        let served = row.deliveredAt == nil ? nil : recurrence.last(before: row.due)
        guard let next = recurrence.next(after: now, besides: served) else { return }
        row.due = min(row.due, next)
    }

    /// Limits the times of a stored notification to what they may be after a restart.
    ///
    /// The clock may have been set meanwhile, by a step that cannot be seen.
    mutating func limit(now: Int64) {
        let latest = now.addingClamped(row.content.every)
        if !isRelative {
            findDate(now: now)
        } else if row.due > latest {
            recurrence = recurrence?.moved(by: latest.subtractingClamped(row.due))
            row.due = latest
        }
        row.postedAt = min(row.postedAt, now)
        // No attempt waits longer.
        let delay = Int64(clamping: Outbox.retryAfterMax)
        row.notBefore = min(row.notBefore, now.addingClamped(delay))
        row.deliveredAt = row.deliveredAt.map { min($0, now) }
    }
}

extension Recurrence {
    /// The first time after an instant that is not a certain one, which was served.
    func next(after instant: Int64, besides served: Int64?) -> Int64? {
        guard let next = next(after: instant), next == served else {
            return self.next(after: instant)
        }
        return self.next(after: next)
    }
}
