// SPDX-License-Identifier: Apache-2.0

package import BghostBase

/// The transfers that running runs have begun, and those that continue without their cancelled run.
///
/// It decides whether a run may still wait for a transfer's end, so that the session is not woken for it, and
/// whether a run that stopped late left a transfer to the daemon (docs/adr/0750-late-stops-with-a-transfer.md).
///
/// Pure. A call costs O(1), those about a whole run O(n) in the transfers that running runs have begun.
package struct BegunTransfers: Equatable, Sendable {
    private struct Entry: Equatable {
        /// The runs that began it and have not ended: a run that begins what another one began gets the same
        /// transfer.
        var runs: Set<UInt64>
        /// Whether the engine has taken the transfer.
        var isTaken = false
        /// Whether the plugin has cancelled the transfer.
        var isGivenUp = false
    }

    private var entries: [RunID: Entry] = [:]
    /// What continues without each cancelled run that has not ended.
    private var left: [UInt64: Set<RunID>] = [:]

    package init() {}

    /// Whether a run that began a transfer may still wait for its end.
    package func mayBeAwaited(_ transfer: RunID) -> Bool { entries[transfer] != nil }

    /// The same for any of some ended transfers, at the cost of these or of the begun ones, whichever are
    /// fewer.
    package func mayBeAwaited(anyOf ended: EndedTransfers) -> Bool {
        if entries.count < ended.count { return entries.keys.contains { ended.contains($0) } }
        return ended.contains { entries[$0] != nil }
    }

    /// A run begins a transfer; the engine has not answered.
    package mutating func begin(_ transfer: RunID, by run: UInt64) {
        // A cancelled run can wait for nothing.
        guard left[run] == nil else { return }
        entries[transfer] = Entry(runs: [run])
    }

    /// The engine has taken a transfer.
    ///
    /// - Parameters:
    ///   - other: the earlier transfer that it takes for this one; `nil` if this one is new.
    ///   - isOver: whether the run has ended.
    package mutating func taken(_ transfer: RunID, as other: RunID?, by run: UInt64, isOver: Bool) {
        entries[transfer] = nil
        guard !isOver else { return }
        let id = other ?? transfer
        if left[run] == nil {
            let others = entries[id]?.runs ?? []
            entries[id] = Entry(runs: others.union([run]), isTaken: true)
        } else {
            left[run]?.insert(id)
        }
    }

    /// The engine has refused a transfer.
    package mutating func refused(_ transfer: RunID) { entries[transfer] = nil }

    /// The plugin has cancelled a transfer; its end is still reported.
    package mutating func gaveUp(_ transfer: RunID) {
        entries[transfer]?.isGivenUp = true
        forget(transfer)
    }

    /// The plugin has acknowledged the end of a transfer.
    package mutating func finished(_ transfer: RunID) {
        entries[transfer] = nil
        forget(transfer)
    }

    private mutating func forget(_ transfer: RunID) {
        for run in left.keys { left[run]?.remove(transfer) }
    }

    /// A run is cancelled: what it began and waits for continues without it.
    ///
    /// A transfer that the engine has not taken yet counts once it is taken.
    ///
    /// - Parameter awaited: the transfers whose ends it waits for.
    /// - Returns: whether it had begun any.
    package mutating func cancelled(_ run: UInt64, awaiting awaited: [RunID]) -> Bool {
        var continuing = Set(awaited.filter { entries[$0]?.isGivenUp != true })
        let begun = entries.filter { $0.value.runs.contains(run) }
        for (transfer, entry) in begun {
            remove(run, from: transfer)
            if entry.isTaken, !entry.isGivenUp { continuing.insert(transfer) }
        }
        left[run, default: []].formUnion(continuing)
        return !begun.isEmpty
    }

    /// Whether a transfer continues without a run, which was cancelled and has ended; call it once.
    package mutating func continues(without run: UInt64) -> Bool {
        left.removeValue(forKey: run).map { !$0.isEmpty } ?? false
    }

    /// A run has ended: it waits for nothing any more.
    package mutating func ended(_ run: UInt64) {
        for (transfer, entry) in entries where entry.runs.contains(run) {
            remove(run, from: transfer)
        }
    }

    private mutating func remove(_ run: UInt64, from transfer: RunID) {
        entries[transfer]?.runs.remove(run)
        if entries[transfer]?.runs.isEmpty == true { entries[transfer] = nil }
    }
}
