// SPDX-License-Identifier: Apache-2.0

/// Learning when what a task refreshes is used, so that it is fresh by then.
extension Scheduler {
    /// Whether the manifest has a task learn when it is used.
    package func learnsUse(_ identifier: String) -> Bool {
        catalog.task(for: identifier).map { catalog.tasks[$0].learnsUse } ?? false
    }

    /// Every identifier of which a use may be known: of families those that were submitted.
    ///
    /// - Parameter plugin: only its own.
    package func learners(ofPlugin plugin: String? = nil) -> [String] {
        let group = plugin.map { catalog.currentPlugins[$0] ?? -1 }
        return book.entries.indices.filter { entry in
            let kind = book.entries.kind(entry)
            return (group ?? kind.group) == kind.group && isPermitted(entry)
                && catalog.tasks[kind.definition].learnsUse
        }.map { book.entries[$0].identifier }.sorted()
    }

    /// What has been learned of a task.
    package func uses(of identifier: String, now: Moment) -> UseStatus {
        UseStatus(task: identifier, habit(of: identifier, now: now))
    }

    private func habit(of identifier: String, now: Moment) -> UsePattern.Habit {
        let memory = book.entry(of: identifier).flatMap { memories[$0] }
        return (memory?.uses ?? UsePattern()).habit(now: now.unix)
    }

    /// What a task refreshes is being used.
    ///
    /// A request that waits keeps the moment that was chosen when it was accepted.
    ///
    /// - Returns: what is to be stored; `nil` if that is no news, or the task does not learn.
    package mutating func used(_ identifier: String, now: Moment) -> StoreChange? {
        note(.used(identifier), at: now)
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

    /// Forgets when a task was used.
    ///
    /// - Returns: what is to be stored; `nil` if nothing was known.
    package mutating func forgetUses(of identifier: String, now: Moment) -> StoreChange? {
        note(.forgetUses(of: identifier), at: now)
        guard let entry = book.entry(of: identifier), var memory = memories[entry],
            !memory.uses.isEmpty
        else { return nil }
        memory.uses = UsePattern()
        remember(memory, entry: entry, now: now)
        return .remembered(memory)
    }

    /// Chooses when a new request of a task that learns begins.
    func aim(_ request: inout Request, task: Int, entry: Int, now: Moment) {
        guard request.tolerance > 0, !request.isSimulated, catalog.tasks[task].learnsUse,
            let memory = memories[entry]
        else { return }
        request.aim(at: memory.uses.habit(now: now.unix))
    }

    /// What has been learned of a task, in words.
    func usualUse(of identifier: String, now: Moment) -> String {
        let habit = habit(of: identifier, now: now)
        let times = habit.beginnings.map { "\(ClockTime.text(minute: $0.minute)) UTC" }
        guard !times.isEmpty else { return "no usual use is known any more" }
        return "on at least half of \(habit.days) days it was used from"
            + " \(times.joined(separator: ", ")) on"
    }
}
