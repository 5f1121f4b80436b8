// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
package import BghostModel

/// The index of waiting requests: selects the request that runs next.
///
/// It is pure and reads no clock. Each identifier has at most one pending request, not counting manual runs
/// and retries; a newer request replaces it. The step that starts a run also removes its request.
package struct PendingRequestIndex: Sendable {
    /// The result of `next`.
    package enum Decision: Equatable, Sendable {
        /// Start a run of this request.
        ///
        /// The entry's `running` already counts it.
        case start(Request, entry: Int)
        /// The request is dropped because its task is running and has `"overlap": "skip"`; a retry waits.
        case skipped(Request, entry: Int)
        /// The request is dropped because its latest begin date has passed.
        case missed(Request, entry: Int)
        /// The request of a schedule is dropped because its task is paused.
        case paused(Request, entry: Int)
        /// The request is dropped because another host of the fleet has served its start.
        case served(Request, entry: Int)
        /// The caller must cancel the runs of this entry for a request that is no retry. The request remains
        /// in the index and is selected again later.
        case displace(entry: Int)
    }

    /// The entries of one plugin; the groups share the slots.
    struct Group: Sendable {
        /// Its entries, by the rank of the request that each would start.
        var ready = TimerHeap()
        var running = 0
        /// Whether `listed` contains the group.
        var isListed = false
    }

    var entries = Entries()
    var groups: [Group] = []
    var handlerQueues: [HandlerQueue] = []
    /// The groups that may have a ready entry.
    private var listed: [Int] = []
    /// The number of groups that have a run.
    private var runningGroups = 0
    /// The entries that wait for a date.
    var waiting = TimerHeap()
    private var sequence: UInt64 = 0
    /// The number of entries that `next` has looked at: its work, which tests count.
    private(set) var entriesVisited = 0
    /// The number of entries that were checked again because a condition may have changed.
    private(set) var rechecks = 0
    /// The number of pending requests that plugins submitted, by quota.
    var submitted: [Int] = []
    /// By group, the memory of the waiting requests that plugins submitted, bytes.
    var held: [Int] = []
    /// Entries that may have become idle, with repetitions; see `nextIdle`.
    var idle: [Int] = []
    /// Entries that were selected while they were paused; see `hold(paused:now:)`.
    var paused: Set<Int> = []
    var slots: Int

    /// - Parameter slots: the maximum number of concurrent runs, which the groups share.
    package init(slots: Int = .max) {
        self.slots = slots
    }

    // MARK: Entries

    /// Reserves memory for this many requests.
    ///
    /// A table that grows step by step is copied and uses twice the memory.
    mutating func reserve(_ count: Int) {
        entries.reserve(count)
        waiting.reserve(count)
    }

    /// Returns the entry of an identifier; creates it if there is none.
    package mutating func entry(
        for identifier: String,
        definition: @autoclosure () -> Int,
        group: @autoclosure () -> Int = 0,
        handlerQueue: @autoclosure () -> Int = 0,
        quota: @autoclosure () -> Int = 0,
        overlap: @autoclosure () -> Overlap,
        isNamed: @autoclosure () -> Bool = true
    ) -> Int {
        let (entry, isNew) = entries.enter(identifier) {
            Kind(
                definition: definition(),
                group: group(),
                handlerQueue: handlerQueue(),
                quota: quota(),
                overlap: overlap(),
                isNamed: isNamed()
            )
        }
        guard isNew else { return entry }
        makeRoom(for: entries.kind(entry))
        noteIfIdle(entry)
        return entry
    }

    mutating func makeRoom(for kind: Kind) {
        while groups.count <= kind.group { groups.append(Group()) }
        while handlerQueues.count <= kind.handlerQueue { handlerQueues.append(HandlerQueue()) }
    }

    /// The entry of an identifier; `nil` if the identifier is not in use.
    func entry(of identifier: String) -> Int? { entries.number(of: identifier) }

    // MARK: Requests

    /// The request of an entry that would start next if nothing blocked it.
    func first(of entry: Int, now: Int64) -> Request? {
        entries.candidate(entry, now: now).flatMap { entries.request($0, of: entry) }
    }

    /// Adds a request.
    ///
    /// - Returns: the pending request that it replaces; `nil` if it replaces none.
    package mutating func accept(_ request: Request, entry: Int, now: Int64) -> Request? {
        sequence += 1
        let rank = RequestRank.of(request, order: sequence, now: now)
        let place = RequestPlace(request: request, rank: rank)
        var replaced: Request?
        if request.isManual {
            entries.changeExtras(entry) { $0.manual.append(place) }
        } else if request.isRetry {
            entries.changeExtras(entry) { $0.retries.append(place) }
            addHeldBytes(request.heldBytes, ofGroup: entries.kind(entry).group)
        } else if request.isAppended {
            entries.changeExtras(entry) { $0.appended.append(place) }
            countAppended(request, 1, entry: entry)
        } else {
            replaced = entries.pending(entry)
            setPending(place, entry: entry)
        }
        enqueueIfReady(entry, now: now)
        return replaced
    }

    /// Removes the pending request of an entry and returns it.
    mutating func withdraw(entry: Int) -> Request? {
        defer {
            setPending(nil, entry: entry)
            dequeueIfEmpty(entry)
            noteIfIdle(entry)
        }
        return entries.pending(entry)
    }

    /// The number of pending requests in a quota that plugins submitted.
    func submittedRequests(ofQuota quota: Int) -> Int {
        submitted.indices.contains(quota) ? submitted[quota] : 0
    }

    private mutating func setPending(_ place: RequestPlace?, entry: Int) {
        let (group, quota) = (entries.kind(entry).group, entries.kind(entry).quota)
        while submitted.count <= quota { submitted.append(0) }
        addHeldBytes(-entries.rows[entry].heldBytes, ofGroup: group)
        if entries.rows[entry].countsInQuota { submitted[quota] -= 1 }
        if let place {
            entries.setPending(place.request, rank: place.rank, of: entry)
        } else {
            entries.removePending(of: entry)
        }
        if entries.rows[entry].countsInQuota { submitted[quota] += 1 }
        addHeldBytes(entries.rows[entry].heldBytes, ofGroup: group)
    }

    /// Removes all waiting requests of an entry, including simulated ones and retries, and returns
    /// them.
    mutating func withdrawAll(entry: Int) -> [Request] {
        defer {
            setPending(nil, entry: entry)
            for place in entries.extras(entry).map({ Array($0.retries.all) }) ?? [] {
                addHeldBytes(-place.request.heldBytes, ofGroup: entries.kind(entry).group)
            }
            // The caller has all requests of the entry already.
            _ = withdrawAppended(entry: entry)
            entries.changeExtras(entry) { $0 = Extras(delayedUntil: $0.delayedUntil) }
            dequeueIfEmpty(entry)
            noteIfIdle(entry)
        }
        return entries[entry].requests
    }

    /// Holds an entry until a date: until then, only its manual runs start.
    ///
    /// - Parameter date: Unix nanoseconds; `nil` ends the hold.
    mutating func delay(entry: Int, until date: Int64?, now: Int64) {
        guard entries.extras(entry)?.delayedUntil != date else { return }
        entries.changeExtras(entry) { $0.delayedUntil = date }
        enqueueIfReady(entry, now: now)
    }

    /// Selects the next decision: in the groups below their fair share of the slots, the request with the
    /// lowest rank, which combines its priority with its waiting time.
    ///
    /// - Parameters:
    ///   - now: Unix nanoseconds.
    ///   - context: the state that the closures read and `canStart` changes.
    ///   - isPaused: whether nothing of the request's identifier may start.
    ///   - isServed: whether another host has served the request's start.
    ///   - canStart: whether a run of this request may start now. If not, the request waits until the caller
    ///     calls `retry` for its entry.
    /// - Returns: `nil` if there is nothing to do now.
    package mutating func next<Context>(
        now: Int64,
        _ context: inout Context,
        isPaused: (_ request: Request, _ definition: Int, Context) -> Bool = { _, _, _ in false },
        isServed: (_ request: Request, Context) -> Bool = { _, _ in false },
        canStart: (_ request: Request, _ definition: Int, inout Context) -> Bool
    ) -> Decision? {
        while let (index, rank) = popReady() {
            entriesVisited += 1
            entries.rows[index].queuedRank = RequestRow.notQueued
            guard let candidate = entries.nextCandidate(index, now: now), candidate.rank == rank,
                let request = entries.request(candidate, of: index)
            else {
                // The request was withdrawn meanwhile, or the clock was set back to before its
                // date.
                enqueueIfReady(index, now: now)
                unblockNext(of: index)
                continue
            }
            if candidate.isMissed {
                remove(candidate, from: index, now: now)
                unblockNext(of: index)
                return .missed(request, entry: index)
            }
            if isServed(request, context) {
                remove(candidate, from: index, now: now)
                unblockNext(of: index)
                return .served(request, entry: index)
            }
            if isPaused(request, entries.kind(index).definition, context) {
                guard let dropped = hold(paused: index, now: now) else { continue }
                return .paused(dropped, entry: index)
            }
            if !entries.hasRoom(index) {
                switch entries.kind(index).overlap {
                case .allow: break
                // The entry waits until `finished` queues it again.
                case .queue:
                    arm(index, now: now)
                    unblockNext(of: index)
                    continue
                case .replace:
                    unblockNext(of: index)
                    return .displace(entry: index)
                case .skip:
                    remove(candidate, from: index, now: now)
                    unblockNext(of: index)
                    return .skipped(request, entry: index)
                }
            }
            guard !handlerQueues[entries.kind(index).handlerQueue].isClosed else {
                block(index, rank: rank, now: now)
                continue
            }
            guard canStart(request, entries.kind(index).definition, &context) else {
                arm(index, now: now)
                unblockNext(of: index)
                continue
            }
            begin(entry: index)
            remove(candidate, from: index, now: now)
            return .start(request, entry: index)
        }
        return nil
    }

    private mutating func begin(entry: Int) {
        entries.rows[entry].running += 1
        let group = entries.kind(entry).group
        groups[group].running += 1
        if groups[group].running == 1 { runningGroups += 1 }
    }

    /// Records that a run of this entry has ended.
    ///
    /// - Parameter group: the group in which the run started, because a reload may have changed the entry's
    ///   group; `nil` means the current group.
    package mutating func finished(entry: Int, group began: Int? = nil, now: Int64) {
        entries.rows[entry].running -= 1
        let group = began ?? entries.kind(entry).group
        groups[group].running -= 1
        if groups[group].running == 0 { runningGroups -= 1 }
        recheck(entry: entry, now: now)
        noteIfIdle(entry)
    }

    /// Checks an entry again after a condition that blocked its requests may have changed.
    mutating func recheck(entry: Int, now: Int64) {
        rechecks += 1
        enqueueIfReady(entry, now: now)
    }

    private mutating func remove(_ candidate: Entries.Candidate, from index: Int, now: Int64) {
        switch candidate.source {
        case .pending: setPending(nil, entry: index)
        case .retry(let number):
            let bytes = entries.request(candidate, of: index)?.heldBytes ?? 0
            addHeldBytes(-bytes, ofGroup: entries.kind(index).group)
            entries.changeExtras(index) { $0.retries.remove(number) }
        case .manual: entries.changeExtras(index) { $0.manual.removeFirst() }
        case .appended: removeFirstAppended(index)
        }
        noteIfIdle(index)
        // If runs may overlap, the next request does not have to wait until this run ends.
        enqueueIfReady(index, now: now)
    }

    // MARK: Order

    /// Adds an entry to the ready heap of its group with the rank of its next request, and sets its alarm to
    /// its next date.
    ///
    /// - Parameter isDue: whether a date of the entry has come. A request that missed its latest begin
    ///   date is then closed at once, also if it is blocked under its rank.
    mutating func enqueueIfReady(_ entry: Int, now: Int64, isDue: Bool = false) {
        arm(entry, now: now)
        guard let candidate = entries.nextCandidate(entry, now: now),
            candidate.rank != entries.rows[entry].queuedRank || isDue && candidate.isMissed
        else { return }
        let isStale = entries.rows[entry].queuedRank != RequestRow.notQueued
        entries.rows[entry].queuedRank = candidate.rank
        let kind = entries.kind(entry)
        makeReady(entry, rank: candidate.rank)
        if isStale { countStaleRank(of: kind) }
    }

    /// Counts a rank under which its row is no longer queued; the heaps are rebuilt after a number of them.
    mutating func countStaleRank(of kind: Kind) {
        let rows = entries.rows
        groups[kind.group].ready.forget { rows[Int($0)].queuedRank == $1 }
        // The stale rank may be in either heap.
        if handlerQueues[kind.handlerQueue].isClosed {
            handlerQueues[kind.handlerQueue].blocked.forget { rows[Int($0)].queuedRank == $1 }
        }
    }

    mutating func makeReady(_ entry: Int, rank: UInt64) {
        let group = entries.kind(entry).group
        groups[group].ready.insert(deadline: rank, token: UInt64(entry))
        guard !groups[group].isListed else { return }
        groups[group].isListed = true
        listed.append(group)
    }

    /// Removes the next ready entry from its heap.
    private mutating func popReady() -> (entry: Int, rank: UInt64)? {
        guard let group = nextGroup() else { return nil }
        let rows = entries.rows
        return groups[group].ready.popFirst { rows[Int($0)].queuedRank == $1 }
            .map { (Int($0.token), $0.deadline) }
    }

    /// The group whose first entry has the lowest rank.
    ///
    /// It prefers the groups below their fair share of the slots. If there are none, it considers all groups,
    /// so that no slot stays free.
    private mutating func nextGroup() -> Int? {
        var below: (group: Int, rank: UInt64)?
        var any: (group: Int, rank: UInt64)?
        let rows = entries.rows
        var active = runningGroups
        for group in listed where groups[group].running == 0 { active += 1 }
        let share = max(1, slots / max(1, active))
        var index = 0
        while index < listed.count {
            let group = listed[index]
            let first = groups[group].ready.first { rows[Int($0)].queuedRank == $1 }
            guard let rank = first?.deadline else {
                groups[group].isListed = false
                listed.swapAt(index, listed.count - 1)
                listed.removeLast()
                continue
            }
            if rank < any?.rank ?? .max { any = (group, rank) }
            if groups[group].running < share, rank < below?.rank ?? .max { below = (group, rank) }
            index += 1
        }
        return (below ?? any)?.group
    }
}
