// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostFleetRules
internal import BghostModel
internal import FoundationEssentials

/// The texts of requests, runs, dead letters and states of identifiers in the fleet's database, and of the
/// batch that brings them there.
///
/// Hosts of several versions read the same rows. A property that a later version adds is therefore optional,
/// or has a value where it is missing: `RowTextTests` reads rows as earlier versions wrote them.
enum BatchText {
    /// What a dead letter has besides its request.
    private struct Letter: Codable {
        var reason: String
        var run: RunID
        var diedAt: Int64
    }

    /// A row of a request, with the names of the database's type `change`.
    private struct Change: Encodable {
        var pool: UInt8
        var number: UInt16
        var id: String
        var before: Int?
        var before_epoch: Int64?
        var state: Int?
        var task: String?
        var is_first: Bool?
        var epoch: Int64?
        var request: String?
        var run: String?
        var letter: String?
    }

    /// A row of a run that ended, with the names of its columns.
    private struct Ended: Encodable {
        var id: String
        var task: String
        var request: String
        var ended_at: Int64?
        var body: String
    }

    private struct Remembered: Encodable {
        var pool: UInt8
        var number: UInt16
        var task: String
        var body: String?
    }

    /// A submission that a batch takes, with the names of its columns.
    private struct Taken: Encodable {
        var pool: UInt8
        var number: UInt16
        var id: String
    }

    private struct Posted: Encodable {
        var pool: UInt8
        var number: UInt16
        var id: String
        var body: String
    }

    private struct Changes: Encodable {
        var rows: [Change]
        var ended: [Ended]
        var memories: [Remembered]
        var taken: [Taken]
    }

    private enum State {
        static let pending = 0
        static let leased = 1
        static let dead = 2
    }

    /// A row that this version cannot read.
    struct Unreadable: Error {}

    // MARK: Writing

    static func text(of batch: FleetBatch) throws -> String {
        try text(
            Changes(
                rows: batch.rows.map { try change($0) },
                ended: batch.ended.map { run in
                    Ended(
                        id: "\(run.id)",
                        task: run.task,
                        request: "\(run.request)",
                        ended_at: run.endedAt,
                        body: try text(run)
                    )
                },
                memories: batch.memories.map { remembered in
                    Remembered(
                        pool: remembered.partition.pool,
                        number: remembered.partition.number,
                        task: remembered.memory.identifier,
                        body: remembered.memory.isEmpty ? nil : try text(remembered.memory)
                    )
                },
                taken: batch.taken.map { taken in
                    Taken(
                        pool: taken.partition.pool,
                        number: taken.partition.number,
                        id: "\(taken.id)"
                    )
                }
            )
        )
    }

    /// - Parameter partitions: the number of partitions of the fleet.
    static func text(of letters: [FleetLetter], partitions: UInt16) throws -> String {
        try text(
            letters.map { letter in
                let partition = letter.partition(of: partitions)
                return Posted(
                    pool: partition.pool,
                    number: partition.number,
                    id: "\(letter.request.id)",
                    body: try text(letter)
                )
            }
        )
    }

    private static func change(_ row: RowChange) throws -> Change {
        var change = Change(
            pool: row.partition.pool,
            number: row.partition.number,
            id: "\(row.id)"
        )
        switch row.before {
        case .absent: break
        case .pending: change.before = State.pending
        case .dead: change.before = State.dead
        case .leased(let epoch):
            change.before = State.leased
            change.before_epoch = Int64(bitPattern: epoch)
        }
        switch row.after {
        case nil: break
        case .pending(let request):
            change.state = State.pending
            change.task = request.task
            change.is_first = request.countsAsPending
            change.request = try text(request)
        case .leased(let run, let request):
            change.state = State.leased
            change.task = run.task
            change.is_first = false
            change.epoch = Int64(bitPattern: run.epoch)
            change.request = try request.map { try text($0) }
            change.run = try text(run)
        case .dead(let letter):
            change.state = State.dead
            change.task = letter.request.task
            change.is_first = false
            change.request = try text(letter.request)
            change.letter = try text(
                Letter(reason: letter.reason, run: letter.run, diedAt: letter.diedAt)
            )
        }
        return change
    }

    static func text(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    // MARK: Reading

    /// Adds a request to the contents of a partition.
    ///
    /// - Parameter row: the state, the request, the run and the letter.
    static func read(_ row: ArraySlice<String?>, into contents: inout PartitionContents) throws {
        let row = Array(row)
        guard row.count == 4, let state = row[0].flatMap({ Int($0) }), let text = row[1] else {
            throw Unreadable()
        }
        let request = try value(Request.self, text)
        switch (state, row[2], row[3]) {
        case (State.pending, _, _): contents.pending.append(request)
        case (State.leased, let run?, _):
            contents.interrupted.append((request, try value(RunRecord.self, run)))
        case (State.dead, _, let letter?):
            let letter = try value(Letter.self, letter)
            contents.dead.append(
                DeadLetter(
                    request: request,
                    reason: letter.reason,
                    run: letter.run,
                    diedAt: letter.diedAt
                )
            )
        default: throw Unreadable()
        }
    }

    static func value<Value: Decodable>(_ type: Value.Type, _ text: String) throws -> Value {
        try JSONDecoder().decode(type, from: Data(text.utf8))
    }
}
