// SPDX-License-Identifier: Apache-2.0

internal import BghostCore
internal import Synchronization

/// Where attempts write how far they are, on whatever thread they are, and the engine reads it.
final class ProgressBoard: Sendable {
    struct Entry: Sendable {
        let attempt: Int
        let point: TransferPoint
    }

    private let entries = Mutex<[RunID: Entry]>([:])

    /// The last one of a transfer counts.
    ///
    /// - Returns: whether nothing stood there before, so that somebody has to be sent to read it.
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
