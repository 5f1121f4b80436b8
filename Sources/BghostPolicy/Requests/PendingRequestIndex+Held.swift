// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostModel

/// The memory of the requests that plugins have submitted, and of the identifiers that they have added.
///
/// The index updates the sums with each change, so a query takes constant time. Requests of operators and of
/// the manifest do not count.
extension PendingRequestIndex {
    /// The memory of the waiting requests and identifiers of a group, bytes.
    func heldBytes(ofGroup group: Int) -> Int {
        held.indices.contains(group) ? held[group] : 0
    }

    mutating func addHeldBytes(_ bytes: Int, ofGroup group: Int) {
        guard bytes != 0 else { return }
        while held.count <= group { held.append(0) }
        held[group] += bytes
    }

    /// Records that a plugin has added an identifier.
    mutating func notePluginEntry(_ entry: Int) {
        guard !entries.rows[entry].isOfPluginEntry else { return }
        entries.rows[entry].isOfPluginEntry = true
        addHeldBytes(entries.identifierBytes(entry), ofGroup: entries.kind(entry).group)
    }
}

extension PendingRequestIndex.Entries {
    /// The memory of an entry that counts for its group, bytes.
    func heldBytes(_ number: Int) -> Int {
        var bytes = rows[number].heldBytes
        if rows[number].isOfPluginEntry { bytes += identifierBytes(number) }
        for place in extras(number).map({ Array($0.retries.all) + $0.appended.all }) ?? [] {
            bytes += place.request.heldBytes
        }
        return bytes
    }

    /// The memory of an identifier, bytes: its row, its text and its place in the table of identifiers.
    func identifierBytes(_ number: Int) -> Int {
        MemoryLayout<RequestRow>.stride + 32 + identifierLength(number)
    }
}

extension Request {
    /// The memory that it uses while it waits, bytes; 0 unless a plugin submitted it.
    var heldBytes: Int {
        guard submitter.isPlugin else { return 0 }
        return Self.heldBytes(task: task, parameters: parameters) + (trace?.state.utf8.count ?? 0)
    }

    /// The memory that a plugin's request uses while it waits, bytes.
    package static func heldBytes(task: String, parameters: String) -> Int {
        512 + task.utf8.count + parameters.utf8.count
    }
}
