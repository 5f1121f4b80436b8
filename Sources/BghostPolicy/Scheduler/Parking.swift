// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostModel

/// Requests for tasks that are no longer in the manifest, kept in case the manifest contains them
/// again.
///
/// An addition, a removal and an end cost O(log n), amortized; a question about a task costs its own requests.
struct Parking: Sendable {
    /// How long a request is kept, nanoseconds.
    static let keptFor: Int64 = 7 * 86_400_000_000_000

    fileprivate struct Place: Sendable {
        /// The numbers ascend, and none is used twice; so it stays valid when others leave.
        let number: Int
        /// `nil` if it has left.
        var request: Request?
        /// When it expires, Unix nanoseconds, at least 0.
        var end: Int64
    }

    private struct Parked: Sendable {
        /// In ascending order, also of requests that have left.
        var numbers: [Int] = []
        var count = 0
    }

    /// In the order in which the requests were parked.
    private var places: [Place] = []
    private var lastNumber = -1
    /// The number of requests.
    private(set) var count = 0
    private var numbers: [RunID: Int] = [:]
    private var tasks: [String: Parked] = [:]
    private var ends = TimerHeap()
    /// The state of tasks that are not in the manifest.
    private var memories: [String: TaskMemory] = [:]
    /// When the first request expires, Unix nanoseconds; `nil` if there are none.
    private(set) var nextEnd: Int64?
    /// The number of places that changes have looked at: their work, which tests count.
    private(set) var visits = 0

    // MARK: Tasks

    /// The states of the tasks, in the order of the identifiers.
    var remembered: [TaskMemory] { memories.values.sorted { $0.identifier < $1.identifier } }

    mutating func remember(_ memory: TaskMemory) {
        set(memory.isEmpty ? nil : memory, of: memory.identifier)
    }

    /// Takes over a state that an earlier scheduler has stored, also an empty one, so that its row is
    /// deleted.
    mutating func restore(_ memory: TaskMemory) { set(memory, of: memory.identifier) }

    /// The state of a task; an empty one if none is kept.
    func memory(of identifier: String) -> TaskMemory {
        memories[identifier] ?? TaskMemory(identifier: identifier)
    }

    /// The state of a task, if one is kept.
    func known(_ identifier: String) -> TaskMemory? { memories[identifier] }

    /// Removes and returns the state of a task that is in the manifest again.
    mutating func remove(_ identifier: String) -> TaskMemory? {
        defer { set(nil, of: identifier) }
        return memories[identifier]
    }

    /// When requests of a task were parked, Unix nanoseconds.
    func since(_ identifier: String) -> Int64? { memories[identifier]?.parkedSince }

    private mutating func set(_ memory: TaskMemory?, of identifier: String) {
        let before = since(identifier)
        memories[identifier] = memory
        guard since(identifier) != before, let parked = tasks[identifier] else { return }
        // The ends of its requests depend on that date.
        for index in parked.numbers.compactMap({ places.index(of: $0) }) { updateEnd(at: index) }
        updateNextEnd()
    }

    // MARK: Questions

    /// All requests, in the order in which they were parked.
    var requests: [Request] { places.compactMap(\.request) }

    /// The requests of a task, in the order in which they were parked.
    func requests(of identifier: String) -> [Request] {
        tasks[identifier]?.numbers.compactMap { places.request($0) } ?? []
    }

    /// Whether a task has requests.
    func has(_ identifier: String) -> Bool { tasks[identifier] != nil }

    func contains(_ id: RunID) -> Bool { numbers[id] != nil }

    /// When a request expires, Unix nanoseconds: at its latest start or one week after its task was parked,
    /// whichever comes first.
    func end(of request: Request) -> Int64 {
        let kept = (since(request.task) ?? .min).addingClamped(Self.keptFor)
        guard let latest = request.latestBegin, !request.isManual else { return kept }
        return min(kept, latest.addingClamped(1))
    }

    /// Some of the requests, for a page of a list.
    ///
    /// - Parameter number: the places from this number on.
    /// - Returns: of each place its number and its request, if that has not left.
    func places(from number: Int) -> some RandomAccessCollection<(number: Int, request: Request?)> {
        places[places.firstIndex(from: number)...].lazy.map { ($0.number, $0.request) }
    }

    // MARK: Changes

    /// Parks a request.
    ///
    /// - Returns: the state to store for its task, if that changed.
    mutating func add(_ request: Request, now: Int64) -> TaskMemory? {
        var memory = memory(of: request.task)
        var changed: TaskMemory?
        // If the clock was set back, the request must not be kept for longer.
        if memory.parkedSince.map({ $0 > now }) ?? true {
            memory.parkedSince = now
            remember(memory)
            changed = memory
        }
        lastNumber += 1
        visits += 1
        let end = max(0, end(of: request))
        places.append(Place(number: lastNumber, request: request, end: end))
        numbers[request.id] = lastNumber
        tasks[request.task, default: Parked()].numbers.append(lastNumber)
        tasks[request.task]?.count += 1
        count += 1
        ends.insert(deadline: UInt64(end), token: UInt64(lastNumber))
        nextEnd = min(nextEnd ?? .max, end)
        return changed
    }

    /// Removed requests, and the states to store for tasks that have none left.
    typealias Removal = (requests: [Request], changed: [TaskMemory])

    /// Removes and returns a request, if it is parked.
    mutating func remove(_ id: RunID) -> Removal {
        remove(numbers[id].map { [$0] } ?? [], areArmed: true)
    }

    /// Removes and returns the requests of some tasks, in the order in which they were parked.
    mutating func remove(ofTasks identifiers: Set<String>) -> Removal {
        // Of few tasks or of few identifiers, whichever are fewer.
        let known =
            identifiers.count < tasks.count
            ? identifiers.compactMap { tasks[$0] }
            : tasks.filter { identifiers.contains($0.key) }.map(\.value)
        return remove(known.flatMap(\.numbers), areArmed: true)
    }

    /// Removes and returns the requests of all tasks that meet a condition, in the order in which they were
    /// parked.
    mutating func remove(where isWanted: (_ task: String) -> Bool) -> Removal {
        remove(ofTasks: Set(tasks.keys.filter(isWanted)))
    }

    /// Removes and returns the requests that have expired, in the order in which they were parked.
    mutating func removeEnded(now: Int64) -> Removal {
        var ended: [Int] = []
        while let number = popEnded(now: now) { ended.append(number) }
        return remove(ended, areArmed: false)
    }

    private mutating func popEnded(now: Int64) -> Int? {
        let places = places
        return ends.popDue(now: UInt64(max(0, now))) { places.isLive($0, $1) }.map { Int($0) }
    }

    /// - Parameter areArmed: whether the heap has their ends.
    private mutating func remove(_ removed: [Int], areArmed: Bool) -> Removal {
        var requests: [Request] = []
        var emptied: [String] = []
        for number in removed.sorted() {
            visits += 1
            guard let index = places.index(of: number), let request = places[index].request else {
                continue
            }
            places[index].request = nil
            numbers[request.id] = nil
            count -= 1
            requests.append(request)
            if !leave(request.task) { emptied.append(request.task) }
            if areArmed { disarm() }
        }
        guard !requests.isEmpty else { return ([], []) }
        var changed: [TaskMemory] = []
        for identifier in emptied.sorted() {
            var memory = memory(of: identifier)
            memory.parkedSince = nil
            remember(memory)
            changed.append(memory)
        }
        if places.count > 2 * count + 32 {
            visits += places.count
            places.removeAll { $0.request == nil }
        }
        updateNextEnd()
        return (requests, changed)
    }

    /// Counts that a request of a task has left.
    ///
    /// - Returns: whether the task has others.
    private mutating func leave(_ identifier: String) -> Bool {
        guard var parked = tasks.removeValue(forKey: identifier), parked.count > 1 else {
            return false
        }
        parked.count -= 1
        if parked.numbers.count > 2 * parked.count + 8 {
            visits += parked.numbers.count
            parked.numbers.removeAll { places.request($0) == nil }
        }
        tasks[identifier] = parked
        return true
    }

    /// Moves the dates of retries and of parking by a step of the clock.
    ///
    /// - Returns: the requests that moved, and the states.
    mutating func move(
        by step: Int64,
        now: Int64
    ) -> (requests: [Request], memories: [TaskMemory]) {
        var moved: [Request] = []
        for identifier in memories.keys {
            let since = memories[identifier]?.parkedSince?.addingClamped(step)
            memories[identifier]?.parkedSince = since
            memories[identifier]?.throttle.limit(now: now)
        }
        for index in places.indices {
            guard let request = places[index].request, request.isRetry,
                let later = request.moved(by: step)
            else { continue }
            places[index].request = later
            moved.append(later)
        }
        return (moved, remembered.filter { $0.parkedSince != nil })
    }

    /// Handles a clock that was set: limits the dates of parking to the new time.
    ///
    /// A date in the future would prolong the week for which requests are kept.
    mutating func clockWasSet(now: Int64) {
        for (identifier, memory) in memories {
            guard let since = memory.parkedSince, since > now else { continue }
            memories[identifier]?.parkedSince = now
        }
        for index in places.indices { updateEnd(at: index) }
        updateNextEnd()
    }

    // MARK: Ends

    private mutating func updateEnd(at index: Int) {
        guard let request = places[index].request else { return }
        visits += 1
        let end = max(0, end(of: request))
        guard end != places[index].end else { return }
        places[index].end = end
        disarm()
        ends.insert(deadline: UInt64(end), token: UInt64(places[index].number))
    }

    /// Records that an end in the heap is none any more.
    private mutating func disarm() {
        let places = places
        ends.forget { places.isLive($0, $1) }
    }

    private mutating func updateNextEnd() {
        let places = places
        nextEnd = ends.first { places.isLive($0, $1) }.map { Int64(clamping: $0.deadline) }
    }
}

extension [Parking.Place] {
    fileprivate func firstIndex(from number: Int) -> Int {
        var range = indices
        while !range.isEmpty {
            let middle = (range.lowerBound + range.upperBound) / 2
            if self[middle].number < number {
                range = (middle + 1)..<range.upperBound
            } else {
                range = range.lowerBound..<middle
            }
        }
        return range.lowerBound
    }

    fileprivate func index(of number: Int) -> Int? {
        let index = firstIndex(from: number)
        return index < count && self[index].number == number ? index : nil
    }

    fileprivate func request(_ number: Int) -> Request? {
        index(of: number).flatMap { self[$0].request }
    }

    /// Whether an end in the heap is that of a request.
    fileprivate func isLive(_ token: UInt64, _ deadline: UInt64) -> Bool {
        guard let index = index(of: Int(token)), self[index].request != nil else { return false }
        return UInt64(self[index].end) == deadline
    }
}
