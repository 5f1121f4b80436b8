// SPDX-License-Identifier: Apache-2.0

/// What waits, for those who ask.
extension Scheduler {
    /// The pending request of an identifier.
    package func pending(_ identifier: String) -> Request? {
        book.entry(of: identifier).flatMap { book.entries[$0].pending }
    }

    /// Whether a request of this id waits for its run.
    package func waits(_ id: RunID) -> Bool {
        book.contains(id) || parking.requests.contains { $0.id == id }
    }

    /// All that waits, of one identifier or of all in the order of their names; within one as they
    /// would begin.
    package func requests(of identifier: String?) -> [Request] {
        var requests: [Request] = []
        for entry in entries(of: identifier) { requests += book.entries[entry].requests }
        for request in parking.requests where identifier == nil || request.task == identifier {
            requests.append(request)
        }
        return requests
    }

    /// The times of its schedule that a run under way stands for besides its own.
    package func missed(by ticket: RunTicket) -> MissedSlots? { running[ticket]?.request.missed }

    /// The pending requests of a plugin's tasks.
    package func pending(ofPlugin plugin: Int) -> [(request: Request, kind: TaskKind)] {
        let plugin = catalog.current(plugin: plugin) ?? plugin
        return book.entries.compactMap { entry in
            guard catalog.pluginOfTask[entry.definition] == plugin else { return nil }
            return entry.pending.map { ($0, catalog.tasks[entry.definition].kind) }
        }
    }

    /// The identifiers of families that have been used.
    package var familyMembers: [String] {
        book.entries.lazy.map(\.identifier).filter { !catalog.names($0) }
    }

    // MARK: Tasks

    /// Why an identifier is not one: nobody permits it.
    package func refusal(of identifier: String) -> String { notPermitted(identifier) }

    /// Whether this is the pattern of a family in the manifest, such as `com.example.*`.
    package func isFamily(_ pattern: String) -> Bool {
        catalog.currentTasks.contains {
            let identifier = catalog.tasks[$0].identifier
            return identifier.isFamily && identifier.description == pattern
        }
    }

    /// All that waits of the members of a family.
    package func requests(ofFamily pattern: String) -> [Request] {
        entries(of: nil).flatMap { index -> [Request] in
            let entry = book.entries[index]
            let family = catalog.tasks[entry.definition].identifier
            return family.description == pattern && family.isFamily ? entry.requests : []
        }
    }

    /// The requests that wait and whose id is among these.
    package func requests(in ids: ClosedRange<RunID>) -> [Request] {
        book.requests(in: ids) + parking.requests.filter { ids.contains($0.id) }
    }

    /// What the schedule of an identifier brings next; `nil` if it has none.
    package func outlook(of identifier: String, now: Moment) -> ScheduleOutlook? {
        guard let task = catalog.task(for: identifier), let schedule = catalog.tasks[task].schedule
        else { return nil }
        let text = schedule.summary
        guard let entry = book.entry(of: identifier), let active = schedules[entry] else {
            return ScheduleOutlook(text: text, next: nil)
        }
        let plan = active.plan(memory(of: entry), now: now)
        let slot = plan.slots.first ?? plan.next
        return ScheduleOutlook(
            text: text,
            next: slot.map { active.rules.offset.start(of: $0) ?? $0 }
        )
    }
}
