// SPDX-License-Identifier: Apache-2.0

/// Forgets identifiers that nothing needs any longer.
///
/// Plugins choose the identifiers of a family, so there may be a million of them one after another. The
/// caller knows further reasons to keep one, such as a run that is being stored; it asks for idle entries at
/// the end of each event, when it has no number of an entry in hand.
extension PendingRequestIndex {
    /// Queues an entry for `nextIdle` if it has neither a request nor a run, and the manifest does not name
    /// its identifier.
    mutating func noteIfIdle(_ entry: Int) {
        guard !entries.kind(entry).isNamed, entries.isIdle(entry) else { return }
        idle.append(entry)
    }

    /// Removes an idle entry from the queue; `nil` if there are none.
    mutating func nextIdle() -> Int? {
        while let entry = idle.popLast() {
            guard entries.isInUse(entry), !entries.kind(entry).isNamed, entries.isIdle(entry)
            else { continue }
            return entry
        }
        return nil
    }

    /// Forgets an idle entry; another identifier may get its row.
    ///
    /// Its elements in the heaps are stale from now on, also for the row's next identifier: the number
    /// of an alarm only grows, and a place in the queue has a rank. If the next identifier got an equal rank, the
    /// former element would be like its own.
    mutating func release(_ entry: Int) {
        let kind = entries.kind(entry)
        if entries.rows[entry].isOfPluginEntry {
            addHeldBytes(-entries.identifierBytes(entry), ofGroup: kind.group)
        }
        dequeueIfEmpty(entry)
        let hasAlarm = entries.rows[entry].alarm != RequestRow.noAlarm
        entries.release(entry)
        if hasAlarm { countStaleAlarm() }
    }

    /// Removes an entry without a request from the heaps.
    mutating func dequeueIfEmpty(_ entry: Int) {
        guard entries.rows[entry].queuedRank != RequestRow.notQueued,
            entries.waitingCount(entry) == 0
        else { return }
        entries.rows[entry].queuedRank = RequestRow.notQueued
        countStaleRank(of: entries.kind(entry))
        // It may have been the one of its handler that comes next.
        unblockNext(of: entry)
    }
}
