// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostModel
internal import BghostPolicy

/// The state of a request in the store.
enum StoredPlace: Equatable {
    case absent
    case pending
    case leased(RunID, epoch: UInt64)
    case dead
}

/// Transactions passed to `commit` that are not on the disk yet.
///
/// Queries treat them as committed. They are collected before the database is read, so a
/// transaction that is committed in between is seen twice: applying it again to its own result
/// changes nothing, and runs are distinguished by their ids.
struct Uncommitted {
    let changes: [StoreChange]

    /// The effect of the changes on some requests.
    struct Result {
        var places: [RunID: StoredPlace] = [:]
        /// Runs whose end has an effect, in order.
        var ended: [RunRecord] = []
        /// Requests that are dead after the changes.
        var dead: [RunID: DeadLetter] = [:]
    }

    /// The wanted runs whose ends are among the changes, whether or not they have an effect.
    func ends(where isWanted: (RunRecord) -> Bool) -> [RunRecord] {
        var records: [RunRecord] = []
        for case .runEnded(let record, _) in changes where isWanted(record) {
            records.append(record)
        }
        return records
    }

    /// The wanted starts that did not happen among the changes, with numbers above those of all rows.
    func skippedStarts(_ query: SkippedStartQuery) -> [(start: SkippedStart, number: Int64)] {
        var starts: [(SkippedStart, Int64)] = []
        var number = SkippedStartQuery.uncommitted
        for case .startSkipped(let start) in changes {
            if query.isAfter(due: start.due, number: number), query.matches(start) {
                starts.append((start, number))
            }
            number += 1
        }
        return starts
    }

    /// The runs among these whose end has an effect, the newest first.
    func ended(
        _ ends: [RunRecord],
        _ reader: StoreReader
    ) throws(SQLiteFailure) -> [RunRecord] {
        let ids = Set(ends.map(\.id))
        return try apply(to: Set(ends.map(\.request)), reader).ended
            .filter { ids.contains($0.id) }.reversed()
    }

    /// The effect on requests that the changes make dead, redrive or discard; `nil` if there are
    /// none.
    func deaths(_ reader: StoreReader) throws(SQLiteFailure) -> Result? {
        var requests: Set<RunID> = []
        for change in changes {
            switch change {
            case .runEnded(let record, .dead(let request, _)):
                requests.insert(record.request)
                requests.insert(request.id)
            case .redriven(let request): requests.insert(request.id)
            case .discarded(let id): requests.insert(id)
            case .accepted, .closed, .runStarted, .runEnded, .moved, .remembered, .runtimeConsumed,
                .switched,
                .quarantined, .paused, .notification, .startSkipped, .audited, .manifest,
                .checkpointSaved, .checkpointDeleted,
                .alert:
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
        case .runStarted(let record):
            guard result.places[record.request] == .pending else { return }
            move(record.request, .leased(record.id, epoch: record.epoch), &result)
        case .runEnded(let record, let next):
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
        case .moved, .remembered, .runtimeConsumed, .switched, .quarantined, .paused,
            .notification, .startSkipped, .audited, .manifest, .alert, .checkpointSaved,
            .checkpointDeleted:
            break
        }
    }

    private static func move(_ id: RunID, _ place: StoredPlace, _ result: inout Result) {
        guard result.places[id] != nil else { return }
        result.places[id] = place
        result.dead[id] = nil
    }
}
