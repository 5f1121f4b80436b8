// SPDX-License-Identifier: Apache-2.0

package import BghostBase
package import BghostModel

/// Lists of waiting requests in pages.
///
/// The cost of a page has a bound, however many identifiers there are. The caller leaves the reactor to
/// others between two pages.
extension Scheduler {
    /// Which waiting requests a list contains.
    package enum WaitingSelection: Sendable {
        case all
        case task(String)
        /// The members of a family, by its pattern in the manifest.
        case family(String)
        /// Those of tasks of the manifest with this tag.
        case tag(String)
        /// The requests with an id in a range.
        case ids(ClosedRange<RunID>)

        fileprivate func contains(_ request: Request) -> Bool {
            switch self {
            case .all: true
            case .task(let identifier): request.task == identifier
            case .family, .tag: false
            case .ids(let ids): ids.contains(request.id)
            }
        }
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

    /// A page of some of the waiting requests, in no order.
    ///
    /// A request that waits during all calls is in exactly one page, unless the manifest is replaced
    /// meanwhile. Parked requests come last.
    ///
    /// - Parameters:
    ///   - from: 0, or `next` of the previous page.
    ///   - limit: the number of requests that the caller keeps; further ones are only counted.
    package func waiting(
        _ selection: WaitingSelection,
        from: Int,
        keeping limit: Int
    ) -> WaitingPage {
        // Negative starts mean parked requests, because the number of identifiers may grow meanwhile.
        guard from >= 0 else { return parked(selection, from: -1 - from, keeping: limit) }
        var page = WaitingPage()
        let entries = pendingIndex.entries
        var index = from
        if case .task(let identifier) = selection {
            if let entry = pendingIndex.entry(of: identifier) {
                add(entry, selection, of: entries, into: &page, keeping: limit)
            }
            index = entries.indices.upperBound
        }
        let definitions: Set<Int>? =
            switch selection {
            case .family(let pattern): Set(catalog.family(pattern).map { [$0] } ?? [])
            case .tag(let tag): catalog.definitions(taggedWith: tag)
            case .all, .task, .ids: nil
            }
        let end = min(entries.indices.upperBound, index.addingClamped(Self.pageEntriesMax))
        while index < end, page.requests.count < Self.pageMax {
            defer { index += 1 }
            guard entries.isInUse(index) else { continue }
            if let definitions, !definitions.contains(entries.kind(index).definition) { continue }
            add(index, selection, of: entries, into: &page, keeping: limit)
        }
        if index < entries.indices.upperBound {
            page.next = index
        } else if case .task(let identifier) = selection {
            page.next = parking.has(identifier) ? -1 : nil
        } else if case .tag = selection {
            // A task that left the manifest has no tags.
            page.next = nil
        } else if parking.count > 0 {
            page.next = -1
        }
        return page
    }

    private func add(
        _ entry: Int,
        _ selection: WaitingSelection,
        of entries: PendingRequestIndex.Entries,
        into page: inout WaitingPage,
        keeping limit: Int
    ) {
        if case .ids(let ids) = selection {
            guard entries.hasRequest(entry, in: ids) else { return }
            for request in entries[entry].requests where ids.contains(request.id) {
                page.count += 1
                if page.requests.count < limit { page.requests.append(request) }
            }
            return
        }
        let count = entries.waitingCount(entry)
        guard count > 0 else { return }
        page.count += count
        let room = limit - page.requests.count
        if room > 0 { page.requests += entries[entry].requests.prefix(room) }
    }

    private func parked(
        _ selection: WaitingSelection,
        from: Int,
        keeping limit: Int
    ) -> WaitingPage {
        var page = WaitingPage()
        let places = parking.places(from: from)
        for (_, request) in places.prefix(Self.pageEntriesMax) {
            guard let request, selection.contains(request) else { continue }
            page.count += 1
            if page.requests.count < limit { page.requests.append(request) }
        }
        page.next = places.dropFirst(Self.pageEntriesMax).first.map { -1 - $0.number }
        return page
    }

    /// A page of the pending requests of a plugin's tasks that plugins may submit.
    ///
    /// A request that is pending during all calls is in exactly one page.
    ///
    /// - Parameter from: 0, or `next` of the previous page.
    /// - Returns: `next` is `nil` on the last page; `visited` counts the identifiers that were checked.
    package func pending(
        ofPlugin plugin: Int,
        from: Int
    ) -> (page: [(request: Request, kind: TaskKind)], next: Int?, visited: Int) {
        let plugin = catalog.current(plugin: plugin) ?? plugin
        var page: [(request: Request, kind: TaskKind)] = []
        let entries = pendingIndex.entries
        let (start, count) = (max(0, from), entries.indices.upperBound)
        let end = min(count, start.addingReportingOverflow(Self.pageEntriesMax).partialValue)
        var index = start
        while index < end, page.count < Self.pageMax {
            defer { index += 1 }
            guard entries.isInUse(index) else { continue }
            let definition = entries.kind(index).definition
            let kind = catalog.tasks[definition].kind
            if catalog.pluginOfTask[definition] == plugin, kind.isSubmittedByPlugins,
                let request = entries.pendingOrAppended(index)
            {
                page.append((request, kind))
            }
        }
        return (page, index < count ? index : nil, index - start)
    }

    /// The most requests of a page.
    static let pageMax = 256
    /// The most identifiers that are checked for a page.
    static let pageEntriesMax = 8192

    // MARK: Places in the queue

    /// Begins to count the requests that would start before some others if slots became free.
    ///
    /// Pass the result to ``count(_:now:)`` until it is complete. All requests are counted together,
    /// because one request alone costs a look at all identifiers.
    package func queuePlaces(of requests: [Request]) -> QueuePlaces {
        // With a free slot, no request waits for others.
        guard !hasFreeSlot else { return QueuePlaces([]) }
        return QueuePlaces(
            requests.compactMap { request in
                pendingIndex.entry(of: request.task)
                    .flatMap { pendingIndex.entries[$0].place(of: request.id) }
                    .map { (request.id, $0.rank) }
            }
        )
    }

    /// Counts the requests of one page of identifiers.
    package func count(_ places: inout QueuePlaces, now: Moment) {
        guard let from = places.next else { return }
        let bound = pendingIndex.entries.indices.upperBound
        let end = min(bound, from.addingClamped(Self.pageEntriesMax))
        for entry in min(from, end)..<end where pendingIndex.entries.isInUse(entry) {
            let candidate = pendingIndex.entries.candidate(entry, now: now.unix)
            if let candidate { places.add(candidate.rank) }
        }
        places.next = end < bound ? end : nil
    }
}

/// How many requests would start before others, as far as they are counted.
package struct QueuePlaces: Sendable {
    /// By ascending rank.
    private let ranks: [UInt64]
    /// How many requests have a rank below that of the same index, and not below the one before.
    private var counts: [Int]
    private let indices: [RunID: Int]
    /// The first identifier that is not counted yet; `nil` if all are.
    package fileprivate(set) var next: Int?

    fileprivate init(_ places: [(id: RunID, rank: UInt64)]) {
        let sorted = places.sorted { $0.rank < $1.rank }
        ranks = sorted.map(\.rank)
        counts = Array(repeating: 0, count: sorted.count)
        var indices: [RunID: Int] = [:]
        for (index, place) in sorted.enumerated() { indices[place.id] = index }
        self.indices = indices
        next = sorted.isEmpty ? nil : 0
    }

    fileprivate mutating func add(_ rank: UInt64) {
        guard let last = ranks.last, rank < last else { return }
        var (low, high) = (0, ranks.count - 1)
        while low < high {
            let middle = (low + high) / 2
            if rank < ranks[middle] { high = middle } else { low = middle + 1 }
        }
        counts[low] += 1
    }

    /// The number of requests before one; `nil` if it was not asked for.
    package subscript(id: RunID) -> Int? {
        indices[id].map { counts[...$0].reduce(0, +) }
    }
}
