// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostModel

/// Values of requests that live in a fleet, by request and by partition.
///
/// Each call costs O(1), but ``removeAll(in:)`` and ``values(in:)``, which cost O(what they concern).
struct OwnedTable<Value> {
    private var entries: [RunID: (partition: PartitionID, value: Value)] = [:]
    private var ids: [PartitionID: Set<RunID>] = [:]

    var isEmpty: Bool { entries.isEmpty }
    var values: some Collection<Value> { entries.values.lazy.map(\.value) }

    func count(in partition: PartitionID) -> Int { ids[partition]?.count ?? 0 }

    /// O(the values of the partition).
    func values(in partition: PartitionID) -> [Value] {
        (ids[partition] ?? []).compactMap { entries[$0]?.value }
    }

    func partition(of id: RunID) -> PartitionID? { entries[id]?.partition }

    mutating func set(_ value: Value, for id: RunID, in partition: PartitionID) {
        remove(id)
        entries[id] = (partition, value)
        ids[partition, default: []].insert(id)
    }

    mutating func remove(_ id: RunID) {
        guard let old = entries.removeValue(forKey: id) else { return }
        ids[old.partition]?.remove(id)
    }

    mutating func removeAll(in partition: PartitionID) {
        for id in ids.removeValue(forKey: partition) ?? [] { entries[id] = nil }
    }
}
