// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

/// Requests for tasks that are no longer in the manifest, kept in case the manifest contains them
/// again.
struct Parking: Sendable {
    /// How long a request is kept, nanoseconds.
    static let keptFor: Int64 = 7 * 86_400_000_000_000

    private(set) var requests: [Request] = []
    /// The state of tasks that are not in the manifest.
    private var memories: [String: TaskMemory] = [:]
    /// When the first request expires, Unix nanoseconds; `nil` if there are none.
    private(set) var nextEnd: Int64?

    /// The states of the tasks, in the order of the identifiers.
    var remembered: [TaskMemory] { memories.values.sorted { $0.identifier < $1.identifier } }

    mutating func remember(_ memory: TaskMemory) {
        memories[memory.identifier] = memory.isEmpty ? nil : memory
    }

    /// Takes over a state that an earlier scheduler has stored, also an empty one, so that its row is
    /// deleted.
    mutating func restore(_ memory: TaskMemory) { memories[memory.identifier] = memory }

    /// The state of a task; an empty one if none is kept.
    func memory(of identifier: String) -> TaskMemory {
        memories[identifier] ?? TaskMemory(identifier: identifier)
    }

    /// The state of a task, if one is kept.
    func known(_ identifier: String) -> TaskMemory? { memories[identifier] }

    /// Removes and returns the state of a task that is in the manifest again.
    mutating func remove(_ identifier: String) -> TaskMemory? {
        memories.removeValue(forKey: identifier)
    }

    /// When requests of a task were parked, Unix nanoseconds.
    func since(_ identifier: String) -> Int64? { memories[identifier]?.parkedSince }

    /// When a request expires, Unix nanoseconds: at its latest start or one week after its task was parked,
    /// whichever comes first.
    func end(of request: Request) -> Int64 {
        let kept = (since(request.task) ?? .min).addingClamped(Self.keptFor)
        guard let latest = request.latestBegin, !request.isManual else { return kept }
        return min(kept, latest.addingClamped(1))
    }

    /// Parks a request.
    ///
    /// - Returns: the state to store for its task, if that changed.
    mutating func add(_ request: Request, now: Int64) -> TaskMemory? {
        requests.append(request)
        var memory = memory(of: request.task)
        var changed: TaskMemory?
        // If the clock was set back, the request must not be kept for longer.
        if memory.parkedSince.map({ $0 > now }) ?? true {
            memory.parkedSince = now
            remember(memory)
            changed = memory
        }
        nextEnd = min(nextEnd ?? .max, end(of: request))
        return changed
    }

    /// Removes and returns requests.
    ///
    /// - Returns: the requests, and the states to store for tasks that have none left.
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

    /// Moves the dates of retries by a step of the clock.
    ///
    /// - Returns: the requests that moved.
    mutating func moveRetries(by step: Int64) -> [Request] {
        var moved: [Request] = []
        for index in requests.indices where requests[index].isRetry {
            guard let request = requests[index].moved(by: step) else { continue }
            requests[index] = request
            moved.append(request)
        }
        return moved
    }

    /// Handles a clock that was set: limits the dates of parking to the new time.
    ///
    /// A date in the future would prolong the week for which requests are kept.
    mutating func clockWasSet(now: Int64) {
        for (identifier, memory) in memories {
            guard let since = memory.parkedSince, since > now else { continue }
            memories[identifier]?.parkedSince = now
        }
        nextEnd = requests.map(end).min()
    }
}
