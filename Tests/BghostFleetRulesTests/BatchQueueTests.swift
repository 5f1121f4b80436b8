// SPDX-License-Identifier: Apache-2.0

import BghostBase
@testable import BghostFleetRules
import BghostFleetSupport
import BghostModel
import BghostPolicy
import BghostTestSupport
import Testing

@Suite struct BatchQueueTests {
    private static let partition = PartitionID(number: 0)

    private func accept(_ number: Int, _ queue: inout BatchQueue) throws -> UInt64 {
        let request = FleetSample.request(number, task: "t\(number)")
        return try queue.add([.accepted(request, replacing: nil)], in: Self.partition).transaction
    }

    @Test func `One batch is under way, later changes wait in the next`() throws {
        var queue = BatchQueue()
        #expect(!queue.isReady && queue.underWay == nil)
        let first = try accept(1, &queue)
        #expect(queue.isReady)
        let sent = try queue.send()
        #expect(sent.number == 1 && sent.batch.rows.map(\.id.low) == [1])
        let second = try accept(2, &queue)
        let third = try accept(3, &queue)
        #expect(queue.next() == nil && !queue.isReady && queue.kept == 0)
        queue.answered()
        #expect(queue.kept == first && first < second && second < third && queue.isReady)
        let next = try queue.send()
        #expect(next.number == 2 && next.batch.rows.map(\.id.low) == [2, 3])
        queue.answered()
        #expect(queue.kept == third && !queue.isReady)
        queue.answered()
        #expect(queue.kept == third)
    }

    @Test func `An empty batch renews, and counts`() throws {
        var queue = BatchQueue()
        let sent = try queue.send()
        #expect(sent.batch.isEmpty && sent.number == 1 && queue.kept == 0)
        queue.answered()
        #expect(try queue.send().number == 2)
    }

    /// A transaction whose changes are all local, or fold to nothing, is kept with the next batch.
    @Test func `A transaction without a row is kept too`() throws {
        var queue = BatchQueue()
        let added = try queue.add([.manifest("{}")], in: Self.partition)
        #expect(added.local.count == 1 && queue.isReady)
        #expect(try queue.send().batch.isEmpty)
        queue.answered()
        #expect(queue.kept == added.transaction)
    }

    @Test func `A broken connection is resumed by the number`() throws {
        var queue = BatchQueue()
        #expect(queue.resumed(last: 0) == .idle)
        #expect(queue.resumed(last: 1) == .wentBack)
        let first = try accept(1, &queue)
        let sent = try queue.send()
        let second = try accept(2, &queue)
        #expect(queue.resumed(last: 0) == .again(sent))
        #expect(queue.kept == 0 && queue.underWay == sent)
        #expect(queue.resumed(last: 2) == .wentBack)
        #expect(queue.resumed(last: 1) == .kept)
        #expect(queue.kept == first && queue.underWay == nil)
        #expect(queue.resumed(last: 1) == .idle)
        #expect(queue.resumed(last: 0) == .wentBack)
        #expect(try queue.send().number == 2)
        #expect(queue.resumed(last: 0) == .wentBack)
        #expect(queue.resumed(last: 2) == .kept && queue.kept == second)
    }

    @Test func `A partition is idle once its changes are kept`() throws {
        var queue = BatchQueue()
        let other = PartitionID(number: 1)
        _ = try accept(1, &queue)
        #expect(queue.concerns(Self.partition) && !queue.concerns(other))
        // It is under way now.
        _ = queue.next()
        // None of them is local.
        _ = try queue.add([.remembered(TaskMemory(identifier: "x"))], in: other)
        #expect(queue.concerns(Self.partition) && queue.concerns(other))
        queue.answered()
        #expect(!queue.concerns(Self.partition) && queue.concerns(other))
        // It is under way now.
        _ = queue.next()
        #expect(queue.concerns(other))
        queue.answered()
        #expect(!queue.concerns(other))
    }

    /// The answer is that of a search through the whole batch, which costs too much to make it each time.
    @Test(arguments: SeededGenerator.seeds(10))
    func `A queue knows the partitions of its changes`(seed: UInt64) throws {
        var history = FleetHistory(seed: seed)
        var queue = BatchQueue()
        var kinds: Set<Bool> = []
        for _ in 0..<200 {
            for _ in 0..<history.count(upTo: 3) {
                let change = history.next()
                #expect(try queue.add([change.change], in: change.partition).local.isEmpty)
            }
            var copy = queue
            // What is under way is looked at below; here is what waits behind it.
            copy.answered()
            let waiting = try copy.send().batch
            let batches = [waiting] + (queue.underWay.map { [$0.batch] } ?? [])
            for number in 0..<FleetHistory.partitions {
                let partition = PartitionID(number: number)
                let isFound = batches.contains { batch in
                    batch.rows.contains { $0.partition == partition }
                        || batch.memories.contains { $0.partition == partition }
                }
                #expect(queue.concerns(partition) == isFound)
                kinds.insert(isFound)
            }
            if history.count(upTo: 1) == 0 {
                queue.answered()
            } else if queue.underWay == nil {
                // The batch is under way from here on.
                _ = try queue.send()
            }
        }
        #expect(kinds == [true, false])
    }

    @Test func `The work for a partition does not grow with the changes`() throws {
        func work(changes: Int) throws -> Int {
            var queue = BatchQueue()
            for batch in 0..<2 {
                for number in 0..<changes {
                    #expect(try accept(batch * changes + number, &queue) > 0)
                }
                // The second one waits behind the first.
                _ = queue.next()
            }
            var work = 0
            #expect(!queue.concerns(PartitionID(number: 1), work: &work))
            #expect(queue.concerns(Self.partition, work: &work))
            return work
        }
        let few = try work(changes: 1)
        #expect(try work(changes: 5_000) == few && few <= 4)
    }
}
