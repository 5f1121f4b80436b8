// SPDX-License-Identifier: Apache-2.0

internal import BghostCore

/// Where a request stands in the store.
enum StoredPlace: Equatable {
    case absent
    case pending
    case leased(RunID, epoch: UInt64)
    case dead
}

/// Transactions that `commit` was called with and that are not on the disk yet.
///
/// A question is answered as if they were. They are collected before the database is read, so one
/// that is committed in between is seen twice: applying it again to where it led to changes
/// nothing, and runs are told apart by their ids.
struct Uncommitted {
    let changes: [StoreChange]

    /// What they make of some requests.
    struct Result {
        var places: [RunID: StoredPlace] = [:]
        /// Runs whose end takes effect, in order.
        var ended: [RunRecord] = []
        /// Requests that are dead now.
        var dead: [RunID: DeadLetter] = [:]
    }

    /// The wanted runs that end in them, whether or not that has an effect.
    func ends(where isWanted: (RunRecord) -> Bool) -> [RunRecord] {
        var records: [RunRecord] = []
        for case .ended(let record, _) in changes where isWanted(record) { records.append(record) }
        return records
    }

    /// Those of these runs whose end has an effect, the newest first.
    func ended(
        _ ends: [RunRecord],
        _ reader: StoreReader
    ) throws(SQLiteFailure) -> [RunRecord] {
        let ids = Set(ends.map(\.id))
        return try apply(to: Set(ends.map(\.request)), reader).ended
            .filter { ids.contains($0.id) }.reversed()
    }

    /// What they make of requests that die, are redriven or discarded in them; `nil` if none is.
    func deaths(_ reader: StoreReader) throws(SQLiteFailure) -> Result? {
        var requests: Set<RunID> = []
        for change in changes {
            switch change {
            case .ended(let record, .dead(let request, _)):
                requests.insert(record.request)
                requests.insert(request.id)
            case .redriven(let request): requests.insert(request.id)
            case .discarded(let id): requests.insert(id)
            case .accepted, .closed, .began, .ended, .remembered, .used, .switched, .quarantined,
                .notification:
                break
            }
        }
        return requests.isEmpty ? nil : try apply(to: requests, reader)
    }

    private func apply(
        to requests: Set<RunID>,
        _ reader: StoreReader
    ) throws(SQLiteFailure) -> Result {
        var result = Result()
        for id in requests { result.places[id] = try reader.place(of: id) }
        for change in changes { Self.apply(change, to: &result) }
        return result
    }

    private static func apply(_ change: StoreChange, to result: inout Result) {
        switch change {
        case .accepted(let request, let replaced):
            if let replaced, result.places[replaced] == .pending {
                move(replaced, .absent, &result)
            }
            if result.places[request.id] == .absent { move(request.id, .pending, &result) }
        case .closed(let id, _):
            if result.places[id] == .pending { move(id, .absent, &result) }
        case .began(let record):
            guard result.places[record.request] == .pending else { return }
            move(record.request, .leased(record.id, epoch: record.epoch), &result)
        case .ended(let record, let next):
            let lease = StoredPlace.leased(record.id, epoch: record.epoch)
            guard result.places[record.request] == lease else { return }
            move(record.request, .absent, &result)
            result.ended.append(record)
            switch next {
            case .consumed: break
            case .again(let request): move(request.id, .pending, &result)
            case .dead(let request, let reason):
                move(request.id, .dead, &result)
                result.dead[request.id] = DeadLetter(
                    request: request,
                    reason: reason,
                    run: record.id,
                    diedAt: record.endedAt ?? 0
                )
            }
        case .redriven(let request):
            if result.places[request.id] == .dead { move(request.id, .pending, &result) }
        case .discarded(let id):
            if result.places[id] == .dead { move(id, .absent, &result) }
        case .remembered, .used, .switched, .quarantined, .notification: break
        }
    }

    private static func move(_ id: RunID, _ place: StoredPlace, _ result: inout Result) {
        guard result.places[id] != nil else { return }
        result.places[id] = place
        result.dead[id] = nil
    }
}
