// SPDX-License-Identifier: Apache-2.0

package import BghostBase
package import BghostModel
internal import BghostPolicy

/// The sizes of the stored checkpoints, which count against the memory limits of their plugins.
///
/// A change costs O(1) in what is stored; the bytes themselves are only in the store.
package struct CheckpointLedger {
    private struct Entry {
        var plugin: String
        var bytes: Int
    }

    private var entries: [RunID: Entry] = [:]
    private var sums: [String: Int] = [:]
    /// The saves on their way to the disk, by request, and whether the request has ended meanwhile.
    private var saving: [RunID: (count: Int, hasEnded: Bool)] = [:]
    /// The number of entries that changes have looked at: their work, which tests count.
    private(set) var entriesVisited = 0

    package init() {}

    package init(_ stored: [CheckpointSummary]) {
        for about in stored { set(about) }
    }

    /// The number of stored checkpoints.
    package var count: Int { entries.count }

    /// What the checkpoints of a plugin cost, bytes.
    package func bytes(ofPlugin plugin: String) -> Int { sums[plugin] ?? 0 }

    /// Whether a request has a checkpoint.
    package func has(_ request: RunID) -> Bool { entries[request] != nil }

    /// Follows changes that have taken effect; saves do so when they are stored.
    mutating func follow(_ changes: [StoreChange]) {
        for change in changes {
            guard let request = change.endsCheckpoint else { continue }
            remove(request)
            // The store writes such a save before the end of its request, which deletes it; its result may come
            // after the end.
            if case .checkpointDeleted = change { continue }
            saving[request]?.hasEnded = true
        }
    }

    /// Notes saves that are given to the store, which may refuse them.
    mutating func begin(_ changes: [StoreChange]) {
        for case .checkpointSaved(let checkpoint) in changes {
            saving[checkpoint.about.request, default: (0, false)].count += 1
        }
    }

    /// Follows changes for which ``begin(_:)`` was called, with the answer of the store.
    mutating func finish(_ changes: [StoreChange], areStored: Bool) {
        for change in changes {
            guard case .checkpointSaved(let checkpoint) = change else {
                if areStored { follow([change]) }
                continue
            }
            let about = checkpoint.about
            guard let state = saving[about.request] else { continue }
            saving[about.request] = state.count > 1 ? (state.count - 1, state.hasEnded) : nil
            if areStored, !state.hasEnded { set(about) }
        }
    }

    private mutating func set(_ about: CheckpointSummary) {
        remove(about.request)
        entriesVisited += 1
        let bytes = about.length + Checkpoint.overheadBytes
        entries[about.request] = Entry(plugin: about.plugin, bytes: bytes)
        sums[about.plugin, default: 0] += bytes
    }

    private mutating func remove(_ request: RunID) {
        entriesVisited += 1
        guard let entry = entries.removeValue(forKey: request) else { return }
        let rest = (sums[entry.plugin] ?? 0) - entry.bytes
        sums[entry.plugin] = rest > 0 ? rest : nil
    }
}
