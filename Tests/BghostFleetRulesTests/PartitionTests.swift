// SPDX-License-Identifier: Apache-2.0

import BghostFleetRules
import BghostModel
import BghostTestSupport
import Testing

@Suite struct PartitionTests {
    /// Computed by another implementation of SipHash-1-3; a change would give identifiers two owners.
    @Test(arguments: [
        ("", UInt16(44)), ("report", 183), ("weather.refresh", 87), ("é", 192),
    ])
    func `The partition of an identifier never changes`(identifier: String, number: UInt16) {
        let partition = PartitionID(of: identifier, partitions: 256)
        #expect(partition == PartitionID(number: number))
        #expect(PartitionID(of: identifier, pool: 3, partitions: 256).pool == 3)
    }

    @Test(arguments: [UInt16(1), 2, 7, 256])
    func `Each partition gets identifiers`(partitions: UInt16) {
        var counts: [PartitionID: Int] = [:]
        for number in 0..<20 * Int(partitions) {
            counts[PartitionID(of: "task-\(number)", partitions: partitions), default: 0] += 1
        }
        #expect(counts.count == Int(partitions))
        #expect(counts.keys.allSatisfy { $0.number < partitions })
    }

    @Test func `A fleet without partitions counts as one`() {
        #expect(PartitionID(of: "a", partitions: 0) == PartitionID(number: 0))
    }

    @Test func `Partitions are in the order of their pools`() {
        let all = [PartitionID(pool: 1, number: 0), PartitionID(number: 2), PartitionID(number: 1)]
        #expect(all.sorted() == [all[2], all[1], all[0]])
    }

    // MARK: Shares

    @Test(arguments: [
        (256, 4, [4, 8], 86), (256, 4, [4], 256), (256, 0, [0, 8], 0), (256, 3, [], 256),
        (0, 1, [1], 0), (-1, 1, [1], 0), (5, 1, [1, 4], 1), (5, 1, [1, 5], 1), (1, 1, [1, 999], 1),
        (256, -3, [-3, 8], 0), (256, 8, [8, -3], 256), (256, .max, [.max, .max], 128),
        (256, 0, [], 0),
    ])
    func `A share follows the slots`(partitions: Int, slots: Int, all: [Int], share: Int) {
        #expect(PartitionShare.share(partitions: partitions, slots: slots, among: all) == share)
    }

    @Test(arguments: SeededGenerator.seeds(20))
    func `The shares of all hosts cover the partitions`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<200 {
            let partitions = Int.random(in: 1...300, using: &random)
            let slots = (0..<Int.random(in: 1...9, using: &random)).map { _ in
                Int.random(in: 0...40, using: &random)
            }
            let all = slots.reduce(0, +)
            guard all > 0 else { continue }
            let shares = slots.map {
                PartitionShare.share(partitions: partitions, slots: $0, among: slots)
            }
            #expect(shares.reduce(0, +) >= partitions)
            for (share, slots) in zip(shares, slots) {
                #expect(share * all < partitions * slots + all, "\(share) for \(slots) of \(all)")
            }
        }
    }

    @Test func `A host gives back idle partitions, a few at a time`() {
        let owned = (0..<6).map { PartitionID(number: $0) }
        func surplus(share: Int, most: Int = 9, idle: [Int] = [0, 1, 2, 4]) -> [Int] {
            PartitionShare.surplus(
                owned: owned,
                idle: Set(idle.map { owned[$0] }),
                share: share,
                most: most
            ).map { Int($0.number) }
        }
        #expect(surplus(share: 6).isEmpty && surplus(share: 9).isEmpty)
        #expect(surplus(share: 4) == [4, 2])
        #expect(surplus(share: 0) == [4, 2, 1, 0])
        #expect(surplus(share: -1) == [4, 2, 1, 0])
        #expect(surplus(share: 0, most: 1) == [4])
        #expect(surplus(share: 0, most: 0).isEmpty)
        #expect(surplus(share: 0, idle: []).isEmpty)
    }
}
