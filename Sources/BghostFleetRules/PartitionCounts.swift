// SPDX-License-Identifier: Apache-2.0

internal import BghostModel

/// How many changes of a batch each partition has.
///
/// The owner of hundreds of partitions asks for each of them whether it is idle, while a batch may have
/// thousands of changes: the answer must not look at them.
struct PartitionCounts: Equatable, Sendable {
    private var counts: [PartitionID: Int] = [:]

    mutating func add(_ partition: PartitionID) { counts[partition, default: 0] += 1 }

    /// Takes back an `add` of the same partition.
    mutating func remove(_ partition: PartitionID) {
        guard let count = counts[partition] else { return }
        counts[partition] = count > 1 ? count - 1 : nil
    }

    /// Whether a partition has changes.
    ///
    /// - Parameter work: increases by the number of entries that were looked at, which tests count.
    func contains(_ partition: PartitionID, work: inout Int) -> Bool {
        work += 1
        return counts[partition] != nil
    }
}
