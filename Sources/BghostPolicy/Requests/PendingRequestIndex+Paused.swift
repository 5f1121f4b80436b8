// SPDX-License-Identifier: Apache-2.0

internal import BghostModel

/// Entries whose requests wait for the end of a pause.
extension PendingRequestIndex {
    /// Handles a selected entry that is paused: the start of its schedule that is due does not happen, all
    /// else waits until ``takePaused()`` returns the entry.
    ///
    /// A retry goes first while it waits, so the request of the schedule may not be the selected one.
    ///
    /// - Returns: the request of the schedule; `nil` if none is due.
    mutating func hold(paused entry: Int, now: Int64) -> Request? {
        paused.insert(entry)
        defer {
            arm(entry, now: now)
            unblockNext(of: entry)
        }
        guard
            entries.rows[entry].dates?.isDue(
                delayedUntil: entries.extras(entry)?.delayedUntil,
                now: now
            ) == true,
            let pending = entries.pending(entry), pending.scheduledTime != nil
        else { return nil }
        return withdraw(entry: entry)
    }

    /// The entries that waited for the end of a pause since the last call; their order is that of their numbers.
    mutating func takePaused() -> [Int] {
        defer { paused = [] }
        return paused.sorted()
    }
}
