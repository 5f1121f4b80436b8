// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostTransferRules
internal import Synchronization

/// Collects the progress that attempts report on any thread, until the engine reads it.
final class ProgressTable: Sendable {
    struct Entry: Sendable {
        let attempt: Int
        let point: TransferPoint
    }

    private let entries = Mutex<[RunID: Entry]>([:])

    /// Stores an entry, which replaces the transfer's previous one.
    ///
    /// - Returns: whether the table was empty, so that the caller must tell the engine to read it.
    func put(_ id: RunID, _ entry: Entry) -> Bool {
        entries.withLock { entries in
            defer { entries[id] = entry }
            return entries.isEmpty
        }
    }

    func take() -> [RunID: Entry] {
        entries.withLock { entries in
            defer { entries = [:] }
            return entries
        }
    }

    func drop(_ id: RunID) {
        entries.withLock { entries in entries[id] = nil }
    }
}
