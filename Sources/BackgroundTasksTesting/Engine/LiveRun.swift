// SPDX-License-Identifier: Apache-2.0

internal import BghostCore

/// A run under way.
struct LiveRun: Sendable {
    let number: UInt64
    let ticket: RunTicket
    /// Its place in the history.
    let place: Int
    var machine: RunMachine
    /// The deadline that counts, monotonic nanoseconds.
    var limit: UInt64 = .max
    /// What it has memory of the host for; `nil` until it is started.
    var memory: RunMemory?
    /// What it runs on after its first suspension.
    var thread: RunThread?
    /// The bits of the plugin's pointer, which is no value that can be sent.
    var state: UInt = 0
    var retryAfter: UInt64?
    var isExpirySimulated = false
    /// The session that it tells of; `nil` if it is no wake.
    var wake: String?
    /// The transfers that it tells of.
    var told: [String] = []
    /// Calls of the host that have not returned, and jobs of the handler that are not done.
    var busy = 0
    /// Whether it is no longer waited for.
    var isGivenUp = false
}

/// A run as it is remembered.
struct PastRun: Sendable {
    var record: RunRecord
    let handler: String
    let parameters: String
}
