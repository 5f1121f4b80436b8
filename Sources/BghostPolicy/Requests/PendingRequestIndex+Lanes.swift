// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

extension PendingRequestIndex {
    /// The entries of one handler, whose runs may exclude one another.
    ///
    /// While it is closed, no request of it can start. Its entries leave the ready heap one by one as
    /// they are selected, and wait in `blocked`. When it opens, only the first of them comes back: its run
    /// closes the lane again. The end of a run therefore costs no look at the others.
    struct Lane: Sendable {
        var isClosed = false
        /// The entries that were selected while it was closed, by rank.
        var blocked = TimerHeap()
    }

    /// Opens or closes a lane.
    ///
    /// - Parameter isShared: whether its runs do not exclude one another, so that all its entries come
    ///   back when it opens.
    mutating func set(lane: Int, isOpen: Bool, isShared: Bool) {
        while lanes.count <= lane { lanes.append(Lane()) }
        lanes[lane].isClosed = !isOpen
        guard isOpen, lanes[lane].blocked.next != nil else { return }
        while unblock(lane), isShared {}
    }

    mutating func block(_ entry: Int, rank: UInt64, now: Int64) {
        arm(entry, now: now)
        entries.rows[entry].ticket = rank
        lanes[entries.kind(entry).lane].blocked.insert(deadline: rank, token: UInt64(entry))
    }

    /// Lets the next entry of a lane come after one that did not start.
    mutating func unblockNext(of entry: Int) {
        let lane = entries.kind(entry).lane
        if !lanes[lane].isClosed { _ = unblock(lane) }
    }

    /// - Returns: `false` if the lane has no blocked entry.
    private mutating func unblock(_ lane: Int) -> Bool {
        let rows = entries.rows
        guard let first = lanes[lane].blocked.popFirst(isLive: { rows[Int($0)].ticket == $1 })
        else {
            return false
        }
        makeReady(Int(first.token), rank: first.deadline)
        return true
    }
}
