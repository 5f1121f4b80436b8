// SPDX-License-Identifier: Apache-2.0

/// A priority queue of deadlines: a 4-ary heap of 16-byte entries.
///
/// A deadline is disarmed without a search: its owner declares the token dead, and the entry is skipped
/// later. A short run under a long limit leaves a dead entry each time, so the heap is rebuilt when most
/// entries are dead; this has a constant cost per entry.
package struct TimerHeap: Sendable {
    @usableFromInline
    struct Entry: Sendable {
        @usableFromInline var deadline: UInt64
        @usableFromInline var token: UInt64

        @inlinable
        init(deadline: UInt64, token: UInt64) {
            self.deadline = deadline
            self.token = token
        }
    }

    @usableFromInline var entries: [Entry] = []
    @usableFromInline var forgotten = 0

    @inlinable
    package init() {}

    /// The number of armed deadlines.
    @inlinable
    package var count: Int { entries.count - forgotten }

    /// The number of entries, also of disarmed ones: the memory of the heap.
    @inlinable
    package var size: Int { entries.count }

    /// The earliest deadline, possibly a dead one; `nil` if there is none.
    @inlinable
    package var next: UInt64? { entries.first?.deadline }

    /// Reserves memory for a number of deadlines.
    @inlinable
    package mutating func reserve(_ count: Int) { entries.reserveCapacity(count) }

    /// Arms a deadline.
    ///
    /// All deadlines of a heap must have the same unit.
    @inlinable
    package mutating func insert(deadline: UInt64, token: UInt64) {
        entries.append(Entry(deadline: deadline, token: token))
        siftUp(entries.count - 1)
    }

    /// Records that one armed token is dead.
    ///
    /// From now on, `isLive` must return `false` for it.
    @inlinable
    package mutating func forget(isLive: (_ token: UInt64, _ deadline: UInt64) -> Bool) {
        forgotten += 1
        guard forgotten > 1024, forgotten > entries.count / 2 else { return }
        entries.removeAll { !isLive($0.token, $0.deadline) }
        forgotten = 0
        guard entries.count > 1 else { return }
        for index in stride(from: (entries.count - 2) / 4, through: 0, by: -1) { siftDown(index) }
    }

    /// Removes the earliest live token whose deadline has passed; `nil` if there is none.
    @inlinable
    package mutating func popDue(
        now: UInt64,
        isLive: (_ token: UInt64, _ deadline: UInt64) -> Bool
    ) -> UInt64? {
        while let first = entries.first, first.deadline <= now {
            removeFirst()
            if isLive(first.token, first.deadline) { return first.token }
            forgotten -= forgotten > 0 ? 1 : 0
        }
        return nil
    }

    /// The earliest live entry, which is not removed; dead entries before it are.
    @inlinable
    package mutating func first(
        isLive: (_ token: UInt64, _ deadline: UInt64) -> Bool
    ) -> (deadline: UInt64, token: UInt64)? {
        while let first = entries.first {
            if isLive(first.token, first.deadline) { return (first.deadline, first.token) }
            removeFirst()
            forgotten -= forgotten > 0 ? 1 : 0
        }
        return nil
    }

    /// Removes the earliest live entry.
    @inlinable
    package mutating func popFirst(
        isLive: (_ token: UInt64, _ deadline: UInt64) -> Bool
    ) -> (deadline: UInt64, token: UInt64)? {
        guard let first = first(isLive: isLive) else { return nil }
        removeFirst()
        return first
    }

    @inlinable
    mutating func removeFirst() {
        let last = entries.removeLast()
        guard !entries.isEmpty else { return }
        entries[0] = last
        siftDown(0)
    }

    @inlinable
    mutating func siftUp(_ start: Int) {
        var index = start
        let entry = entries[index]
        while index > 0 {
            let parent = (index - 1) / 4
            guard entry.deadline < entries[parent].deadline else { break }
            entries[index] = entries[parent]
            index = parent
        }
        entries[index] = entry
    }

    @inlinable
    mutating func siftDown(_ start: Int) {
        var index = start
        let entry = entries[index]
        let count = entries.count
        while true {
            let first = 4 * index + 1
            guard first < count else { break }
            var least = first
            for child in (first + 1)..<max(first + 1, min(first + 4, count))
            where entries[child].deadline < entries[least].deadline {
                least = child
            }
            guard entries[least].deadline < entry.deadline else { break }
            entries[index] = entries[least]
            index = least
        }
        entries[index] = entry
    }
}
