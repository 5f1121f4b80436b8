// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

extension PendingRequestIndex {
    /// Assigns new definitions to identifiers.
    ///
    /// Pending requests wait under the new definition. A run in progress still counts in the group in which
    /// it started.
    mutating func redefine(_ changes: [(entry: Int, kind: Kind)], now: Int64) {
        var touched: Set<Int> = []
        var touchedLanes: Set<Int> = []
        for (entry, kind) in changes {
            let before = entries.kind(entry)
            makeRoom(for: kind)
            while submitted.count <= max(before.quota, kind.quota) { submitted.append(0) }
            if before.lane != kind.lane { touchedLanes.formUnion([before.lane, kind.lane]) }
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
        // heap would still look valid. Rebuild the heaps of both groups, and of both lanes.
        for group in touched { groups[group].ready = TimerHeap() }
        for lane in touchedLanes { lanes[lane].blocked = TimerHeap() }
        if !touched.isEmpty || !touchedLanes.isEmpty {
            for entry in entries.indices {
                let kind = entries.kind(entry)
                guard touched.contains(kind.group) || touchedLanes.contains(kind.lane) else {
                    continue
                }
                entries.rows[entry].ticket = RequestRow.noTicket
                line(up: entry, now: now)
            }
        }
        for (entry, _) in changes {
            // Another overlap may decide about a request that is blocked under its rank.
            entries.rows[entry].ticket = RequestRow.noTicket
            line(up: entry, now: now)
        }
    }
}
