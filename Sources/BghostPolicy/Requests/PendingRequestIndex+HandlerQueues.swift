// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

extension PendingRequestIndex {
    /// The entries of one handler, whose runs may exclude one another.
    ///
    /// While it is closed, no request of it can start. Its entries leave the ready heap one by one as
    /// they are selected, and wait in `blocked`. When it opens, only the first of them returns: its run
    /// closes the queue again. The cost of a run's end therefore does not grow with the number of entries.
    struct HandlerQueue: Sendable {
        var isClosed = false
        /// The entries that were selected while it was closed, by rank.
        var blocked = TimerHeap()
    }

    /// Opens or closes a queue.
    ///
    /// - Parameter isShared: whether its runs do not exclude one another, so that all its entries come
    ///   back when it opens.
    mutating func set(handlerQueue queue: Int, isOpen: Bool, isShared: Bool) {
        while handlerQueues.count <= queue { handlerQueues.append(HandlerQueue()) }
        handlerQueues[queue].isClosed = !isOpen
        guard isOpen, handlerQueues[queue].blocked.next != nil else { return }
        while unblock(queue), isShared {}
    }

    mutating func block(_ entry: Int, rank: UInt64, now: Int64) {
        arm(entry, now: now)
        entries.rows[entry].queuedRank = rank
        handlerQueues[entries.kind(entry).handlerQueue].blocked.insert(
            deadline: rank,
            token: UInt64(entry)
        )
    }

    /// Makes the next entry of a queue ready, after one that did not start.
    mutating func unblockNext(of entry: Int) {
        let queue = entries.kind(entry).handlerQueue
        // A queue without a blocked entry has nothing to make ready.
        if !handlerQueues[queue].isClosed { _ = unblock(queue) }
    }

    /// - Returns: `false` if the queue has no blocked entry.
    private mutating func unblock(_ queue: Int) -> Bool {
        let rows = entries.rows
        guard
            let first = handlerQueues[queue].blocked.popFirst(isLive: {
                rows[Int($0)].queuedRank == $1
            })
        else {
            return false
        }
        makeReady(Int(first.token), rank: first.deadline)
        return true
    }
}
