// SPDX-License-Identifier: Apache-2.0

import BghostBase
@testable import BghostFleetRules
import BghostModel
import Testing

@Suite struct OwnedTableTests {
    @Test func `A partition takes its own requests with it, and no others`() {
        var table = OwnedTable<Int>()
        let partitions = ["a", "b"].map { PartitionID(of: $0) }
        let ids = (0..<4).map { RunID(high: 1, low: UInt64($0)) }
        for (number, id) in ids.enumerated() {
            table.set(number, for: id, in: partitions[number % 2])
        }
        // A value that is set again may be in another partition.
        table.set(9, for: ids[1], in: partitions[0])
        table.remove(ids[0])
        #expect(table.values.sorted() == [2, 3, 9])
        #expect(table.partition(of: ids[1]) == partitions[0] && table.partition(of: ids[0]) == nil)
        table.removeAll(in: partitions[0])
        #expect(Array(table.values) == [3] && table.partition(of: ids[1]) == nil)
        table.removeAll(in: partitions[0])
        table.removeAll(in: partitions[1])
        #expect(table.isEmpty)
    }
}
