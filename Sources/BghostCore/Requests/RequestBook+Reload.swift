// SPDX-License-Identifier: Apache-2.0

extension RequestBook {
    /// Gives identifiers other definitions; what waits goes on waiting under those, and what runs
    /// goes on counting where it began.
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
            if before.group != kind.group { touched.formUnion([before.group, kind.group]) }
            entries.set(kind, of: entry)
        }
        // An entry stands in the heap of its group under a rank that it keeps in another one: what is
        // left of it in the first heap would pass for live.
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
