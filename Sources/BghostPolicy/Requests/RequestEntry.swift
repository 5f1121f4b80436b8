// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostModel

extension PendingRequestIndex {
    /// A snapshot of one identifier and its requests.
    struct Entry: Sendable {
        let row: RequestRow
        let kind: Kind
        let extras: Extras?
        let identifiers: IdentifierTable
        let number: Int

        var identifier: String { identifiers[number] }
        /// The index of its definition in the manifest.
        var definition: Int { kind.definition }
        /// The group that shares the slots with other groups: the identifier's plugin.
        var group: Int { kind.group }
        /// The quota that counts pending requests together: the plugin's tasks of one kind.
        var quota: Int { kind.quota }
        var overlap: Overlap { kind.overlap }
        var running: Int { Int(row.running) }
        /// The time until which only manual runs start, Unix nanoseconds; `nil` if there is no hold.
        var delayedUntil: Int64? { extras?.delayedUntil }

        /// The one pending request.
        var pending: Request? { row.request { identifier } }

        /// All waiting requests, in the order in which they would start now.
        var requests: [Request] {
            let pending = pending.map { RequestPlace(request: $0, rank: row.rank) }
            guard let extras else { return pending.map { [$0.request] } ?? [] }
            let ranked = (Array(extras.retries.all) + (pending.map { [$0] } ?? []))
                .sorted { $0.rank < $1.rank }
            return (extras.manual.all + ranked + extras.appended.all).map(\.request)
        }

        /// Whether another run may start in addition to those in progress.
        var hasRoom: Bool { running == 0 || overlap == .allow }

        /// Whether it has a retry that waits.
        var hasRetries: Bool { extras.map { !$0.retries.isEmpty } ?? false }

        /// A waiting request with its rank, by its id.
        func place(of id: RunID) -> RequestPlace? {
            if row.pendingID == id {
                return pending.map { RequestPlace(request: $0, rank: row.rank) }
            }
            return extras?.retries.all.first { $0.request.id == id }
                ?? extras?.manual.all.first { $0.request.id == id }
                ?? extras?.appended.all.first { $0.request.id == id }
        }

        /// Whether its pending request counts towards the quota: a plugin submitted it.
        var countsInQuota: Bool { row.countsInQuota }
    }

    /// The properties that all identifiers of one definition share.
    struct Kind: Hashable, Sendable {
        let definition: Int
        let group: Int
        /// The requests that wait together while no run of theirs may start: those of one handler.
        let handlerQueue: Int
        let quota: Int
        let overlap: Overlap
        /// Whether the manifest names the identifier itself, which then keeps its entry.
        ///
        /// Members of a family, and identifiers that were removed from the manifest, are forgotten when
        /// nothing needs them.
        var isNamed = true
    }

    /// The rare properties of an identifier, kept out of `RequestRow` to save memory.
    struct Extras: Sendable {
        /// The time until which only manual runs start, Unix nanoseconds; `nil` if there is no hold.
        var delayedUntil: Int64?
        /// Requests that have had a run and wait for another one.
        var retries = RetryQueue()
        /// Manual runs, the oldest first.
        var manual = Queue<RequestPlace>()

        /// Requests that wait for the end of those before them, the oldest first.
        var appended = Queue<RequestPlace>()

        /// The number of its requests.
        var waitingCount: Int { retries.count + manual.count + appended.count }

        var isEmpty: Bool {
            delayedUntil == nil && retries.isEmpty && manual.first == nil && appended.first == nil
        }
    }
}
