// SPDX-License-Identifier: Apache-2.0

/// A request that has been accepted and waits for its run.
package struct Request: Equatable, Sendable {
    package var id: RunID
    package var task: String
    /// A JSON object, as submitted; the task's own parameters lie beneath it.
    package var parameters: String
    /// Unix nanoseconds.
    package var submittedAt: Int64
    /// Not before this time, Unix nanoseconds.
    package var earliestBegin: Int64?
    package var priority: Int
    package var attempt: Int
    /// Made by `trigger`: it does not count as the task's one pending request.
    package var isSimulated: Bool

    package init(
        id: RunID,
        task: String,
        parameters: String,
        submittedAt: Int64,
        earliestBegin: Int64? = nil,
        priority: Int,
        attempt: Int = 1,
        isSimulated: Bool = false
    ) {
        self.id = id
        self.task = task
        self.parameters = parameters
        self.submittedAt = submittedAt
        self.earliestBegin = earliestBegin
        self.priority = priority
        self.attempt = attempt
        self.isSimulated = isSimulated
    }
}

/// Which request runs next, and what stands in the way of the others.
///
/// Pure: it knows no clock.
///
/// At most one request that is not simulated is pending for an identifier; a newer one replaces it.
/// A request is taken out in the same step that begins its run.
package struct RequestBook: Sendable {
    /// An identifier that has been used, and what is known of it.
    package struct Entry: Sendable {
        package let identifier: String
        /// The index of its definition in the manifest.
        package let definition: Int
        package internal(set) var running = 0
        /// The one pending request.
        package internal(set) var pending: Request?
        /// Simulated requests, oldest first.
        var simulated = Queue<Request>()
        /// How many tickets of this entry are in the ready heap.
        var tickets = 0
        package let overlap: Overlap
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
    private var ready = TicketHeap()
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
        entries.contains { $0.pending?.id == id || $0.simulated.contains { $0.id == id } }
    }

    /// Takes a request in.
    ///
    /// - Returns: the pending request that it replaces.
    package mutating func accept(_ request: Request, entry: Int, now: Int64) -> Request? {
        if request.isSimulated {
            entries[entry].simulated.append(request)
            ticket(entry, priority: request.priority)
            return nil
        }
        let replaced = entries[entry].pending
        entries[entry].pending = request
        if let earliest = request.earliestBegin, earliest > now {
            waiting.insert(deadline: UInt64(earliest), token: UInt64(entry))
        } else {
            ticket(entry, priority: request.priority)
        }
        return replaced
    }

    /// Withdraws the pending request of an entry.
    package mutating func withdraw(entry: Int) -> Request? {
        defer { entries[entry].pending = nil }
        return entries[entry].pending
    }

    /// When the next request comes due, Unix nanoseconds; it may be one that was withdrawn.
    package var nextDue: Int64? { waiting.next.map { Int64(clamping: $0) } }

    /// Makes ready what has come due.
    package mutating func becomeDue(now: Int64) {
        while let token = waiting.popDue(
            now: UInt64(max(0, now)),
            isLive: { _, _ in true }
        ) {
            let entry = Int(token)
            guard let request = entries[entry].pending else { continue }
            // The deadline may be that of a request that this one has replaced.
            if let earliest = request.earliestBegin, earliest > now { continue }
            ticket(entry, priority: request.priority)
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
        while let ticket = ready.popFirst() {
            let index = Int(ticket.entry)
            entries[index].tickets -= 1
            guard let request = candidate(index, now: now) else { continue }
            if entries[index].running > 0 {
                switch entries[index].overlap {
                case .allow: break
                // `finished` gives it a new ticket.
                case .queue: continue
                case .replace: return .displace(entry: index)
                case .skip:
                    take(request, from: index)
                    return .skipped(request, entry: index)
                }
            }
            guard canStart(entries[index].definition) else { continue }
            take(request, from: index)
            entries[index].running += 1
            return .start(request, entry: index)
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
        guard entries[entry].tickets == 0, let request = candidate(entry, now: now) else { return }
        ticket(entry, priority: request.priority)
    }

    private func candidate(_ index: Int, now: Int64) -> Request? {
        if let simulated = entries[index].simulated.first { return simulated }
        guard let pending = entries[index].pending else { return nil }
        if let earliest = pending.earliestBegin, earliest > now { return nil }
        return pending
    }

    private mutating func take(_ request: Request, from index: Int) {
        if request.isSimulated {
            entries[index].simulated.removeFirst()
        } else {
            entries[index].pending = nil
        }
    }

    private mutating func ticket(_ entry: Int, priority: Int) {
        sequence += 1
        entries[entry].tickets += 1
        ready.insert(
            TicketHeap.Ticket(
                rank: UInt64(1000 - min(1000, max(0, priority))) << 48 | sequence,
                entry: UInt32(entry)
            )
        )
    }
}

/// First in, first out, in constant time.
struct Queue<Element: Sendable>: Sendable {
    private var elements: [Element?] = []
    private var head = 0

    var first: Element? { head < elements.count ? elements[head] : nil }

    func contains(where isWanted: (Element) -> Bool) -> Bool {
        elements[head...].contains { $0.map(isWanted) ?? false }
    }

    mutating func append(_ element: Element) { elements.append(element) }

    mutating func removeFirst() {
        elements[head] = nil
        head += 1
        guard head == elements.count || head > 1024 else { return }
        elements.removeFirst(head)
        head = 0
    }
}

/// Tickets by rank, the lowest first.
struct TicketHeap: Sendable {
    struct Ticket: Sendable {
        var rank: UInt64
        var entry: UInt32
    }

    private var tickets: [Ticket] = []

    mutating func insert(_ ticket: Ticket) {
        tickets.append(ticket)
        var index = tickets.count - 1
        while index > 0 {
            let parent = (index - 1) / 2
            guard tickets[index].rank < tickets[parent].rank else { return }
            tickets.swapAt(index, parent)
            index = parent
        }
    }

    mutating func popFirst() -> Ticket? {
        guard let first = tickets.first else { return nil }
        let last = tickets.removeLast()
        guard !tickets.isEmpty else { return first }
        tickets[0] = last
        var index = 0
        while true {
            var least = index
            let left = 2 * index + 1
            if left < tickets.count, tickets[left].rank < tickets[least].rank { least = left }
            if left + 1 < tickets.count, tickets[left + 1].rank < tickets[least].rank {
                least = left + 1
            }
            guard least != index else { return first }
            tickets.swapAt(index, least)
            index = least
        }
    }
}
