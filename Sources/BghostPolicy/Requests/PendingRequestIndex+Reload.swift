// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

extension PendingRequestIndex {
    /// Prepares groups and handler queues without an identifier and a run for others with their numbers.
    ///
    /// Stale elements of their heaps would otherwise become those of the new ones.
    mutating func clear(groups unusedGroups: [Int], handlerQueues unusedQueues: [Int]) {
        // The list of groups that may be ready still contains the group, and drops it later.
        for group in unusedGroups where group < groups.count {
            groups[group].ready = TimerHeap()
        }
        for queue in unusedQueues where queue < handlerQueues.count {
            handlerQueues[queue] = HandlerQueue()
        }
    }

    /// Assigns new definitions to identifiers.
    ///
    /// Pending requests wait under the new definition. A run in progress still counts in the group in which
    /// it started.
    mutating func redefine(_ changes: [(entry: Int, kind: Kind)], now: Int64) {
        var touched: Set<Int> = []
        var touchedQueues: Set<Int> = []
        for (entry, kind) in changes {
            let before = entries.kind(entry)
            makeRoom(for: kind)
            while submitted.count <= max(before.quota, kind.quota) { submitted.append(0) }
            // A handler keeps its queue when its plugin is replaced, and that changes the group.
            if before.handlerQueue != kind.handlerQueue || before.group != kind.group {
                touchedQueues.formUnion([before.handlerQueue, kind.handlerQueue])
            }
            let counted =
                entries.appendedByPlugins(entry) + (entries.rows[entry].countsInQuota ? 1 : 0)
            submitted[before.quota] -= counted
            submitted[kind.quota] += counted
            if before.group != kind.group {
                touched.formUnion([before.group, kind.group])
                let bytes = entries.heldBytes(entry)
                addHeldBytes(-bytes, ofGroup: before.group)
                addHeldBytes(bytes, ofGroup: kind.group)
            }
            entries.set(kind, of: entry)
        }
        // An entry keeps its rank when it changes its group, so its old place in the first group's
        // heap would still look valid. Rebuild the heaps of both groups, and of both queues.
        for group in touched { groups[group].ready = TimerHeap() }
        for queue in touchedQueues { handlerQueues[queue].blocked = TimerHeap() }
        if !touched.isEmpty || !touchedQueues.isEmpty {
            for entry in entries.indices where entries.isInUse(entry) {
                let kind = entries.kind(entry)
                guard touched.contains(kind.group) || touchedQueues.contains(kind.handlerQueue)
                else {
                    continue
                }
                entries.rows[entry].queuedRank = RequestRow.notQueued
                enqueueIfReady(entry, now: now)
            }
        }
        for (entry, _) in changes {
            // Another overlap may decide about a request that is blocked under its rank.
            entries.rows[entry].queuedRank = RequestRow.notQueued
            enqueueIfReady(entry, now: now)
            noteIfIdle(entry)
        }
    }
}
