// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
package import BghostTransferRules

/// The limits of an engine.
package struct TransferLimits: Sendable {
    /// The most attempts in progress at once; other transfers wait.
    package var totalMax = 64
    /// The most attempts in progress at once with one server, as in Apple's URL sessions.
    package var perServerMax = 6
    /// The most unacknowledged transfers of one plugin, whatever their state.
    package var perPluginMax = 10_000
    /// The most memory for their bodies, headers and continuations, bytes.
    var perPluginBytesMax = 64 << 20
    /// The shortest interval between two records of progress, nanoseconds.
    var progressInterval: UInt64 = 1_000_000_000
    /// How long an unacknowledged end is kept, nanoseconds.
    var endsKept: Int64 = 7 * 86_400_000_000_000
    /// Ends of one plugin that are kept for their sessions; the oldest beyond that are dropped.
    var keptPerPluginMax = 1000
    /// What those may take of the memory, bytes.
    var keptPerPluginBytesMax = 16 << 20
    /// The bytes of one plugin's files that are hashed and not sent, at which no further file is hashed.
    var unsentDigestBytesMax = DigestLedger.unsentBytesMax
    /// How many of these bytes time subtracts.
    var digestBytesPerSecond = DigestLedger.bytesPerSecond
    var policy = TransferMachine.Policy()

    package init() {}
}

/// The end of a session: all its transfers have ended while no client waited for them.
package struct SessionEnd: Equatable, Sendable {
    /// The id of the oldest transfer in it.
    var id: RunID
    package var session: SessionKey
    /// The oldest first.
    package var transfers: [TransferRecord]
}

/// Observes the transfers of an engine.
///
/// The methods are called on the engine's executor, in the order of the events, unless stated
/// otherwise; they must not block.
package protocol TransferObserver: AnyObject, Sendable {
    /// A transfer has changed its state, or has been recorded as attached or detached.
    func transferChanged(_ record: TransferRecord)

    /// All transfers of a session have ended; some of them were not reported before.
    ///
    /// The engine reports an end again after each start until `TransferEngine.acknowledge` is called for it, and when
    /// `TransferEngine.giveBack` is called for it.
    func sessionEnded(_ end: SessionEnd)

    /// No client has acknowledged these ends within `TransferLimits.endsKept`; they are dropped.
    func endsExpired(_ records: [TransferRecord])

    /// These ends were kept for their sessions and are dropped, since the plugin has more of them than
    /// `TransferLimits` lets it keep.
    func keptEndsDropped(_ records: [TransferRecord])

    /// A change could not be recorded.
    ///
    /// Transfers continue and the journal retries. If the process restarts before it succeeds, a
    /// transfer may continue from an earlier position, or its end may be reported again. Called on
    /// any thread.
    func journalFailed(_ error: TransferJournalError)

    /// All pending changes are recorded now.
    ///
    /// Called on any thread.
    func journalRecovered()
}

extension TransferObserver {
    package func journalRecovered() {}
    package func endsExpired(_ records: [TransferRecord]) {}
    package func keptEndsDropped(_ records: [TransferRecord]) {}
}
