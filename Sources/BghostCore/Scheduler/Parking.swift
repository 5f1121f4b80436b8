// SPDX-License-Identifier: Apache-2.0

/// Requests whose task the manifest does not permit, kept in case that it does again.
struct Parking: Sendable {
    /// How long a request is kept, nanoseconds.
    static let keptFor: Int64 = 7 * 86_400_000_000_000

    private(set) var requests: [Request] = []
    /// What is remembered of identifiers that the manifest does not permit.
    private var memories: [String: TaskMemory] = [:]
    /// When the first of them is given up, Unix nanoseconds; `nil` if none is there.
    private(set) var nextEnd: Int64?

    /// What is remembered, in the order of the identifiers.
    var remembered: [TaskMemory] { memories.values.sorted { $0.identifier < $1.identifier } }

    mutating func remember(_ memory: TaskMemory) { memories[memory.identifier] = memory }

    /// What is remembered of an identifier.
    func memory(of identifier: String) -> TaskMemory {
        memories[identifier] ?? TaskMemory(identifier: identifier)
    }

    /// What is remembered of an identifier, if something is.
    func known(_ identifier: String) -> TaskMemory? { memories[identifier] }

    /// Gives out what is remembered of an identifier that is permitted again.
    mutating func take(_ identifier: String) -> TaskMemory? {
        memories.removeValue(forKey: identifier)
    }

    /// Since when requests of an identifier are parked, Unix nanoseconds.
    func since(_ identifier: String) -> Int64? { memories[identifier]?.parkedSince }

    /// When a request is given up, Unix nanoseconds: a week after its identifier was parked, or when
    /// its latest begin date has passed.
    func end(of request: Request) -> Int64 {
        let kept = (since(request.task) ?? .min).addingClamped(Self.keptFor)
        guard let latest = request.latestBegin, !request.isSimulated else { return kept }
        return min(kept, latest.addingClamped(1))
    }

    /// Takes a request in.
    ///
    /// - Returns: what is to be stored of its identifier, if that changed.
    mutating func add(_ request: Request, now: Int64) -> TaskMemory? {
        requests.append(request)
        var memory = memory(of: request.task)
        var changed: TaskMemory?
        // A clock that was set back must not keep it for longer.
        if memory.parkedSince.map({ $0 > now }) ?? true {
            memory.parkedSince = now
            remember(memory)
            changed = memory
        }
        nextEnd = min(nextEnd ?? .max, end(of: request))
        return changed
    }

    /// Gives out the requests that somebody wants.
    ///
    /// - Returns: those, and what is to be stored of identifiers of which none is left.
    mutating func remove(
        where isWanted: (Request) -> Bool
    ) -> (requests: [Request], changed: [TaskMemory]) {
        let removed = requests.filter(isWanted)
        guard !removed.isEmpty else { return ([], []) }
        requests.removeAll(where: isWanted)
        let left = Set(requests.map(\.task))
        var changed: [TaskMemory] = []
        for identifier in Set(removed.map(\.task)).subtracting(left).sorted() {
            var memory = memory(of: identifier)
            memory.parkedSince = nil
            remember(memory)
            changed.append(memory)
        }
        nextEnd = requests.map(end).min()
        return (removed, changed)
    }

    /// The clock was set: nothing is parked since a time that has not come.
    mutating func clockWasSet(now: Int64) {
        for (identifier, memory) in memories {
            guard let since = memory.parkedSince, since > now else { continue }
            memories[identifier]?.parkedSince = now
        }
        nextEnd = requests.map(end).min()
    }
}
