// SPDX-License-Identifier: Apache-2.0

package import BghostBase
package import BghostModel

/// Filtered lists of waiting requests, in pages that a client may ask for at any time.
///
/// The cost of a page has a bound, however many identifiers there are.
extension Scheduler {
    /// Conditions for waiting requests; those that are given must all hold.
    package struct WaitingQuery: Equatable, Sendable {
        package var tasks: TaskFilter?
        /// The name of a plugin or function of the manifest.
        package var plugin: String?
        package var submitter: Submitter.Kind?
        /// A tag of tasks of the manifest.
        package var tag: String?

        package init(
            tasks: TaskFilter? = nil,
            plugin: String? = nil,
            submitter: Submitter.Kind? = nil,
            tag: String? = nil
        ) {
            self.tasks = tasks
            self.plugin = plugin
            self.submitter = submitter
            self.tag = tag
        }

        fileprivate func matches(_ request: Request) -> Bool {
            (tasks?.matches(request.task) ?? true)
                && (submitter.map { $0 == request.submitter.kind } ?? true)
        }
    }

    /// A place in the list of all waiting requests.
    ///
    /// It is valid for one daemon with one manifest.
    package struct WaitingPlace: Equatable, Sendable {
        /// The row of an identifier; below 0, the parked requests from the number `-1 - row` on.
        package var row: Int64
        /// The last request of the row before the place; 0 if there is none.
        package var id: RunID

        package init(row: Int64, id: RunID = RunID(high: 0, low: 0)) {
            self.row = row
            self.id = id
        }

        package static let start = WaitingPlace(row: 0)
    }

    /// Some of the waiting requests that a query selects.
    package struct FoundRequests: Sendable {
        package var requests: [Request] = []
        /// The start of the next page; `nil` after the last one.
        package var next: WaitingPlace?
        /// How many identifiers and parked requests were looked at.
        package var visited = 0
        /// The length of the parameters of `requests`, bytes.
        package var parameterBytes = 0

        mutating func append(_ request: Request) {
            requests.append(request)
            parameterBytes += request.parameters.utf8.count
        }
    }

    /// The number of waiting requests of all tasks, or of one; O(1).
    ///
    /// - Returns: `nil` if counting costs more.
    package func waitingCount(_ query: WaitingQuery) -> Int? {
        guard query.plugin == nil, query.submitter == nil, query.tag == nil else { return nil }
        guard let tasks = query.tasks else { return waitingRequests + parking.count }
        // A task of the manifest has no parked requests.
        guard let task = tasks.task, catalog.task(for: task) != nil else { return nil }
        return pendingIndex.entry(of: task).map { pendingIndex.entries.waitingCount($0) } ?? 0
    }

    /// A page of the waiting requests that a query selects, in the order of their rows.
    ///
    /// A request that waits during all calls is in exactly one page. The requests of one task are in the order
    /// in which they would start, if one page has them all.
    ///
    /// - Parameters:
    ///   - limit: the most requests, 1 or more; a page has at most 256.
    ///   - bytes: the page ends when its parameters have more.
    package func waiting(
        _ query: WaitingQuery,
        from place: WaitingPlace,
        limit: Int,
        bytes: Int = .max
    ) -> FoundRequests {
        var page = FoundRequests()
        let limit = Swift.min(limit, Self.pageMax)
        guard place.row >= 0 else {
            return parked(query, from: place, limit: limit, bytes: bytes)
        }
        let entries = pendingIndex.entries
        var row = Int(clamping: place.row)
        var end = Swift.min(entries.indices.upperBound, row.addingClamped(Self.pageEntriesMax))
        var isLast = end == entries.indices.upperBound
        if let task = query.tasks?.task {
            let entry = pendingIndex.entry(of: task)
            (row, end) = entry.map { (Swift.max(row, $0), $0 + 1) } ?? (0, 0)
            isLast = true
        }
        var plugin: Int?
        if let name = query.plugin {
            plugin = catalog.currentPlugins[name]
            guard plugin != nil else { return page }
        }
        let tagged = catalog.definitions(taggedWith: query.tag)
        while row < end {
            page.visited += 1
            if entries.isInUse(row), entries.mayMatch(row, query),
                plugin.map({ catalog.pluginOfTask[entries.kind(row).definition] == $0 }) ?? true,
                tagged?.contains(entries.kind(row).definition) ?? true
            {
                let behind = place.row == Int64(row) ? place.id : RunID(high: 0, low: 0)
                let room = limit - page.requests.count
                if let last = add(entries[row], query, behind: behind, room: room, to: &page) {
                    page.next = WaitingPlace(row: Int64(row), id: last)
                    return page
                }
            }
            row += 1
            guard page.requests.count < limit, page.parameterBytes <= bytes else { break }
        }
        if row < end || !isLast {
            page.next = WaitingPlace(row: Int64(row))
        } else if plugin == nil, tagged == nil, hasParked(query.tasks) {
            page.next = WaitingPlace(row: -1)
        }
        return page
    }

    /// Adds the requests of an identifier.
    ///
    /// - Returns: the last added request, if there are more than `room`: those with the lowest ids were
    ///   added, since their order does not change while they wait.
    private func add(
        _ entry: PendingRequestIndex.Entry,
        _ query: WaitingQuery,
        behind id: RunID,
        room: Int,
        to page: inout FoundRequests
    ) -> RunID? {
        let wanted = entry.requests.filter { $0.id > id && query.matches($0) }
        guard wanted.count > room else {
            for request in wanted { page.append(request) }
            return nil
        }
        let last = wanted.map(\.id).sorted()[room - 1]
        for request in wanted where request.id <= last { page.append(request) }
        return last
    }

    private func parked(
        _ query: WaitingQuery,
        from place: WaitingPlace,
        limit: Int,
        bytes: Int
    ) -> FoundRequests {
        var page = FoundRequests()
        guard query.plugin == nil, query.tag == nil else { return page }
        for (number, request) in parking.places(from: Int(clamping: -1 - place.row)) {
            guard page.visited < Self.pageEntriesMax, page.requests.count < limit,
                page.parameterBytes <= bytes
            else {
                page.next = WaitingPlace(row: Int64(-1 - number))
                return page
            }
            page.visited += 1
            if let request, query.matches(request) { page.append(request) }
        }
        return page
    }

    /// Whether the parked requests have to be searched.
    private func hasParked(_ tasks: TaskFilter?) -> Bool {
        tasks?.task.map { parking.has($0) } ?? (parking.count > 0)
    }
}

extension PendingRequestIndex.Entries {
    /// Whether a row may have a request that a query selects; it builds no request.
    fileprivate func mayMatch(_ number: Int, _ query: Scheduler.WaitingQuery) -> Bool {
        let row = rows[number]
        guard row.hasRequest || row.hasExtras else { return false }
        if !row.hasExtras, let submitter = query.submitter {
            guard row.mayBe(from: submitter) else { return false }
        }
        guard case .beginning(let stem) = query.tasks, !stem.isEmpty else { return true }
        return identifier(number).utf8.starts(with: stem.utf8)
    }
}
