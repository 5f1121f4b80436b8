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

    /// The pending request of a task.
    package func pending(_ identifier: String) -> Request? {
        pendingIndex.entry(of: identifier).flatMap { pendingIndex.entries[$0].pending }
    }

    /// Whether a request with this id is waiting, in the index or parked.
    package func waits(_ id: RunID) -> Bool {
        pendingIndex.contains(id) || parking.requests.contains { $0.id == id }
    }

    /// All waiting requests of one task, or of all tasks in the order of their identifiers.
    ///
    /// The requests of one task are in the order in which they would start.
    package func requests(of identifier: String?) -> [Request] {
        var requests: [Request] = []
        for entry in entries(of: identifier) { requests += pendingIndex.entries[entry].requests }
        for request in parking.requests where identifier == nil || request.task == identifier {
            requests.append(request)
        }
        return requests
    }

    /// Some of the waiting requests.
    package struct WaitingPage: Sendable {
        /// The first requests of the page, at most as many as the caller keeps.
        package var requests: [Request] = []
        /// The number of all requests of the page.
        package var count = 0
        /// The start of the next page; `nil` after the last one.
        package var next: Int?
    }

    /// A page of the waiting requests of one task, or of all tasks in no order.
    ///
    /// A request that waits during all calls is in exactly one page, unless the manifest is replaced
    /// meanwhile; of parked requests, which come last, some may be left out if others leave. The cost of a
    /// page has a bound, however many identifiers there are.
    ///
    /// - Parameters:
    ///   - from: 0, or `next` of the previous page.
    ///   - limit: the number of requests that the caller keeps; further ones are only counted.
    package func waiting(of identifier: String?, from: Int, keeping limit: Int) -> WaitingPage {
        var page = WaitingPage()
        // Negative starts mean parked requests, because the number of identifiers may grow meanwhile.
        guard from >= 0 else { return parked(of: identifier, from: -1 - from, keeping: limit) }
        let entries = pendingIndex.entries
        let wanted = identifier.map { pendingIndex.entry(of: $0) }
        var index = from
        if let wanted {
            if let wanted { add(wanted, of: entries, into: &page, keeping: limit) }
            index = entries.indices.upperBound
        }
        let end = min(entries.indices.upperBound, index.addingClamped(Self.pageEntriesMax))
        while index < end, page.requests.count < Self.pageMax {
            if entries.isInUse(index) { add(index, of: entries, into: &page, keeping: limit) }
            index += 1
        }
        if index < entries.indices.upperBound {
            page.next = index
        } else if !parking.requests.isEmpty {
            page.next = -1
        }
        return page
    }

    private func add(
        _ entry: Int,
        of entries: PendingRequestIndex.Entries,
        into page: inout WaitingPage,
        keeping limit: Int
    ) {
        let count = entries.waitingCount(entry)
        guard count > 0 else { return }
        page.count += count
        let room = limit - page.requests.count
        if room > 0 { page.requests += entries[entry].requests.prefix(room) }
    }

    private func parked(of identifier: String?, from: Int, keeping limit: Int) -> WaitingPage {
        var page = WaitingPage()
        let end = min(parking.requests.count, from.addingClamped(Self.pageEntriesMax))
        for request in parking.requests[min(from, end)..<end]
        where identifier == nil || request.task == identifier {
            page.count += 1
            if page.requests.count < limit { page.requests.append(request) }
        }
        if end < parking.requests.count { page.next = -1 - end }
        return page
    }

    /// The missed starts that a run in progress makes up for.
    package func missed(by handle: RunHandle) -> MissedStarts? { running[handle]?.request.missed }

    /// The pending requests of a plugin's tasks.
    package func pending(ofPlugin plugin: Int) -> [(request: Request, kind: TaskKind)] {
        let plugin = catalog.current(plugin: plugin) ?? plugin
        let entries = pendingIndex.entries
        return entries.indices.compactMap { number in
            guard entries.isInUse(number) else { return nil }
            let definition = entries.kind(number).definition
            guard catalog.pluginOfTask[definition] == plugin else { return nil }
            return entries.pending(number).map { ($0, catalog.tasks[definition].kind) }
        }
    }

    /// A page of the pending requests of a plugin's tasks.
    ///
    /// A request that is pending during all calls is in exactly one page.
    ///
    /// - Parameter from: 0, or `next` of the previous page.
    /// - Returns: `next` is `nil` on the last page.
    package func pending(
        ofPlugin plugin: Int,
        from: Int
    ) -> (page: [(request: Request, kind: TaskKind)], next: Int?) {
        let plugin = catalog.current(plugin: plugin) ?? plugin
        var page: [(request: Request, kind: TaskKind)] = []
        let entries = pendingIndex.entries
        var index = max(0, from)
        let end = min(
            entries.indices.upperBound,
            index.addingReportingOverflow(Self.pageEntriesMax).partialValue
        )
        while index < end, page.count < Self.pageMax {
            defer { index += 1 }
            guard entries.isInUse(index) else { continue }
            let definition = entries.kind(index).definition
            if catalog.pluginOfTask[definition] == plugin, let request = entries.pending(index) {
                page.append((request, catalog.tasks[definition].kind))
            }
        }
        return (page, index < entries.indices.upperBound ? index : nil)
    }

    /// The most requests of a page.
    static let pageMax = 256
    /// The most identifiers that are checked for a page.
    private static let pageEntriesMax = 8192

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
            || parking.requests.contains { $0.task == identifier }
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

    /// All waiting requests of the members of a family.
    package func requests(ofFamily pattern: String) -> [Request] {
        entries(of: nil).flatMap { index -> [Request] in
            let entry = pendingIndex.entries[index]
            let family = catalog.tasks[entry.definition].identifier
            return family.description == pattern && family.isFamily ? entry.requests : []
        }
    }

    /// The waiting requests with ids in a range.
    package func requests(in ids: ClosedRange<RunID>) -> [Request] {
        pendingIndex.requests(in: ids) + parking.requests.filter { ids.contains($0.id) }
    }

    /// The next start of a task's schedule; `nil` if it has no schedule.
    package func outlook(of identifier: String, now: Moment) -> ScheduleOutlook? {
        guard let task = catalog.task(for: identifier), let schedule = catalog.tasks[task].schedule
        else { return nil }
        let text = schedule.summary
        guard let entry = pendingIndex.entry(of: identifier), let active = schedules[entry] else {
            return ScheduleOutlook(text: text, next: nil)
        }
        let plan = active.plan(memory(of: entry), now: now)
        let time = plan.times.first ?? plan.next
        return ScheduleOutlook(
            text: text,
            next: time.map { active.rules.offset.start(of: $0) ?? $0 }
        )
    }
}
