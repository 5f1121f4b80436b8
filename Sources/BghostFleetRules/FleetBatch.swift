// SPDX-License-Identifier: Apache-2.0

package import BghostBase
package import BghostModel

/// What the owner of a partition believes a row of a request to be before a batch changes it.
///
/// The store compares it, so an owner whose picture differs from the store learns it by its next batch.
package enum RowMark: Equatable, Sendable {
    case absent
    case pending
    /// Leased to a run under this epoch.
    case leased(epoch: UInt64)
    case dead
}

/// A row of a request after a batch.
package enum RowState: Equatable, Sendable {
    case pending(Request)
    /// Leased to a run.
    ///
    /// The request is `nil` if the batch does not change it: the row keeps it.
    case leased(RunRecord, of: Request?)
    case dead(DeadLetter)

    var mark: RowMark {
        switch self {
        case .pending: .pending
        case .leased(let run, _): .leased(epoch: run.epoch)
        case .dead: .dead
        }
    }
}

extension Request {
    /// Whether it counts as the one pending request of its task, while it is pending.
    package var countsAsPending: Bool { !isManual && !isRetry && !isAppended }
}

/// The net change of one request in a batch.
package struct RowChange: Equatable, Sendable {
    package let partition: PartitionID
    package let id: RunID
    package let before: RowMark
    /// `nil` deletes the row.
    package var after: RowState?
}

/// The changes of a host that the fleet's store keeps as a whole or not at all.
package struct FleetBatch: Equatable, Sendable {
    /// A state of an identifier; an empty one deletes its row.
    package struct Remembered: Equatable, Sendable {
        package let partition: PartitionID
        package var memory: TaskMemory
    }

    /// A submission that its owner has accepted or dropped, so that no later owner accepts it.
    package struct Taken: Equatable, Sendable {
        package let partition: PartitionID
        package let id: RunID
    }

    /// At most one for each request.
    package var rows: [RowChange] = []
    /// Runs that ended, in the order of their ends.
    package var ended: [RunRecord] = []
    /// At most one for each identifier.
    package var memories: [Remembered] = []
    /// Submissions that the store must have, and then has no longer.
    package var taken: [Taken] = []

    package init() {}

    package var isEmpty: Bool {
        rows.isEmpty && ended.isEmpty && memories.isEmpty && taken.isEmpty
    }
}
