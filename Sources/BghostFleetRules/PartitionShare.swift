// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
package import BghostModel

/// How many partitions a host should own, and which ones it gives back.
package enum PartitionShare {
    /// The most slots of a host that count, so that no sum overflows.
    private static let slotsMax = 1 << 20

    /// The most partitions that a host should own: `partitions × slots / slots of all`, rounded up.
    ///
    /// The sum for all hosts is at least the number of partitions, so none stays without an owner. It may be
    /// greater by less than the number of hosts; the last host to claim then owns that many fewer.
    ///
    /// O(hosts).
    ///
    /// - Parameter all: the slots of each live host, this one included.
    package static func share(partitions: Int, slots: Int, among all: [Int]) -> Int {
        let slots = counted(slots)
        let sum = max(slots, all.reduce(0) { $0.addingClamped(counted($1)) })
        guard sum > 0, partitions > 0 else { return 0 }
        let product = min(partitions, 1 << 24) * slots
        let (whole, rest) = product.quotientAndRemainder(dividingBy: sum)
        return whole + (rest > 0 ? 1 : 0)
    }

    /// The slots of a host that count.
    package static func counted(_ slots: Int) -> Int { min(max(0, slots), slotsMax) }

    /// The partitions above the share that a host gives back now, the last ones first.
    ///
    /// It sorts `owned` if there are any; otherwise it is O(1).
    ///
    /// - Parameters:
    ///   - idle: those without a run or an unsent change; only these can be given back at once.
    ///   - most: the most partitions to give back at a time; the others then start them with little delay.
    package static func surplus(
        owned: [PartitionID],
        idle: Set<PartitionID>,
        share: Int,
        most: Int
    ) -> [PartitionID] {
        let count = min(owned.count - max(0, share), most)
        guard count > 0 else { return [] }
        return Array(owned.sorted(by: >).filter(idle.contains).prefix(count))
    }
}
