// SPDX-License-Identifier: Apache-2.0

extension PendingRequestIndex {
    /// Assigns new definitions to identifiers.
    ///
    /// Pending requests wait under the new definition. A run in progress still counts in the group in which
    /// it started.
    mutating func redefine(_ changes: [(entry: Int, kind: Kind)], now: Int64) {
        var touched: Set<Int> = []
        for (entry, kind) in changes {
            let before = entries.kind(entry)
            let (last, lastQuota) = (max(before.group, kind.group), max(before.quota, kind.quota))
            while groups.count <= last { groups.append(Group()) }
            while submitted.count <= lastQuota { submitted.append(0) }
            if entries.rows[entry].countsInQuota {
                submitted[before.quota] -= 1
                submitted[kind.quota] += 1
            }
            if before.group != kind.group {
                touched.formUnion([before.group, kind.group])
                let bytes = entries.heldBytes(entry)
                hold(-bytes, ofGroup: before.group)
                hold(bytes, ofGroup: kind.group)
            }
            entries.set(kind, of: entry)
        }
        // An entry keeps its rank when it changes its group, so its old ticket in the first group's
        // heap would still look valid. Rebuild the heaps of both groups.
        for group in touched { groups[group].ready = TimerHeap() }
        if !touched.isEmpty {
            for entry in entries.indices where touched.contains(entries.kind(entry).group) {
                entries.rows[entry].ticket = RequestRow.noTicket
                line(up: entry, now: now)
            }
        }
        for (entry, _) in changes { line(up: entry, now: now) }
    }
}
