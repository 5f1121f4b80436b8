// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostModel
internal import BghostPolicy

/// A run in progress.
struct LiveRun: Sendable {
    let number: UInt64
    let handle: RunHandle
    /// Its index in the history.
    let place: Int
    var machine: RunMachine
    /// The current deadline.
    var limit: MonotonicInstant = .never
    /// Its slot in the plugin's runtime; `nil` until it is started.
    var slot: Int?
    /// The thread on which it continues after its first suspension.
    var thread: RunThread?
    var retryAfter: UInt64?
    var isExpirySimulated = false
    /// The session of a wake; `nil` for other runs.
    var wake: String?
    /// The transfers that a wake reports.
    var notified: [String] = []
    /// The ends among them that it keeps instead of acknowledging.
    var unclaimed: Set<String> = []
    /// Calls and callbacks of the host that have not returned, and jobs of the handler that are not
    /// done.
    var busy = 0
    /// Whether the driver no longer waits for it.
    var isGivenUp = false

    /// Its number in the plugin's runtime; `nil` until it is started.
    var id: UInt64? { slot.map { RunSlots.id(of: number, in: $0) } }
}

/// A run in the history.
struct PastRun: Sendable {
    var record: RunRecord
    let handler: String
    let parameters: String
}
