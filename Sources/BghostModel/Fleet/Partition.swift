// SPDX-License-Identifier: Apache-2.0

internal import BghostCalendar

/// One part of a fleet's identifiers: all that have the same hash.
///
/// A partition has one owner, which decides about all its requests.
package struct PartitionID: Hashable, Comparable, Codable, Sendable {
    /// The pool of hosts that may own it; tasks with the same placement have the same pool.
    package let pool: UInt8
    package let number: UInt16

    /// The number of partitions of a fleet; it is the same in each version of this program.
    package static let count: UInt16 = 256

    package init(pool: UInt8 = 0, number: UInt16) {
        self.pool = pool
        self.number = number
    }

    /// The partition of an identifier.
    ///
    /// It must be the same in each version of this program, like the offset of a schedule; otherwise two hosts
    /// of different versions would both own an identifier.
    ///
    /// - Parameter partitions: the number of partitions of a pool, 1 or more, constant for a fleet.
    package init(of identifier: String, pool: UInt8 = 0, partitions: UInt16 = count) {
        let hash = sipHash13(Array(identifier.utf8))
        self.init(pool: pool, number: UInt16(hash % UInt64(max(1, partitions))))
    }

    package static func < (left: PartitionID, right: PartitionID) -> Bool {
        (left.pool, left.number) < (right.pool, right.number)
    }
}

/// A partition that the fleet has given to a host.
package struct PartitionGrant: Equatable, Codable, Sendable {
    package let partition: PartitionID
    /// Increases with each grant of this partition; it is the upper half of the epochs of its runs.
    package let epoch: UInt32

    package init(_ partition: PartitionID, epoch: UInt32) {
        self.partition = partition
        self.epoch = epoch
    }
}
