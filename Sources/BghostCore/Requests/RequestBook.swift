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
    struct Group: Sendable {
        /// Entries by the rank of the request that they would begin.
        var ready = TimerHeap()
        var running = 0
        /// Whether it stands in `listed`.
        var isListed = false
    }

    package internal(set) var entries = Entries()
    var groups: [Group] = []
    /// Groups that may have something ready.
    private var listed: [Int] = []
    /// Groups that have a run.
    private var runningGroups = 0
    /// Alarms by date.
    private var waiting = TimerHeap()
    private var sequence: UInt64 = 0
    /// By quota, the pending requests that the manifest did not submit itself.
    var submitted: [Int] = []
    var slots: Int

    /// - Parameter slots: how many runs there may be at once, which is what groups share.
    package init(slots: Int = .max) {
        self.slots = slots
    }

    // MARK: Entries

    /// Makes room for as many requests: tables that grow step by step are copied and touch twice the
    /// memory.
    package mutating func reserve(_ count: Int) {
        entries.reserve(count)
        waiting.reserve(count)
    }

    /// The entry of an identifier, made if there is none.
    package mutating func entry(
        for identifier: String,
        definition: @autoclosure () -> Int,
        group: @autoclosure () -> Int = 0,
        quota: @autoclosure () -> Int = 0,
        overlap: @autoclosure () -> Overlap
    ) -> Int {
        let entry = entries.enter(identifier) {
            Kind(definition: definition(), group: group(), quota: quota(), overlap: overlap())
        }
        let group = entries.kind(entry).group
        while groups.count <= group { groups.append(Group()) }
        return entry
    }

    /// The entry of an identifier that has been used before.
    package func entry(of identifier: String) -> Int? { entries.number(of: identifier) }

    // MARK: Requests

    /// Whether a request of this id waits for its run.
    package func contains(_ id: RunID) -> Bool { entries.contains(id) }

    /// The requests that wait and whose id is among these.
    package func requests(in ids: ClosedRange<RunID>) -> [Request] { entries.requests(in: ids) }

    /// What would begin next of an entry if nothing stood in its way.
    func first(of entry: Int, now: Int64) -> Request? {
        entries.candidate(entry, now: now).flatMap { entries.request($0, of: entry) }
    }

    /// How many other requests would begin before this one if slots came free.
    package func requestsAhead(of request: Request, now: Int64) -> Int {
        guard let entry = entry(of: request.task), let place = entries[entry].place(of: request.id)
        else { return 0 }
        return entries.indices.count {
            (entries.candidate($0, now: now)?.rank).map { $0 < place.rank } ?? false
        }
    }

    /// Takes a request in.
    ///
    /// - Returns: the pending request that it replaces.
    package mutating func accept(_ request: Request, entry: Int, now: Int64) -> Request? {
        sequence += 1
        let rank = RequestRank.of(request, order: sequence, now: now)
        let place = RequestPlace(request: request, rank: rank)
        var replaced: Request?
        if request.isSimulated {
            entries.changeExtras(entry) { $0.simulated.append(place) }
        } else if request.isRetry {
            entries.changeExtras(entry) { $0.retries.append(place) }
        } else {
            replaced = entries.pending(entry)
            setPending(place, entry: entry)
        }
        line(up: entry, now: now)
        return replaced
    }

    /// Withdraws the pending request of an entry.
    package mutating func withdraw(entry: Int) -> Request? {
        defer { setPending(nil, entry: entry) }
        return entries.pending(entry)
    }

    /// How many of the entries of a quota have a pending request that the manifest did not submit.
    package func submittedRequests(ofQuota quota: Int) -> Int {
        submitted.indices.contains(quota) ? submitted[quota] : 0
    }

    private mutating func setPending(_ place: RequestPlace?, entry: Int) {
        let quota = entries.kind(entry).quota
        while submitted.count <= quota { submitted.append(0) }
        if entries.rows[entry].countsInQuota { submitted[quota] -= 1 }
        if let place {
            entries.setPending(place.request, rank: place.rank, of: entry)
        } else {
            entries.rows[entry].removeRequest()
        }
        if entries.rows[entry].countsInQuota { submitted[quota] += 1 }
    }

    /// Withdraws all that waits in an entry, what is simulated and retries included.
    package mutating func withdrawAll(entry: Int) -> [Request] {
        defer {
            setPending(nil, entry: entry)
            entries.changeExtras(entry) { $0 = Extras(hold: $0.hold) }
        }
        return entries[entry].requests
    }

    /// Lets nothing of an entry begin before a date, but what is simulated.
    package mutating func hold(entry: Int, until date: Int64?, now: Int64) {
        guard entries.extras(entry)?.hold != date else { return }
        entries.changeExtras(entry) { $0.hold = date }
        line(up: entry, now: now)
    }

    /// When the next request comes due, Unix nanoseconds; it may be one that was withdrawn.
    package var nextDue: Int64? { waiting.next.map { Int64(clamping: $0) } }

    /// Makes ready what has come due.
    package mutating func becomeDue(now: Int64) {
        while let entry = popAlarm(now: now) {
            entries.rows[entry].alarm = RequestRow.noAlarm
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
            entries.rows[index].ticket = RequestRow.noTicket
            guard let candidate = entries.candidate(index, now: now), candidate.rank == rank,
                let request = entries.request(candidate, of: index)
            else {
                // The request was withdrawn since, or the clock went back to before its date.
                line(up: index, now: now)
                continue
            }
            if candidate.isMissed {
                take(candidate, from: index, now: now)
                return .missed(request, entry: index)
            }
            if !entries.hasRoom(index) {
                switch entries.kind(index).overlap {
                case .allow: break
                // `finished` lines it up again.
                case .queue:
                    arm(index, now: now)
                    continue
                case .replace: return .displace(entry: index)
                case .skip:
                    take(candidate, from: index, now: now)
                    return .skipped(request, entry: index)
                }
            }
            guard canStart(request, entries.kind(index).definition, &context) else {
                arm(index, now: now)
                continue
            }
            begin(entry: index)
            take(candidate, from: index, now: now)
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

    /// A run of this entry has ended.
    ///
    /// - Parameter group: the one that it began in, if the entry may have changed to another since.
    package mutating func finished(entry: Int, group began: Int? = nil, now: Int64) {
        entries.rows[entry].running -= 1
        let group = began ?? entries.kind(entry).group
        groups[group].running -= 1
        if groups[group].running == 0 { runningGroups -= 1 }
        retry(entry: entry, now: now)
    }

    /// Something that stood in the way of this entry's requests may have changed.
    package mutating func retry(entry: Int, now: Int64) {
        line(up: entry, now: now)
    }

    private mutating func take(_ candidate: Entries.Candidate, from index: Int, now: Int64) {
        switch candidate.source {
        case .pending: setPending(nil, entry: index)
        case .retry(let number): entries.changeExtras(index) { $0.retries.remove(at: number) }
        case .simulated: entries.changeExtras(index) { $0.simulated.removeFirst() }
        }
        // Where runs may overlap, the next one need not wait for this one's end.
        line(up: index, now: now)
    }

    // MARK: Order

    /// Puts an entry into the ready heap under the rank of what it would begin, and has it wait for
    /// its next date.
    mutating func line(up entry: Int, now: Int64) {
        arm(entry, now: now)
        guard let rank = entries.candidate(entry, now: now)?.rank,
            rank != entries.rows[entry].ticket
        else { return }
        let isStale = entries.rows[entry].ticket != RequestRow.noTicket
        entries.rows[entry].ticket = rank
        let group = entries.kind(entry).group
        groups[group].ready.insert(deadline: rank, token: UInt64(entry))
        if !groups[group].isListed {
            groups[group].isListed = true
            listed.append(group)
        }
        guard isStale else { return }
        let rows = entries.rows
        groups[group].ready.forget { rows[Int($0)].ticket == $1 }
    }

    /// Takes the entry that is to begin next.
    private mutating func popTicket() -> (entry: Int, rank: UInt64)? {
        guard let group = nextGroup() else { return nil }
        let rows = entries.rows
        return groups[group].ready.popFirst { rows[Int($0)].ticket == $1 }
            .map { (Int($0.token), $0.deadline) }
    }

    /// The group whose first entry has the lowest rank, among those below their share of the slots
    /// if there are any, and among all if not: no slot stays free.
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
            let first = groups[group].ready.first { rows[Int($0)].ticket == $1 }
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
        guard let next = entries.nextDate(entry, now: now) else { return }
        let date = UInt64(max(1, next))
        let armed = entries.rows[entry].alarm
        if armed == RequestRow.noAlarm || date < armed { setAlarm(entry, at: date) }
    }

    private mutating func setAlarm(_ entry: Int, at date: UInt64) {
        let isStale = entries.rows[entry].alarm != RequestRow.noAlarm
        entries.rows[entry].alarms &+= 1
        entries.rows[entry].alarm = date
        waiting.insert(deadline: date, token: entries.rows[entry].alarmToken(entry))
        guard isStale else { return }
        let rows = entries.rows
        waiting.forget { Self.isLive($0, $1, rows) }
    }

    private mutating func popAlarm(now: Int64) -> Int? {
        let rows = entries.rows
        return waiting.popDue(now: UInt64(max(0, now))) { Self.isLive($0, $1, rows) }
            .map { Int($0 >> 32) }
    }

    private static func isLive(_ token: UInt64, _ date: UInt64, _ rows: [RequestRow]) -> Bool {
        let number = Int(token >> 32)
        return rows[number].alarm == date && rows[number].alarmToken(number) == token
    }
}
