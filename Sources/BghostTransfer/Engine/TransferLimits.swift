// SPDX-License-Identifier: Apache-2.0

package import BghostCore

/// The bounds within which an engine works.
package struct TransferLimits: Sendable {
    /// Transfers under way at once; the others wait.
    package var totalMax = 64
    /// Transfers under way at once with one server, as Apple's sessions have it.
    package var perServerMax = 6
    /// Transfers of one plugin that have not been dealt with, whatever their state.
    package var perPluginMax = 10_000
    /// What they may take of the memory with their bodies, headers and continuations, bytes.
    package var perPluginBytesMax = 64 << 20
    /// How often at most progress is written down, nanoseconds.
    package var progressInterval: UInt64 = 1_000_000_000
    /// How long ends that nobody deals with are kept, nanoseconds.
    package var endsKept: Int64 = 7 * 86_400_000_000_000
    package var policy = TransferMachine.Policy()

    package init() {}
}

/// All transfers of a session have ended that had been under way, and nobody waited for them.
package struct SessionEnd: Equatable, Sendable {
    /// The same each time that the same end is told: the id of the oldest transfer in it.
    package var id: RunID
    package var session: SessionKey
    /// The oldest first.
    package var transfers: [TransferRecord]
}

/// Who wants to know what becomes of transfers.
///
/// Called on the engine's own executor, in the order of the events: must not block.
package protocol TransferObserver: AnyObject, Sendable {
    /// A transfer is in another state, or has been written down as attached or detached.
    func transferChanged(_ record: TransferRecord)

    /// A session has ended. It is told again after each start, and when more of it ends, until
    /// `TransferEngine.acknowledge` has been called for its transfers.
    func sessionEnded(_ end: SessionEnd)

    /// Nobody has dealt with these ends for `TransferLimits.endsKept`: they are forgotten.
    func endsExpired(_ records: [TransferRecord])

    /// A change could not be written down. The transfer goes on; after a restart it may begin from
    /// further back, or be told of once more. Called on the journal's thread.
    func journalFailed(_ error: TransferJournalError)
}

extension TransferObserver {
    package func endsExpired(_ records: [TransferRecord]) {}
}
