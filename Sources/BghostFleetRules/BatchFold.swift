// SPDX-License-Identifier: Apache-2.0

package import BghostBase
package import BghostModel
package import BghostPolicy

/// Folds the scheduler's transitions into a batch: one net change for each request.
///
/// A request that is accepted and closed within a batch leaves nothing; one that is leased and ends leaves
/// its end. The store therefore writes each row once, however many transitions it had.
///
/// A change costs O(1), `take` O(requests with a change since the last one); the other questions are O(1).
package struct BatchFold: Sendable {
    /// A change that cannot follow the changes before it: a bug in bghost.
    package struct Contradiction: Error, Equatable, Sendable {
        package let request: RunID
    }

    /// `nil` where nothing is left of a request.
    private var rows: [RowChange?] = []
    private var places: [RunID: Int] = [:]
    private var ended: [RunRecord] = []
    private var memories: [FleetBatch.Remembered] = []
    private var memoryPlaces: [String: Int] = [:]
    private var taken: [FleetBatch.Taken] = []
    /// The changes of each partition: its requests with a net change, and its identifiers with a state.
    private var counts = PartitionCounts()

    package init() {}

    /// Whether it has no change.
    package var isEmpty: Bool {
        places.isEmpty && ended.isEmpty && memories.isEmpty && taken.isEmpty
    }

    /// Whether it has a change of a partition.
    package func concerns(_ partition: PartitionID) -> Bool {
        var work = 0
        return concerns(partition, work: &work)
    }

    func concerns(_ partition: PartitionID, work: inout Int) -> Bool {
        counts.contains(partition, work: &work)
    }

    /// Adds a transaction of the scheduler.
    ///
    /// After a contradiction only a part of the transaction was added: the owner gives up its partitions.
    ///
    /// - Parameter partition: that of all its requests and identifiers.
    /// - Returns: the changes that belong in the host's own store, since they are not part of the fleet:
    ///   notifications, alerts, pauses, the audit, checkpoints and others.
    package mutating func add(
        _ changes: [StoreChange],
        in partition: PartitionID
    ) throws(Contradiction) -> [StoreChange] {
        var local: [StoreChange] = []
        for change in changes {
            switch change {
            case .accepted(let request, let replaced):
                if let replaced { try turn(replaced, in: partition, from: .pending, into: nil) }
                try turn(request.id, in: partition, from: .absent, into: .pending(request))
            case .closed(let id, _): try turn(id, in: partition, from: .pending, into: nil)
            case .runStarted(let run):
                let request = pending(run.request)
                let leased = RowState.leased(run, of: request)
                try turn(run.request, in: partition, from: .pending, into: leased)
            case .runEnded(let run, let next): try end(run, next, in: partition)
            case .redriven(let request):
                try turn(request.id, in: partition, from: .dead, into: .pending(request))
            case .discarded(let id): try turn(id, in: partition, from: .dead, into: nil)
            case .moved(let request):
                try turn(request.id, in: partition, from: .pending, into: .pending(request))
            case .remembered(let memory): remember(memory, in: partition)
            case .runtimeConsumed, .notification, .checkpointSaved, .checkpointDeleted, .switched,
                .paused, .startSkipped, .audited, .manifest, .alert, .quarantined:
                local.append(change)
            }
        }
        return local
    }

    /// Adds that the owner has accepted or dropped a submission; its changes belong into the same batch.
    package mutating func take(letter id: RunID, in partition: PartitionID) {
        taken.append(FleetBatch.Taken(partition: partition, id: id))
        counts.add(partition)
    }

    /// Returns the batch, and starts an empty one.
    package mutating func take() -> FleetBatch { takeCounted().batch }

    /// Returns the batch with the number of its changes in each partition, and starts an empty one.
    mutating func takeCounted() -> (batch: FleetBatch, counts: PartitionCounts) {
        var batch = FleetBatch()
        batch.rows = rows.compactMap(\.self)
        batch.ended = ended
        batch.memories = memories
        batch.taken = taken
        let counts = counts
        self = BatchFold()
        return (batch, counts)
    }

    private mutating func end(
        _ run: RunRecord,
        _ next: AfterRun,
        in partition: PartitionID
    ) throws(Contradiction) {
        let after: RowState?
        switch next {
        case .consumed: after = nil
        case .again(let request): after = .pending(request)
        case .dead(let request, let reason):
            let diedAt = run.endedAt ?? 0
            after = .dead(
                DeadLetter(request: request, reason: reason, run: run.id, diedAt: diedAt)
            )
        }
        try turn(run.request, in: partition, from: .leased(epoch: run.epoch), into: after)
        ended.append(run)
    }

    private func pending(_ id: RunID) -> Request? {
        guard let place = places[id], case .pending(let request) = rows[place]?.after else {
            return nil
        }
        return request
    }

    private mutating func turn(
        _ id: RunID,
        in partition: PartitionID,
        from mark: RowMark,
        into state: RowState?
    ) throws(Contradiction) {
        guard let place = places[id], let before = rows[place] else {
            places[id] = rows.count
            rows.append(RowChange(partition: partition, id: id, before: mark, after: state))
            counts.add(partition)
            return
        }
        guard (before.after?.mark ?? .absent) == mark, before.partition == partition else {
            throw Contradiction(request: id)
        }
        if before.before == .absent, state == nil {
            rows[place] = nil
            places[id] = nil
            counts.remove(partition)
        } else {
            rows[place]?.after = state
        }
    }

    private mutating func remember(_ memory: TaskMemory, in partition: PartitionID) {
        if let place = memoryPlaces[memory.identifier] {
            memories[place].memory = memory
        } else {
            memoryPlaces[memory.identifier] = memories.count
            memories.append(FleetBatch.Remembered(partition: partition, memory: memory))
            counts.add(partition)
        }
    }
}
