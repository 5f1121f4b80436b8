// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostModel

/// The partitions of a fleet that this host owns, and which of its identifiers are in them.
///
/// Each call costs O(1), but `remove`, which is O(identifiers of the partition), and `entries`.
struct PartitionTable: Sendable {
    struct Partition: Sendable {
        /// The fencing token of its newest run; the grant is its upper half.
        var epoch: UInt64
        var entries: Set<Int> = []
    }

    /// Whether the host has told anything about a fleet.
    private(set) var isActive = false
    private(set) var owned: [PartitionID: Partition] = [:]
    private var partitionOfEntry: [Int: PartitionID] = [:]
    /// Until when requests may start, in time since boot.
    private(set) var validUntil: MonotonicInstant = .zero
    /// Why the lease is not valid.
    private(set) var problem = ""
    /// Since when the lease is not valid, Unix nanoseconds.
    private(set) var lostAt: Int64?

    /// Requests of this host's own store that belong in the fleet, since their task had other `runs` before.
    var leftovers: [Request] = []

    /// The entries of all partitions, in ascending order.
    var entries: [Int] { partitionOfEntry.keys.sorted() }

    func owns(_ identifier: String) -> Bool {
        !owned.isEmpty && owned[PartitionID(of: identifier)] != nil
    }

    mutating func setLease(until end: MonotonicInstant) {
        (isActive, validUntil, problem, lostAt) = (true, end, "", nil)
    }

    /// - Parameter now: Unix nanoseconds.
    mutating func loseLease(_ reason: String, now: Int64) {
        (isActive, validUntil, problem) = (true, .zero, reason)
        lostAt = lostAt ?? now
    }

    mutating func add(_ grant: PartitionGrant) {
        owned[grant.partition] = Partition(epoch: UInt64(grant.epoch) << 32)
    }

    /// Notes that an identifier has an entry in its partition.
    mutating func add(_ entry: Int, to partition: PartitionID) {
        owned[partition]?.entries.insert(entry)
        partitionOfEntry[entry] = partition
    }

    /// Notes that an entry is forgotten; another identifier may get its number.
    mutating func forget(_ entry: Int) {
        guard !partitionOfEntry.isEmpty,
            let partition = partitionOfEntry.removeValue(forKey: entry)
        else { return }
        owned[partition]?.entries.remove(entry)
    }

    /// Removes a partition, and returns its entries.
    mutating func remove(_ partition: PartitionID) -> [Int] {
        let entries = owned.removeValue(forKey: partition)?.entries ?? []
        for entry in entries { partitionOfEntry[entry] = nil }
        return entries.sorted()
    }

    /// The fencing token of the next run in a partition; `nil` if this host does not own it.
    mutating func nextEpoch(_ partition: PartitionID) -> UInt64? {
        owned[partition]?.epoch += 1
        return owned[partition]?.epoch
    }
}
