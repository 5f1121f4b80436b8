// SPDX-License-Identifier: Apache-2.0

extension RequestBook {
    /// An identifier that has been used, and what is known of it.
    package struct Entry: Sendable {
        let row: RequestRow
        let kind: Kind
        let extras: Extras?
        let identifiers: IdentifierTable
        let number: Int

        package var identifier: String { identifiers[number] }
        /// The index of its definition in the manifest.
        package var definition: Int { kind.definition }
        /// Those that share the slots with others: its plugin.
        package var group: Int { kind.group }
        /// Those whose pending requests are counted together: its plugin's tasks of one kind.
        package var quota: Int { kind.quota }
        package var overlap: Overlap { kind.overlap }
        package var running: Int { Int(row.running) }
        /// Until when nothing of it begins but what is simulated, Unix nanoseconds.
        package var hold: Int64? { extras?.hold }

        /// The one pending request.
        package var pending: Request? { row.request { identifier } }

        /// Every request that waits, in the order in which they would begin now.
        package var requests: [Request] {
            let pending = pending.map { RequestPlace(request: $0, rank: row.rank) }
            guard let extras else { return pending.map { [$0.request] } ?? [] }
            return extras.simulated.all.map(\.request)
                + (extras.retries + (pending.map { [$0] } ?? [])).sorted { $0.rank < $1.rank }
                .map(\.request)
        }

        /// Whether a run of it may begin beside those that are under way.
        var hasRoom: Bool { running == 0 || overlap == .allow }

        /// Whether some request of it has had a run and gets another.
        var hasRetries: Bool { extras.map { !$0.retries.isEmpty } ?? false }

        /// Where a request of it stands.
        func place(of id: RunID) -> RequestPlace? {
            if row.pendingID == id {
                return pending.map { RequestPlace(request: $0, rank: row.rank) }
            }
            return extras?.retries.first { $0.request.id == id }
                ?? extras?.simulated.all.first { $0.request.id == id }
        }

        /// Whether its pending request counts towards the quota: one that somebody submitted.
        package var countsInQuota: Bool { row.countsInQuota }
    }

    /// What all identifiers of a definition have in common.
    struct Kind: Hashable, Sendable {
        let definition: Int
        let group: Int
        let quota: Int
        let overlap: Overlap
    }

    /// What few identifiers have.
    struct Extras: Sendable {
        /// Until when nothing of it begins but what is simulated, Unix nanoseconds.
        var hold: Int64?
        /// Requests that have had a run and get another.
        var retries: [RequestPlace] = []
        /// Simulated requests, oldest first.
        var simulated = Queue<RequestPlace>()

        var isEmpty: Bool { hold == nil && retries.isEmpty && simulated.first == nil }
    }
}
