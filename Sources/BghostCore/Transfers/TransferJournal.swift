// SPDX-License-Identifier: Apache-2.0

/// One step of what is remembered of transfers.
package enum TransferChange: Equatable, Sendable {
    case created(TransferRecord)
    /// It has come further, or has to begin anew.
    case moved(RunID, TransferPoint)
    case changed(RunID, TransferStatus)
    /// It is of interest to nobody any more.
    case removed(RunID)
}

/// A step that was not kept, or a journal that cannot be read.
package struct TransferJournalError: Error, Equatable, Sendable, CustomStringConvertible {
    /// What happened, where, and what to do about it.
    package let description: String

    package init(_ description: String) {
        self.description = description
    }
}

/// Where transfers are kept while they are under way, and until their end has been dealt with.
package protocol TransferJournal: AnyObject, Sendable {
    /// Keeps these changes, all or none.
    ///
    /// Does not block. Changes take effect in the order of the calls. A change to a transfer that is
    /// not there has no effect.
    ///
    /// - Parameter completion: called exactly once, in the order of the commits, when the changes are
    ///   as durable as this journal makes them, or have failed; on any thread.
    func commit(
        _ changes: [TransferChange],
        completion: @escaping @Sendable (Result<Void, TransferJournalError>) -> Void
    )

    /// All that it holds, the oldest first.
    func recover() throws(TransferJournalError) -> [TransferRecord]

    /// Waits for all commits and lets go of what it is kept in; commits after this fail.
    func close()
}

extension Dictionary where Key == RunID, Value == TransferRecord {
    /// What a step makes of what is remembered: the meaning of `TransferChange`.
    package mutating func apply(_ change: TransferChange) {
        switch change {
        case .created(let record): self[record.request.id] = record
        case .moved(let id, let point): self[id]?.point = point
        case .changed(let id, let status): self[id]?.status = status
        case .removed(let id): self[id] = nil
        }
    }
}
