// SPDX-License-Identifier: Apache-2.0

import BghostBase
@testable import BghostFleetRules
import BghostFleetSupport
import BghostModel
import BghostPolicy
import BghostStore
import BghostTestSupport
import Testing

@Suite struct BatchFoldTests {
    private static let partition = PartitionID(number: 3)

    private func fold(_ changes: [StoreChange]) throws -> FleetBatch {
        var fold = BatchFold()
        #expect(try fold.add(changes, in: Self.partition).isEmpty)
        let isEmpty = fold.isEmpty
        let batch = fold.take()
        #expect(batch.isEmpty == isEmpty && fold.isEmpty)
        return batch
    }

    private let request = FleetSample.request(1)
    private var run: RunRecord { FleetSample.run(11, of: request, epoch: 5) }
    private var end: RunRecord { FleetSample.ended(run) }

    private func expect(_ changes: [StoreChange], _ before: RowMark, _ after: RowState?) throws {
        let rows = try fold(changes).rows
        #expect(rows.map(\.partition) == [Self.partition] && rows.map(\.id) == [request.id])
        #expect(rows.first?.before == before && rows.first?.after == after)
    }

    @Test func `A single change stays`() throws {
        let letter = DeadLetter(request: request, reason: "why", run: run.id, diedAt: 5)
        try expect([.accepted(request, replacing: nil)], .absent, .pending(request))
        try expect([.closed(request.id, .missed)], .pending, nil)
        try expect([.moved(request)], .pending, .pending(request))
        try expect([.runStarted(run)], .pending, .leased(run, of: nil))
        try expect([.runEnded(end, then: .consumed)], .leased(epoch: 5), nil)
        try expect([.runEnded(end, then: .again(request))], .leased(epoch: 5), .pending(request))
        try expect(
            [.runEnded(end, then: .dead(request, reason: "why"))],
            .leased(epoch: 5),
            .dead(letter)
        )
        try expect([.redriven(request)], .dead, .pending(request))
        try expect([.discarded(request.id)], .dead, nil)
    }

    @Test func `Only the net effect stays`() throws {
        let accepted = StoreChange.accepted(request, replacing: nil)
        #expect(try fold([accepted, .closed(request.id, .missed)]).isEmpty)
        try expect([accepted, .runStarted(run)], .absent, .leased(run, of: request))
        let whole = try fold([accepted, .runStarted(run), .runEnded(end, then: .consumed)])
        #expect(whole.rows.isEmpty && whole.ended == [end])
        var again = request
        again.counters.failures = 1
        let next = FleetSample.run(12, of: again, epoch: 6)
        try expect(
            [.runEnded(end, then: .again(again)), .runStarted(next)],
            .leased(epoch: 5),
            .leased(next, of: again)
        )
        try expect(
            [.runStarted(run), .runEnded(end, then: .again(again))],
            .pending,
            .pending(again)
        )
        try expect(
            [.runEnded(end, then: .dead(again, reason: "")), .discarded(request.id)],
            .leased(epoch: 5),
            nil
        )
    }

    @Test func `A replaced request leaves, in the same batch or an earlier one`() throws {
        let second = FleetSample.request(2)
        let rows = try fold([.accepted(second, replacing: request.id)]).rows
        #expect(rows.map(\.id) == [request.id, second.id])
        #expect(rows.map(\.before) == [.pending, .absent])
        #expect(rows.map(\.after) == [nil, .pending(second)])
        let both = try fold([
            .accepted(request, replacing: nil), .accepted(second, replacing: request.id),
        ]).rows
        #expect(both.map(\.id) == [second.id])
    }

    @Test func `The last memory of an identifier stays`() throws {
        let batch = try fold([
            .remembered(TaskMemory(identifier: "a", lastServedTime: 1)),
            .remembered(TaskMemory(identifier: "b", lastServedTime: 2)),
            .remembered(TaskMemory(identifier: "a")),
        ])
        #expect(batch.memories.map(\.memory.identifier) == ["a", "b"])
        #expect(batch.memories.first?.memory.isEmpty == true)
    }

    @Test func `Changes of the host itself are returned`() throws {
        var fold = BatchFold()
        let local = try fold.add(
            [
                .switched(plugin: "p", off: "why"), .accepted(request, replacing: nil),
                .manifest("{}"), .checkpointDeleted(request.id),
                .quarantined(plugin: "p", nil),
            ],
            in: Self.partition
        )
        #expect(local.count == 4)
        #expect(fold.take().rows.count == 1)
    }

    @Test func `A change that cannot follow is found`() throws {
        let other = FleetSample.run(12, of: request, epoch: 6)
        let accepted = StoreChange.accepted(request, replacing: nil)
        let impossible: [[StoreChange]] = [
            [accepted, accepted], [accepted, .discarded(request.id)],
            [accepted, .redriven(request)],
            [accepted, .runEnded(end, then: .consumed)],
            [.runStarted(run), .runStarted(run)], [.runStarted(run), .closed(request.id, .missed)],
            [.runStarted(run), .moved(request)],
            [.runStarted(run), .runEnded(FleetSample.ended(other), then: .consumed)],
            [.closed(request.id, .missed), .runStarted(run)],
            [.closed(request.id, .missed), .closed(request.id, .missed)],
            [.runEnded(end, then: .consumed), .runEnded(end, then: .consumed)],
            [.discarded(request.id), .redriven(request)],
        ]
        for changes in impossible {
            var fold = BatchFold()
            #expect(throws: BatchFold.Contradiction(request: request.id), "\(changes)") {
                // The error is what is expected.
                _ = try fold.add(changes, in: Self.partition)
            }
        }
        var fold = BatchFold()
        // None of them is local.
        _ = try fold.add([accepted], in: Self.partition)
        #expect(throws: BatchFold.Contradiction(request: request.id)) {
            // The request is in another partition.
            _ = try fold.add([.closed(request.id, .missed)], in: PartitionID(number: 4))
        }
    }

    @Test func `A fold knows its partitions`() throws {
        var fold = BatchFold()
        let others = [PartitionID(number: 4), PartitionID(number: 5)]
        // None of them is local.
        _ = try fold.add([.accepted(request, replacing: nil)], in: Self.partition)
        _ = try fold.add([.remembered(TaskMemory(identifier: "x"))], in: others[0])
        #expect(fold.concerns(Self.partition) && fold.concerns(others[0]))
        #expect(!fold.concerns(others[1]))
        _ = try fold.add([.closed(request.id, .missed)], in: Self.partition)
        #expect(!fold.concerns(Self.partition))
    }

    /// The state after folded batches is that of the store which applies one change after the other.
    @Test(arguments: SeededGenerator.seeds(30))
    func `Folded batches lead to the same state`(seed: UInt64) throws {
        var history = FleetHistory(seed: seed)
        let store = MemoryStore(historyMax: 10_000)
        var fleet = MemoryFleet(partitions: FleetHistory.partitions, clock: 0)
        let session = try fleet.register(
            HostTerms(name: "a", lease: 1, slots: 1),
            after: .none,
            nonce: FenceNonce(stored: seed)
        )
        var queue = BatchQueue()
        for _ in 0..<150 {
            var written = 0
            for _ in 0..<history.count(upTo: 12) {
                let change = history.next()
                store.commit([change.change]) { result in
                    #expect(throws: Never.self) { try result.get() }
                }
                #expect(try queue.add([change.change], in: change.partition).local.isEmpty)
                written += 1
            }
            let sent = try queue.send()
            #expect(Set(sent.batch.rows.map(\.id)).count == sent.batch.rows.count)
            #expect(sent.batch.rows.count <= 2 * written)
            // The answer says when; only that it comes matters here.
            _ = try fleet.commit(sent.batch, number: sent.number, session)
            queue.answered()
            try expectSame(store, &fleet)
        }
        #expect(fleet.runs == store.runs(task: nil, limit: .max).reversed())
        #expect(history.kindsSeen.count == FleetHistory.kinds, "\(history.kindsSeen.sorted())")
    }

    private func expectSame(_ store: MemoryStore, _ fleet: inout MemoryFleet) throws {
        var all = PartitionContents()
        for number in 0..<FleetHistory.partitions {
            let contents = try fleet.contents(of: PartitionID(number: number))
            #expect(
                contents.pending.allSatisfy {
                    PartitionID(of: $0.task, partitions: FleetHistory.partitions).number == number
                }
            )
            all.pending += contents.pending
            all.interrupted += contents.interrupted
            all.dead += contents.dead
            all.memories += contents.memories
        }
        let state = try store.recover()
        #expect(all.pending.sorted { $0.id < $1.id } == state.pending)
        all.interrupted.sort { $0.run.id < $1.run.id }
        #expect(all.interrupted.map(\.run) == state.interrupted.map(\.run))
        #expect(all.interrupted.map(\.request) == state.interrupted.map(\.request))
        #expect(
            all.dead.sorted { ($0.diedAt, $0.run) > ($1.diedAt, $1.run) }
                == store.deadLetters(task: nil, limit: .max)
        )
        #expect(
            all.memories.sorted { $0.identifier < $1.identifier }
                == state.tasks.sorted { $0.identifier < $1.identifier }
        )
    }
}
