// SPDX-License-Identifier: Apache-2.0

package import BghostBase
package import BghostTransferRules
internal import Synchronization

/// A journal that lasts as long as its process: for tests, and for a daemon that stores nothing.
package final class MemoryTransferJournal: TransferJournal {
    private struct State {
        var records: [RunID: TransferRecord] = [:]
        var isClosed = false
    }

    private let state = Mutex(State())

    package init() {}

    package func commit(
        _ changes: [TransferChange],
        completion: @escaping @Sendable (Result<Void, TransferJournalError>) -> Void
    ) {
        let isKept = state.withLock { state in
            guard !state.isClosed else { return false }
            for change in changes { state.records.apply(change) }
            return true
        }
        completion(isKept ? .success(()) : .failure(TransferJournalError("the journal is closed")))
    }

    package func keep(_ changes: [TransferChange]) { commit(changes) { _ in } }

    /// This journal always has room.
    package func onHealthChange(_ body: @escaping @Sendable (TransferJournalError?) -> Void) {}
    package var health: TransferJournalHealth { TransferJournalHealth() }
    package func flush(until deadline: MonotonicInstant) -> Int { 0 }

    package func recover() throws(TransferJournalError) -> [TransferRecord] {
        state.withLock { $0.records.values.sorted { $0.request.id < $1.request.id } }
    }

    package func backup(to path: String) throws(TransferJournalError) {}

    package func close() {
        state.withLock { $0.isClosed = true }
    }
}
