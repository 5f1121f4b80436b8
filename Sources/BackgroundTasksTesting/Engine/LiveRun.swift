// SPDX-License-Identifier: Apache-2.0

internal import BghostModel
internal import BghostPolicy

/// A run in progress.
struct LiveRun: Sendable {
    let number: UInt64
    let handle: RunHandle
    /// Its index in the history.
    let place: Int
    var machine: RunMachine
    /// The current deadline, monotonic nanoseconds.
    var limit: UInt64 = .max
    /// The run's data for its handler; `nil` until it is started.
    var memory: RunMemory?
    /// The thread on which it continues after its first suspension.
    var thread: RunThread?
    /// The plugin's pointer as an integer, since a pointer is not Sendable.
    var state: UInt = 0
    var retryAfter: UInt64?
    var isExpirySimulated = false
    /// The session of a wake; `nil` for other runs.
    var wake: String?
    /// The transfers that a wake reports.
    var notified: [String] = []
    /// Those of them that it does not take.
    var unclaimed: Set<String> = []
    /// Calls of the host that have not returned, and jobs of the handler that are not done.
    var busy = 0
    /// Whether the driver no longer waits for it.
    var isGivenUp = false
}

/// A run in the history.
struct PastRun: Sendable {
    var record: RunRecord
    let handler: String
    let parameters: String
}
