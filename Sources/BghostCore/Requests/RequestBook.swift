// SPDX-License-Identifier: Apache-2.0

/// Which request runs next, and what stands in the way of the others.
///
/// Pure: it knows no clock. At most one request that is not simulated is pending for an identifier;
/// a newer one replaces it. A request is taken out in the same step that begins its run.
package struct RequestBook: Sendable {
    /// An identifier that has been used, and what is known of it.
    package struct Entry: Sendable {
        package let identifier: String
        /// The index of its definition in the manifest.
        package let definition: Int
        package fileprivate(set) var running = 0
        /// The one pending request.
        package var pending: Request? { waiting?.request }
        package let overlap: Overlap

        fileprivate var waiting: Place?
        /// Simulated requests, oldest first.
        fileprivate var simulated = Queue<Place>()
        /// The rank under which this entry stands in the ready heap.
        ///
        /// Others of it there are stale.
        fileprivate var ticket: UInt64?
        /// The date for which this entry waits.
        ///
        /// Others of it in the heap are stale.
        fileprivate var alarm: Alarm?
        fileprivate var alarms: UInt32 = 0
    }

    fileprivate struct Alarm: Sendable {
        let token: UInt64
        let date: UInt64
    }

    /// A request and its place in the order of acceptance.
    fileprivate struct Place: Sendable {
        let request: Request
        let order: UInt64

        /// The lower goes first: by priority, then by age.
        var rank: UInt64 {
            UInt64(1000 - min(1000, max(0, request.priority))) << 48 | order
        }
    }

    /// What `next` found.
    package enum Decision: Equatable, Sendable {
        /// Begin a run of it. The entry's `running` has been counted up.
        case start(Request, entry: Int)
        /// It is dropped because its task is running and says `"overlap": "skip"`.
        case skipped(Request, entry: Int)
        /// The runs of this entry are to be asked to stop; the request stays and comes up again.
        case displace(entry: Int)
    }

    package private(set) var entries: [Entry] = []
    private var byIdentifier: [String: Int] = [:]
    /// Entries by the rank of the request that they would begin.
    private var ready = TimerHeap()
    /// Alarms by date.
    private var waiting = TimerHeap()
    private var sequence: UInt64 = 0

    package init() {}

    // MARK: Entries

    /// The entry of an identifier, made if there is none.
    package mutating func entry(
        for identifier: String,
        definition: @autoclosure () -> Int,
        overlap: @autoclosure () -> Overlap
    ) -> Int {
        if let known = byIdentifier[identifier] { return known }
        entries.append(
            Entry(identifier: identifier, definition: definition(), overlap: overlap())
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
            entry.pending?.id == id || entry.simulated.contains { $0.request.id == id }
        }
    }

    /// Takes a request in.
    ///
    /// - Returns: the pending request that it replaces.
    package mutating func accept(_ request: Request, entry: Int, now: Int64) -> Request? {
        sequence += 1
        let place = Place(request: request, order: sequence)
        guard !request.isSimulated else {
            entries[entry].simulated.append(place)
            line(up: entry, now: now)
            return nil
        }
        let replaced = entries[entry].pending
        entries[entry].waiting = place
        if let earliest = request.earliestBegin, earliest > now {
            setAlarm(entry, at: UInt64(max(1, earliest)))
        } else {
            line(up: entry, now: now)
        }
        return replaced
    }

    /// Withdraws the pending request of an entry.
    package mutating func withdraw(entry: Int) -> Request? {
        defer { entries[entry].waiting = nil }
        return entries[entry].pending
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

    /// The next thing to do, the highest priority first and the oldest first within one.
    ///
    /// - Parameter canStart: whether a run of this definition could begin now. A request that is
    ///   turned away here waits until `retry` is called for its entry.
    package mutating func next(
        now: Int64,
        canStart: (_ definition: Int) -> Bool
    ) -> Decision? {
        while let index = popTicket() {
            let rank = entries[index].ticket
            entries[index].ticket = nil
            guard let place = candidate(index, now: now), place.rank == rank else {
                // The request was withdrawn since, or the clock went back to before its date.
                line(up: index, now: now)
                continue
            }
            if entries[index].running > 0 {
                switch entries[index].overlap {
                case .allow: break
                // `finished` lines it up again.
                case .queue: continue
                case .replace: return .displace(entry: index)
                case .skip:
                    take(place, from: index, now: now)
                    return .skipped(place.request, entry: index)
                }
            }
            guard canStart(entries[index].definition) else { continue }
            entries[index].running += 1
            take(place, from: index, now: now)
            return .start(place.request, entry: index)
        }
        return nil
    }

    /// A run of this entry has ended.
    package mutating func finished(entry: Int, now: Int64) {
        entries[entry].running -= 1
        retry(entry: entry, now: now)
    }

    /// Something that stood in the way of this entry's requests may have changed.
    package mutating func retry(entry: Int, now: Int64) {
        line(up: entry, now: now)
    }

    // MARK: Order

    private func candidate(_ index: Int, now: Int64) -> Place? {
        if let simulated = entries[index].simulated.first { return simulated }
        guard let waiting = entries[index].waiting else { return nil }
        if let earliest = waiting.request.earliestBegin, earliest > now { return nil }
        return waiting
    }

    private mutating func take(_ place: Place, from index: Int, now: Int64) {
        if place.request.isSimulated {
            entries[index].simulated.removeFirst()
        } else {
            entries[index].waiting = nil
        }
        // Where runs may overlap, the next one need not wait for this one's end.
        line(up: index, now: now)
    }

    /// Puts an entry into the ready heap under the rank of what it would begin, or has it wait for
    /// its request's date.
    private mutating func line(up entry: Int, now: Int64) {
        guard let rank = candidate(entry, now: now)?.rank else {
            guard let earliest = entries[entry].pending?.earliestBegin else { return }
            let date = UInt64(max(1, earliest))
            if date < entries[entry].alarm?.date ?? .max { setAlarm(entry, at: date) }
            return
        }
        guard rank != entries[entry].ticket else { return }
        let isStale = entries[entry].ticket != nil
        entries[entry].ticket = rank
        ready.insert(deadline: rank, token: UInt64(entry))
        guard isStale else { return }
        let entries = entries
        ready.forget { entries[Int($0)].ticket == $1 }
    }

    private mutating func popTicket() -> Int? {
        let entries = entries
        return ready.popDue(now: .max) { entries[Int($0)].ticket == $1 }.map { Int($0) }
    }

    // MARK: Dates

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
