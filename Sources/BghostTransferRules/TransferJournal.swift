// SPDX-License-Identifier: Apache-2.0

package import BghostBase

/// One change of the stored state of transfers.
package enum TransferChange: Equatable, Sendable {
    case created(TransferRecord)
    /// It has a new position, or starts again from the beginning.
    case moved(RunID, TransferPoint)
    case changed(RunID, TransferStatus)
    /// It was acknowledged or dropped.
    case removed(RunID)
}

/// A change that was not stored, or a journal that cannot be read.
package struct TransferJournalError: Error, Equatable, Sendable, CustomStringConvertible {
    /// What happened, where, and how to resolve it.
    package let description: String

    package init(_ description: String) {
        self.description = description
    }
}

/// The stored state of transfers, until their end is acknowledged.
///
/// Guarantees:
/// * `commit`: either succeeds and all changes are stored, or fails and none is stored. It ends soon, even
///   while the disk is full. It is used for changes that must be stored before the transfer continues: new
///   transfers, and the version of a file before its first byte.
/// * `keep`: for changes that have happened already. If there is no room to store them, they wait in memory
///   and are retried until they are stored. Only the last state of each transfer waits, so the memory is
///   limited by the number of transfers. The changes are lost only if the journal is closed or damaged, or
///   its last sync failed; `onHealthChange` reports that.
///
/// Both take effect in the order of the calls. A change to an unknown transfer has no effect.
///
/// While either fails for lack of room or after damage, `health` says so and since when. The journal checks
/// by itself whether there is room again, also while no caller commits.
///
/// Callers of `commit`: `TransferEngine.create` (refuses the transfer, and the label or continuation that a
/// second request adds to one under way), and an attempt before the first byte of a version of a file
/// (fails, and the transfer retries). Callers of `keep`: all other changes of a
/// transfer's state, its progress, and the removal of acknowledged ends; after a crash the next engine may
/// see the state before, so it asks the server again or reports an end again.
package protocol TransferJournal: AnyObject, Sendable {
    /// Stores these changes, all or none.
    ///
    /// Does not block.
    ///
    /// - Parameter completion: called exactly once, in the order of the commits, when the changes are as
    ///   durable as this journal makes them, or have failed; on any thread.
    func commit(
        _ changes: [TransferChange],
        completion: @escaping @Sendable (Result<Void, TransferJournalError>) -> Void
    )

    /// Stores changes that have already happened, and retries until they are stored.
    ///
    /// Does not block.
    func keep(_ changes: [TransferChange])

    /// Sets a closure that is called when changes can no longer be stored, and with `nil` when they can be
    /// stored again; on any thread.
    func onHealthChange(_ body: @escaping @Sendable (TransferJournalError?) -> Void)

    /// Whether changes are stored, and since when they are not. Does not block; on any thread.
    var health: TransferJournalHealth { get }

    /// Waits until all changes are stored, or until a deadline.
    ///
    /// - Parameter deadline: monotonic nanoseconds.
    /// - Returns: the number of transfers with changes that are not stored.
    func flush(until deadline: MonotonicInstant) -> Int

    /// Reads all stored transfers, the oldest first.
    func recover() throws(TransferJournalError) -> [TransferRecord]

    /// Waits for all commits, retries the changes that could not be stored, and releases the storage.
    ///
    /// Commits after this call fail.
    func close()

    /// Writes a copy of all records that are on the disk to a new file; it blocks the thread.
    ///
    /// A journal without a file writes none.
    func backup(to path: String) throws(TransferJournalError)
}

extension Dictionary where Key == RunID, Value == TransferRecord {
    /// Applies a change; this defines the meaning of `TransferChange`.
    package mutating func apply(_ change: TransferChange) {
        switch change {
        case .created(let record): self[record.request.id] = record
        case .moved(let id, let point): self[id]?.point = point
        case .changed(let id, let status): self[id]?.status = status
        case .removed(let id): self[id] = nil
        }
    }
}
