// SPDX-License-Identifier: Apache-2.0

package import BghostBase
package import BghostTransferRules

/// The ended transfers of a session that no run has handled.
///
/// A plugin can have 10,000 of them. One more, and one less, cost O(log n), and the move of 16 bytes for each that is
/// newer; usually none is.
package struct EndedTransfers: Sendable {
    /// In ascending order: the oldest first.
    private var ids: [RunID] = []
    private var records: [RunID: TransferRecord] = [:]
    /// The number of ids that changes have looked at: their work, which tests count.
    package private(set) var visits = 0

    package init() {}

    package var isEmpty: Bool { ids.isEmpty }

    package var count: Int { ids.count }

    /// The oldest one: its id identifies the wake.
    package var first: RunID? { ids.first }

    /// The oldest first; each is looked up when it is reached.
    package var transfers: some Collection<TransferRecord> {
        ids.lazy.compactMap { [records] in records[$0] }
    }

    package func contains(_ id: RunID) -> Bool { records[id] != nil }

    /// Whether one of them meets a condition, at the cost of each of them.
    package func contains(where isWanted: (RunID) -> Bool) -> Bool { ids.contains(where: isWanted) }

    /// Adds an end; one that was reported again replaces the former report.
    package mutating func insert(_ record: TransferRecord) {
        let id = record.request.id
        guard records.updateValue(record, forKey: id) == nil else { return }
        ids.insert(id, at: place(of: id))
    }

    /// Removes an end.
    ///
    /// - Returns: whether it was there.
    package mutating func remove(_ id: RunID) -> Bool {
        guard records.removeValue(forKey: id) != nil else { return false }
        ids.remove(at: place(of: id))
        return true
    }

    /// The index of the first id that is not smaller.
    private mutating func place(of id: RunID) -> Int {
        var range = ids.indices
        while !range.isEmpty {
            visits += 1
            let middle = (range.lowerBound + range.upperBound) / 2
            if ids[middle] < id {
                range = (middle + 1)..<range.upperBound
            } else {
                range = range.lowerBound..<middle
            }
        }
        return range.lowerBound
    }
}
