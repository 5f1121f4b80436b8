// SPDX-License-Identifier: Apache-2.0

/// Which request runs next, and what stands in the way of the others.
///
/// Pure: it knows no clock. At most one request that is neither simulated nor a retry is pending for
/// an identifier; a newer one replaces it. A request is taken out in the same step that begins its
/// run.
package struct RequestBook: Sendable {
    /// What `next` found.
    package enum Decision: Equatable, Sendable {
        /// Begin a run of it. The entry's `running` has been counted up.
        case start(Request, entry: Int)
        /// It is dropped because its task is running and says `"overlap": "skip"`.
        case skipped(Request, entry: Int)
        /// It is dropped because its latest begin date has passed.
        case missed(Request, entry: Int)
        /// The runs of this entry are to be asked to stop; the request stays and comes up again.
        case displace(entry: Int)
    }

    /// Entries that share the slots with those of other groups.
    private struct Group: Sendable {
        /// Entries by the rank of the request that they would begin.
        var ready = TimerHeap()
        var running = 0
        /// Whether it stands in `listed`.
        var isListed = false
    }

    package private(set) var entries: [Entry] = []
    private var byIdentifier: [String: Int] = [:]
    private var groups: [Group] = []
    /// Groups that may have something ready.
    private var listed: [Int] = []
    /// Groups that have a run.
    private var runningGroups = 0
    /// Alarms by date.
    private var waiting = TimerHeap()
    private var sequence: UInt64 = 0
    /// By quota, the pending requests that the manifest did not submit itself.
    private var submitted: [Int] = []
    private let slots: Int

    /// - Parameter slots: how many runs there may be at once, which is what groups share.
    package init(slots: Int = .max) {
        self.slots = slots
    }

    // MARK: Entries

    /// The entry of an identifier, made if there is none.
    package mutating func entry(
        for identifier: String,
        definition: @autoclosure () -> Int,
        group: @autoclosure () -> Int = 0,
        quota: @autoclosure () -> Int = 0,
        overlap: @autoclosure () -> Overlap
    ) -> Int {
        if let known = byIdentifier[identifier] { return known }
        let group = group()
        while groups.count <= group { groups.append(Group()) }
        entries.append(
            Entry(
                identifier: identifier,
                definition: definition(),
                group: group,
                quota: quota(),
                overlap: overlap()
            )
        )
        byIdentifier[identifier] = entries.count - 1
        return entries.count - 1
    }

    /// The entry of an identifier that has been used before.
    package func entry(of identifier: String) -> Int? { byIdentifier[identifier] }

    // MARK: Requests

    /// Whether a request of this id waits for its run.
    package func contains(_ id: RunID) -> Bool {
        entries.contains { entry in
            entry.pending?.id == id || entry.retries.contains { $0.request.id == id }
                || entry.simulated.contains { $0.request.id == id }
        }
    }

    /// The requests that wait and whose id is among these.
    package func requests(in ids: ClosedRange<RunID>) -> [Request] {
        var found: [Request] = []
        for entry in entries {
            if let pending = entry.pending, ids.contains(pending.id) { found.append(pending) }
            for place in entry.retries where ids.contains(place.request.id) {
                found.append(place.request)
            }
            for place in entry.simulated.all where ids.contains(place.request.id) {
                found.append(place.request)
            }
        }
        return found
    }

    /// How many other requests would begin before this one if slots came free.
    package func requestsAhead(of request: Request, now: Int64) -> Int {
        guard let entry = byIdentifier[request.task],
            let place = entries[entry].place(of: request.id)
        else { return 0 }
        return entries.count {
            ($0.candidate(now: now)?.rank).map { $0 < place.rank } ?? false
        }
    }

    /// Takes a request in.
    ///
    /// - Returns: the pending request that it replaces.
    package mutating func accept(_ request: Request, entry: Int, now: Int64) -> Request? {
        sequence += 1
        let place = RequestPlace(request, order: sequence, now: now)
        var replaced: Request?
        if request.isSimulated {
            entries[entry].simulated.append(place)
        } else if request.isRetry {
            entries[entry].retries.append(place)
        } else {
            replaced = entries[entry].pending
            setWaiting(place, entry: entry)
        }
        line(up: entry, now: now)
        return replaced
    }

    /// Withdraws the pending request of an entry.
    package mutating func withdraw(entry: Int) -> Request? {
        defer { setWaiting(nil, entry: entry) }
        return entries[entry].pending
    }

    /// How many of the entries of a quota have a pending request that the manifest did not submit.
    package func submittedRequests(ofQuota quota: Int) -> Int {
        submitted.indices.contains(quota) ? submitted[quota] : 0
    }

    private mutating func setWaiting(_ place: RequestPlace?, entry: Int) {
        let quota = entries[entry].quota
        while submitted.count <= quota { submitted.append(0) }
        if entries[entry].countsInQuota { submitted[quota] -= 1 }
        entries[entry].waiting = place
        if entries[entry].countsInQuota { submitted[quota] += 1 }
    }

    /// Withdraws all that waits in an entry, what is simulated and retries included.
    package mutating func withdrawAll(entry: Int) -> [Request] {
        defer {
            setWaiting(nil, entry: entry)
            entries[entry].retries = []
            entries[entry].simulated = Queue()
        }
        return entries[entry].requests
    }

    /// Lets nothing of an entry begin before a date, but what is simulated.
    package mutating func hold(entry: Int, until date: Int64?, now: Int64) {
        guard entries[entry].hold != date else { return }
        entries[entry].hold = date
        line(up: entry, now: now)
    }

    /// When the next request comes due, Unix nanoseconds; it may be one that was withdrawn.
    package var nextDue: Int64? { waiting.next.map { Int64(clamping: $0) } }

    /// Makes ready what has come due.
    package mutating func becomeDue(now: Int64) {
        while let entry = popAlarm(now: now) {
            entries[entry].alarm = nil
            line(up: entry, now: now)
        }
    }

    /// The next thing to do: among those that have not more than their fair share of the slots, what
    /// has the highest priority, and the oldest within one.
    ///
    /// - Parameters:
    ///   - context: what `canStart` looks at and keeps.
    ///   - canStart: whether a run of this request could begin now. A request that is turned away
    ///     here waits until `retry` is called for its entry.
    package mutating func next<Context>(
        now: Int64,
        _ context: inout Context,
        canStart: (_ request: Request, _ definition: Int, inout Context) -> Bool
    ) -> Decision? {
        while let (index, rank) = popTicket() {
            entries[index].ticket = nil
            guard let place = entries[index].candidate(now: now), place.rank == rank else {
                // The request was withdrawn since, or the clock went back to before its date.
                line(up: index, now: now)
                continue
            }
            if place.isMissed(now: now) {
                take(place, from: index, now: now)
                return .missed(place.request, entry: index)
            }
            if !entries[index].hasRoom {
                switch entries[index].overlap {
                case .allow: break
                // `finished` lines it up again.
                case .queue:
                    arm(index, now: now)
                    continue
                case .replace: return .displace(entry: index)
                case .skip:
                    take(place, from: index, now: now)
                    return .skipped(place.request, entry: index)
                }
            }
            guard canStart(place.request, entries[index].definition, &context) else {
                arm(index, now: now)
                continue
            }
            begin(entry: index)
            take(place, from: index, now: now)
            return .start(place.request, entry: index)
        }
        return nil
    }

    private mutating func begin(entry: Int) {
        entries[entry].running += 1
        let group = entries[entry].group
        groups[group].running += 1
        if groups[group].running == 1 { runningGroups += 1 }
    }

    /// A run of this entry has ended.
    package mutating func finished(entry: Int, now: Int64) {
        entries[entry].running -= 1
        let group = entries[entry].group
        groups[group].running -= 1
        if groups[group].running == 0 { runningGroups -= 1 }
        retry(entry: entry, now: now)
    }

    /// Something that stood in the way of this entry's requests may have changed.
    package mutating func retry(entry: Int, now: Int64) {
        line(up: entry, now: now)
    }

    private mutating func take(_ place: RequestPlace, from index: Int, now: Int64) {
        if !place.request.isSimulated, entries[index].pending?.id == place.request.id {
            setWaiting(nil, entry: index)
        } else {
            entries[index].remove(place)
        }
        // Where runs may overlap, the next one need not wait for this one's end.
        line(up: index, now: now)
    }

    // MARK: Order

    /// Puts an entry into the ready heap under the rank of what it would begin, and has it wait for
    /// its next date.
    private mutating func line(up entry: Int, now: Int64) {
        arm(entry, now: now)
        guard let rank = entries[entry].candidate(now: now)?.rank, rank != entries[entry].ticket
        else { return }
        let isStale = entries[entry].ticket != nil
        entries[entry].ticket = rank
        let group = entries[entry].group
        groups[group].ready.insert(deadline: rank, token: UInt64(entry))
        if !groups[group].isListed {
            groups[group].isListed = true
            listed.append(group)
        }
        guard isStale else { return }
        let entries = entries
        groups[group].ready.forget { entries[Int($0)].ticket == $1 }
    }

    /// Takes the entry that is to begin next.
    private mutating func popTicket() -> (entry: Int, rank: UInt64)? {
        guard let group = nextGroup() else { return nil }
        let entries = entries
        return groups[group].ready.popFirst { entries[Int($0)].ticket == $1 }
            .map { (Int($0.token), $0.deadline) }
    }

    /// The group whose first entry has the lowest rank, among those below their share of the slots
    /// if there are any, and among all if not: no slot stays free.
    private mutating func nextGroup() -> Int? {
        var below: (group: Int, rank: UInt64)?
        var any: (group: Int, rank: UInt64)?
        let entries = entries
        var active = runningGroups
        for group in listed where groups[group].running == 0 { active += 1 }
        let share = max(1, slots / max(1, active))
        var index = 0
        while index < listed.count {
            let group = listed[index]
            let first = groups[group].ready.first { entries[Int($0)].ticket == $1 }
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

    // MARK: Dates

    private mutating func arm(_ entry: Int, now: Int64) {
        guard let next = entries[entry].nextDate(now: now) else { return }
        let date = UInt64(max(1, next))
        let armed = entries[entry].alarm?.date
        if armed == nil || date < armed ?? 0 { setAlarm(entry, at: date) }
    }

    private mutating func setAlarm(_ entry: Int, at date: UInt64) {
        let isStale = entries[entry].alarm != nil
        entries[entry].alarms &+= 1
        // The count tells the alarms of one entry apart, also when they are for the same date.
        let token = UInt64(entry) << 32 | UInt64(entries[entry].alarms)
        entries[entry].alarm = Alarm(token: token, date: date)
        waiting.insert(deadline: date, token: token)
        guard isStale else { return }
        let entries = entries
        waiting.forget { token, _ in entries[Int(token >> 32)].alarm?.token == token }
    }

    private mutating func popAlarm(now: Int64) -> Int? {
        let entries = entries
        return waiting.popDue(now: UInt64(max(0, now))) { token, _ in
            entries[Int(token >> 32)].alarm?.token == token
        }.map { Int($0 >> 32) }
    }
}
