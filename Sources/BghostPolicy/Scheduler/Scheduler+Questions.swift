// SPDX-License-Identifier: Apache-2.0

package import BghostBase
internal import BghostCalendar
package import BghostModel

/// Queries about waiting requests.
extension Scheduler {
    /// The number of times that a request was considered for a start: the work of dispatching.
    var entriesVisited: Int { pendingIndex.entriesVisited }

    /// The slots in use, including runs whose end is not stored yet.
    package var slotsInUse: Int { running.count }

    /// The number of requests that wait for a run, without those whose task is no longer in the manifest.
    package var waitingRequests: Int { pendingIndex.entries.waitingTotal }

    /// The pending request of a task.
    package func pending(_ identifier: String) -> Request? {
        pendingIndex.entry(of: identifier).flatMap { pendingIndex.entries[$0].pending }
    }

    /// The pending request of a task, or else the first of its appended ones.
    package func pendingOrAppended(_ identifier: String) -> Request? {
        pendingIndex.entry(of: identifier).flatMap { pendingIndex.entries.pendingOrAppended($0) }
    }

    /// Whether a request of a task is waiting, in the index or parked.
    package func waits(_ id: RunID, of task: String) -> Bool {
        let entry = pendingIndex.entry(of: task)
        return entry.flatMap { pendingIndex.entries[$0].place(of: id) } != nil
            || parking.contains(id)
    }

    /// All waiting requests of one task, or of all tasks in the order of their identifiers.
    ///
    /// The requests of one task are in the order in which they would start.
    package func requests(of identifier: String?) -> [Request] {
        var requests: [Request] = []
        for entry in entries(of: identifier) { requests += pendingIndex.entries[entry].requests }
        return requests + (identifier.map { parking.requests(of: $0) } ?? parking.requests)
    }

    /// The missed starts that a run in progress makes up for.
    package func missed(by handle: RunHandle) -> MissedStarts? { running[handle]?.request.missed }

    /// The pending requests of a plugin's tasks that plugins may submit.
    package func pending(ofPlugin plugin: Int) -> [(request: Request, kind: TaskKind)] {
        let plugin = catalog.current(plugin: plugin) ?? plugin
        let entries = pendingIndex.entries
        return entries.indices.compactMap { number in
            guard entries.isInUse(number) else { return nil }
            let definition = entries.kind(number).definition
            let kind = catalog.tasks[definition].kind
            guard catalog.pluginOfTask[definition] == plugin, kind.isSubmittedByPlugins else {
                return nil
            }
            return entries.pendingOrAppended(number).map { ($0, kind) }
        }
    }

    /// The identifiers of family members that were used last, the latest first.
    ///
    /// The cost is O(tasks of the manifest). Identifiers that the manifest no longer permits are left out.
    ///
    /// - Parameter limit: at most 256 are listed.
    /// - Returns: the identifiers, and the number of all that are in use or that a higher limit would list.
    package func familyMembers(limit: Int) -> (identifiers: [String], total: Int) {
        let named = catalog.names.count { pendingIndex.entry(of: $0) != nil }
        let latest = recentMembers.latestFirst.filter {
            !catalog.names($0) && catalog.task(for: $0) != nil
        }
        let forgotten = latest.count { pendingIndex.entry(of: $0) == nil }
        return (Array(latest.prefix(limit)), pendingIndex.entries.count - named + forgotten)
    }

    // MARK: Tasks

    /// Whether the manifest has a task with this identifier, a family with this pattern or a family
    /// that covers it, or a request for it waits.
    package func knows(_ identifier: String) -> Bool {
        catalog.task(for: identifier) != nil || isFamily(identifier)
            || parking.has(identifier)
    }

    /// The most similar name in the manifest, if it is similar enough.
    package func nearestName(to identifier: String) -> String? {
        var budget = Spelling.Budget()
        return nearestName(to: identifier, within: &budget)
    }

    /// The most similar name in the manifest; subtracts the work from the budget.
    func nearestName(
        to identifier: String,
        within budget: inout Spelling.Budget
    ) -> String? {
        // This call blocks the scheduler, and a manifest may have very many tasks: do not compare all of
        // them.
        if catalog.currentTasks.count > Self.comparedMax,
            let near = Spelling.oneEditAway(
                from: identifier,
                isKnown: {
                    budget.lookups -= 1
                    return budget.lookups >= 0 && catalog.names($0)
                }
            )
        {
            return near
        }
        return Spelling.nearest(
            to: identifier,
            among: catalog.currentTasks.lazy.map { [catalog] in
                catalog.tasks[$0].identifier.description
            },
            within: &budget
        )
    }

    /// With more tasks than this, only identifiers one edit away are tried first.
    private static let comparedMax = 256

    /// Whether this is the pattern of a family in the manifest, such as `com.example.*`.
    package func isFamily(_ pattern: String) -> Bool {
        catalog.isFamily(pattern)
    }

    /// The next start of a task's schedule; `nil` if it has no schedule.
    package func outlook(of identifier: String, now: Moment) -> ScheduleOutlook? {
        guard let task = catalog.task(for: identifier), let schedule = catalog.tasks[task].schedule
        else { return nil }
        let text = schedule.summary
        guard let entry = pendingIndex.entry(of: identifier), let active = schedules[entry] else {
            return ScheduleOutlook(text: text, next: nil)
        }
        let memory = memory(of: entry)
        if TaskSchedule.isOfBoot(memory.schedule), memory.lastServedTime != nil {
            return ScheduleOutlook(text: text, next: nil)
        }
        let plan = active.plan(memory, now: now)
        let time = plan.times.first ?? plan.next
        let pending = pendingIndex.entries[entry].pending
        // Its random delay is known once a request waits for it.
        if let pending, let time, pending.scheduledTime == time, active.rules.randomDelay > 0 {
            return ScheduleOutlook(text: text, next: pending.earliestBegin)
        }
        return ScheduleOutlook(
            text: text,
            next: time.map { active.rules.offset.start(of: $0) ?? $0 }
        )
    }
}
