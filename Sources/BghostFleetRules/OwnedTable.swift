// SPDX-License-Identifier: Apache-2.0

package import BghostBase
package import BghostModel

/// Values of requests that live in a fleet, by request and by partition.
///
/// Each call costs O(1), but ``removeAll(in:)`` and ``values(in:)``, which cost O(what they concern).
package struct OwnedTable<Value> {
    private var entries: [RunID: (partition: PartitionID, value: Value)] = [:]
    private var ids: [PartitionID: Set<RunID>] = [:]

    package init() {}

    package var isEmpty: Bool { entries.isEmpty }
    package var values: some Collection<Value> { entries.values.lazy.map(\.value) }

    package func count(in partition: PartitionID) -> Int { ids[partition]?.count ?? 0 }

    /// O(the values of the partition).
    package func values(in partition: PartitionID) -> [Value] {
        (ids[partition] ?? []).compactMap { entries[$0]?.value }
    }

    package func partition(of id: RunID) -> PartitionID? { entries[id]?.partition }

    package mutating func set(_ value: Value, for id: RunID, in partition: PartitionID) {
        remove(id)
        entries[id] = (partition, value)
        ids[partition, default: []].insert(id)
    }

    package mutating func remove(_ id: RunID) {
        guard let old = entries.removeValue(forKey: id) else { return }
        ids[old.partition]?.remove(id)
    }

    package mutating func removeAll(in partition: PartitionID) {
        for id in ids.removeValue(forKey: partition) ?? [] { entries[id] = nil }
    }
}
