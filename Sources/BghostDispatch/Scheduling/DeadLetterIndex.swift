// SPDX-License-Identifier: Apache-2.0

package import BghostBase
internal import BghostModel
package import BghostPolicy

/// The ids of each plugin's dead letters; enforces a limit per plugin.
///
/// Above the limit, the plugin's oldest dead letter is dropped. Each change takes amortized
/// constant time.
package struct DeadLetterIndex: Sendable {
    /// The dead letters of one plugin, the oldest first.
    ///
    /// Removed entries stay in the array until they reach the front or until `compact` runs.
    private struct Queue: Sendable {
        var deaths: [Death] = []
        var head = 0
        var count = 0
    }

    /// One death of a request.
    ///
    /// A redriven request can die again; `number` distinguishes its deaths.
    private struct Death: Equatable, Sendable {
        let id: RunID
        let number: UInt64
    }

    private struct Place: Sendable {
        let plugin: String
        let task: String
        let number: UInt64
    }

    /// The maximum number of dead letters per plugin, 1 or more.
    package let limit: Int
    private var queues: [String: Queue] = [:]
    private var places: [RunID: Place] = [:]
    private var deaths: UInt64 = 0
    /// The number of dead letters by task; never 0.
    package private(set) var tasks: [String: Int] = [:]
    /// The number of dead letters dropped since the daemon started, by plugin.
    package private(set) var dropped: [String: Int] = [:]

    /// Whether ``takeChanges()`` is used.
    package var notesChanges = false
    private var changes: [(task: String, change: Int)] = []
    /// The number of deaths that searches and compactions have looked at: their work, which tests count.
    private(set) var deathsVisited = 0

    package init(limit: Int) { self.limit = max(1, limit) }

    /// The dead letters that were added and removed since the last call, by task.
    package mutating func takeChanges() -> [(task: String, change: Int)] {
        defer { changes = [] }
        return changes
    }

    /// The number of all dead letters.
    package var count: Int { places.count }

    /// The number of dead letters of a plugin.
    package func count(of plugin: String) -> Int { queues[plugin]?.count ?? 0 }

    /// Whether a request is dead.
    package func contains(_ id: RunID) -> Bool { places[id] != nil }

    /// Applies a change of the store.
    ///
    /// - Returns: the dead letter that the caller must discard, and its plugin; `nil` if the plugin is within
    ///   the limit.
    package mutating func apply(_ change: StoreChange) -> (id: RunID, plugin: String)? {
        switch change {
        case .runEnded(let record, .dead(let request, _)):
            return add(request.id, plugin: record.plugin, task: request.task)
                .map { ($0, record.plugin) }
        default:
            follow(removal: change)
            return nil
        }
    }

    /// Applies a change that removes a dead letter; ignores every other change.
    package mutating func follow(removal change: StoreChange) {
        switch change {
        case .redriven(let request): remove(request.id)
        case .discarded(let id): remove(id)
        default: break
        }
    }

    /// Adds a dead letter.
    ///
    /// - Returns: the plugin's oldest dead letter if the plugin now has more than `limit`.
    package mutating func add(_ id: RunID, plugin: String, task: String) -> RunID? {
        remove(id)
        deaths += 1
        places[id] = Place(plugin: plugin, task: task, number: deaths)
        tasks[task, default: 0] += 1
        if notesChanges { changes.append((task, 1)) }
        // Taking the queue out of the dictionary avoids a copy of its array.
        var queue = queues.removeValue(forKey: plugin) ?? Queue()
        queue.deaths.append(Death(id: id, number: deaths))
        queue.count += 1
        let oldest = queue.count > limit ? takeOldest(&queue) : nil
        if queue.deaths.count > 2 * limit + 64 { compact(&queue) }
        queues[plugin] = queue
        guard let oldest else { return nil }
        takePlace(of: oldest)
        dropped[plugin, default: 0] += 1
        return oldest
    }

    private mutating func remove(_ id: RunID) {
        guard let place = takePlace(of: id) else { return }
        queues[place.plugin]?.count -= 1
    }

    @discardableResult
    private mutating func takePlace(of id: RunID) -> Place? {
        guard let place = places.removeValue(forKey: id) else { return nil }
        tasks[place.task, default: 1] -= 1
        if tasks[place.task] == 0 { tasks[place.task] = nil }
        if notesChanges { changes.append((place.task, -1)) }
        return place
    }

    private func isDead(_ death: Death) -> Bool { places[death.id]?.number == death.number }

    private mutating func takeOldest(_ queue: inout Queue) -> RunID? {
        while queue.head < queue.deaths.count {
            let death = queue.deaths[queue.head]
            queue.head += 1
            deathsVisited += 1
            guard isDead(death) else { continue }
            queue.count -= 1
            return death.id
        }
        return nil
    }

    private mutating func compact(_ queue: inout Queue) {
        deathsVisited += queue.deaths.count - queue.head
        queue.deaths = queue.deaths[queue.head...].filter(isDead)
        queue.head = 0
    }
}
