// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostModel

/// Forgets identifiers, so that memory and store hold those in use and not all that were ever used.
///
/// The manifest names some identifiers, which are kept. Plugins and operators choose the members of a family.
/// One of these is forgotten when it has no request, no run and no state that can still affect a start.
extension Scheduler {
    /// The time for which a member of a learning family is kept after its last run, nanoseconds.
    ///
    /// People use the results of a run after it, and the use is then recorded for its identifier.
    private static let learnerKeptFor = UsePattern.keptFor

    /// Forgets the entries that the last events left idle.
    ///
    /// An event calls this last, when it has no number of an entry in hand.
    mutating func forgetIdle(now: Moment, _ effects: inout [SchedulerEffect]) {
        var changes: [StoreChange] = []
        while let entry = pendingIndex.nextIdle() {
            forget(entry, keptUntil: keptUntil(entry, now: now), &changes)
        }
        if !changes.isEmpty { effects.append(.commit(changes)) }
    }

    /// Sets the date on which an entry with a new state is forgotten, unless something else needs it.
    mutating func keepIfIdle(_ entry: Int, now: Moment) {
        guard !pendingIndex.entries.kind(entry).isNamed, pendingIndex.entries.isIdle(entry),
            let until = keptUntil(entry, now: now), until < .max
        else { return }
        expiries.set(until, of: entry)
    }

    /// Until when an idle entry is kept, Unix nanoseconds; `nil` if it is not.
    private func keptUntil(_ entry: Int, now: Moment) -> Int64? {
        let until = memories[entry]?.effectiveUntil(now: now.unix)
        guard catalog.tasks[pendingIndex.entries.kind(entry).definition].learnsUse else {
            return until
        }
        return max(until ?? .min, now.unix.addingClamped(Self.learnerKeptFor))
    }

    /// Forgets idle entries whose state has lost its effect by the passage of time.
    mutating func forgetExpired(now: Moment, _ effects: inout [SchedulerEffect]) {
        var changes: [StoreChange] = []
        while let entry = expiries.popDue(now: now.unix) {
            guard !pendingIndex.entries.kind(entry).isNamed, pendingIndex.entries.isIdle(entry)
            else { continue }
            forget(entry, keptUntil: memories[entry]?.effectiveUntil(now: now.unix), &changes)
        }
        if !changes.isEmpty { effects.append(.commit(changes)) }
    }

    /// Forgets an idle entry, or keeps it until a date, Unix nanoseconds.
    private mutating func forget(
        _ entry: Int,
        keptUntil until: Int64?,
        _ changes: inout [StoreChange]
    ) {
        // `finishSubmission` notes the entry again.
        guard storing[entry] == nil, schedules[entry] == nil else { return }
        if let until {
            // A date that never comes needs no timer.
            if until < .max { expiries.set(until, of: entry) }
            return
        }
        if let memory = memories.removeValue(forKey: entry) {
            changes.append(.remembered(TaskMemory(identifier: memory.identifier)))
        }
        expiries.remove(entry)
        gates.partitions.forget(entry)
        learners[pendingIndex.entries.kind(entry).group]?.remove(entry)
        pendingIndex.release(entry)
    }

    /// Forgets the states of removed tasks that cannot affect a start any more.
    mutating func forgetParked(now: Moment, _ effects: inout [SchedulerEffect]) {
        var changes: [StoreChange] = []
        for memory in parking.remembered where memory.effectiveUntil(now: now.unix) == nil {
            if parking.remove(memory.identifier) != nil {
                changes.append(.remembered(TaskMemory(identifier: memory.identifier)))
            }
        }
        if !changes.isEmpty { effects.append(.commit(changes)) }
    }
}

/// Until when idle entries are kept.
///
/// Each change takes O(log n).
struct ExpiryTable: Sendable {
    /// Whole hours, so that several entries expire at once, and the daemon wakes once for them.
    private static let step: Int64 = 3_600_000_000_000

    /// Unix nanoseconds, by entry.
    private var dates: [Int: Int64] = [:]
    private var heap = TimerHeap()

    /// The next date, possibly one that was removed; `nil` if there is none.
    var next: Int64? { heap.next.map { Int64(clamping: $0) } }

    /// The entries with a date, in ascending order.
    var entries: [Int] { dates.keys.sorted() }

    /// - Parameter date: Unix nanoseconds.
    mutating func set(_ date: Int64, of entry: Int) {
        let date = (max(0, date) / Self.step).addingClamped(1).multipliedClamped(by: Self.step)
        guard dates[entry] != date else { return }
        remove(entry)
        dates[entry] = date
        heap.insert(deadline: UInt64(date), token: UInt64(entry))
    }

    mutating func remove(_ entry: Int) {
        guard dates.removeValue(forKey: entry) != nil else { return }
        let dates = dates
        heap.forget { dates[Int($0)] == Int64(clamping: $1) }
    }

    /// Removes an entry whose date has passed; `nil` if there are none.
    mutating func popDue(now: Int64) -> Int? {
        guard let entry = popToken(now: now) else { return nil }
        dates[entry] = nil
        return entry
    }

    private mutating func popToken(now: Int64) -> Int? {
        let dates = dates
        return heap.popDue(now: UInt64(max(0, now))) { dates[Int($0)] == Int64(clamping: $1) }
            .map { Int($0) }
    }
}

/// The identifiers that were used last, for lists: also some that are forgotten otherwise.
struct RecentMembers: Sendable {
    private static let countMax = 256

    /// A ring, with repetitions.
    private var identifiers: [String] = []
    private var next = 0

    mutating func add(_ identifier: String) {
        if identifiers.count < Self.countMax {
            identifiers.append(identifier)
        } else {
            identifiers[next] = identifier
            next = (next + 1) % Self.countMax
        }
    }

    /// The identifiers without repetitions, the latest first.
    var latestFirst: [String] {
        var seen: Set<String> = []
        return (identifiers[next...] + identifiers[..<next]).reversed()
            .filter { seen.insert($0).inserted }
    }
}
