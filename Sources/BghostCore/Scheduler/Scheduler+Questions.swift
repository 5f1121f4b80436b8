// SPDX-License-Identifier: Apache-2.0

/// What waits, for those who ask.
extension Scheduler {
    /// The pending request of an identifier.
    package func pending(_ identifier: String) -> Request? {
        book.entry(of: identifier).flatMap { book.entries[$0].pending }
    }

    /// Whether a request of this id waits for its run.
    package func waits(_ id: RunID) -> Bool {
        book.contains(id) || parked.contains { $0.id == id }
    }

    /// All that waits, of one identifier or of all in the order of their names; within one as they
    /// would begin.
    package func requests(of identifier: String?) -> [Request] {
        var requests: [Request] = []
        for entry in entries(of: identifier) { requests += book.entries[entry].requests }
        for request in parked where identifier == nil || request.task == identifier {
            requests.append(request)
        }
        return requests
    }

    /// The pending requests of a plugin's tasks.
    package func pending(ofPlugin plugin: Int) -> [(request: Request, kind: TaskKind)] {
        book.entries.compactMap { entry in
            guard catalog.pluginOfTask[entry.definition] == plugin else { return nil }
            return entry.pending.map { ($0, catalog.tasks[entry.definition].kind) }
        }
    }

    /// The identifiers of families that have been used.
    package var familyMembers: [String] {
        book.entries.lazy.map(\.identifier).filter { !catalog.names($0) }
    }
}
