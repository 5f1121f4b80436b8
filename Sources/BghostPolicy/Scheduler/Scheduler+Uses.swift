// SPDX-License-Identifier: Apache-2.0

package import BghostBase
package import BghostModel

/// Learns when the results of a task are used, so that they are fresh by then.
extension Scheduler {
    /// Whether the manifest enables learning for a task.
    package func learnsUse(_ identifier: String) -> Bool {
        catalog.task(for: identifier).map { catalog.tasks[$0].learnsUse } ?? false
    }

    /// The identifiers for which uses may be recorded; of families, those that were submitted in the last two
    /// weeks.
    ///
    /// The cost is O(log n) for each of them.
    ///
    /// - Parameter plugin: restricts the result to the tasks of one plugin.
    package func learners(ofPlugin plugin: String? = nil) -> [String] {
        learners(learningRows(ofPlugin: plugin)[...]).sorted()
    }

    /// The rows of these identifiers, in no order.
    package func learningRows(ofPlugin plugin: String? = nil) -> [Int] {
        guard let plugin else { return learners.values.flatMap(\.self) }
        return catalog.currentPlugins[plugin].flatMap { learners[$0] }.map { Array($0) } ?? []
    }

    /// The identifiers of such rows, without those that do not learn any more.
    package func learners(_ rows: ArraySlice<Int>) -> [String] {
        let entries = pendingIndex.entries
        return rows.compactMap { row in
            guard entries.isInUse(row), learners[entries.kind(row).group]?.contains(row) == true
            else { return nil }
            return entries.identifier(row)
        }
    }

    /// Finds the identifiers that learn, after the tasks have changed.
    mutating func findLearners() {
        learners = [:]
        guard catalog.currentTasks.contains(where: { catalog.tasks[$0].learnsUse }) else { return }
        let entries = pendingIndex.entries
        for entry in entries.indices where entries.isInUse(entry) {
            let kind = entries.kind(entry)
            guard catalog.tasks[kind.definition].learnsUse, isPermitted(entry) else { continue }
            learners[kind.group, default: []].insert(entry)
        }
    }

    /// The learned uses of a task.
    package func habit(of identifier: String, now: Moment) -> UsePattern.Habit {
        let memory = pendingIndex.entry(of: identifier).flatMap { memories[$0] }
        return (memory?.uses ?? UsePattern()).habit(now: now.unix)
    }

    /// Records a use of a task's results.
    ///
    /// A waiting request keeps the time that was chosen when it was accepted.
    ///
    /// - Returns: the change to store; `nil` if nothing changed, or if the task does not learn.
    package mutating func resultUsed(_ identifier: String, now: Moment) -> StoreChange? {
        recordInput(.resultUsed(identifier), at: now)
        guard let task = catalog.task(for: identifier), catalog.tasks[task].learnsUse else {
            return nil
        }
        let entry = entry(for: identifier, task: task)
        var memory = memory(of: entry)
        memory.uses.add(now: now.unix)
        guard memory != memories[entry] else { return nil }
        remember(memory, entry: entry, now: now)
        return .remembered(memory)
    }

    /// Deletes the learned uses of a task.
    ///
    /// - Returns: the change to store; `nil` if there were none.
    package mutating func forgetUses(of identifier: String, now: Moment) -> StoreChange? {
        recordInput(.forgetUses(of: identifier), at: now)
        guard let entry = pendingIndex.entry(of: identifier), var memory = memories[entry],
            !memory.uses.isEmpty
        else { return nil }
        memory.uses = UsePattern()
        remember(memory, entry: entry, now: now)
        return .remembered(memory)
    }

    /// Chooses the start of a new request of a learning task.
    func chooseStart(_ request: inout Request, task: Int, entry: Int, now: Moment) {
        guard request.tolerance > 0, !request.isManual, catalog.tasks[task].learnsUse,
            let memory = memories[entry]
        else { return }
        request.chooseStart(by: memory.uses.habit(now: now.unix))
    }

    /// The learned uses of a task, as text.
    func usualUse(of identifier: String, now: Moment) -> String {
        let habit = habit(of: identifier, now: now)
        let times = habit.beginnings.map { "\(ClockTime.text(minute: $0.minute)) UTC" }
        guard !times.isEmpty else { return "no usual use is known any more" }
        return "on at least half of \(habit.days) days it was used from"
            + " \(times.joined(separator: ", ")) on"
    }
}
