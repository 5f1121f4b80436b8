// SPDX-License-Identifier: Apache-2.0

/// Why a run was cancelled.
///
/// Raw values are those of `BG_WHY_*`.
package enum StopReason: UInt32, Equatable, Codable, Hashable, Sendable, CaseIterable {
    /// Its runtime was used up.
    case expired = 1
    /// The operator used `bghost expire`, or a newer request replaces the run.
    case user = 2
    /// The daemon stops, or replaces the plugin.
    case drain = 3
    /// A requirement is no longer met.
    case condition = 4
    /// The run exceeded a limit of memory, processor time or processes.
    case quota = 5
}

/// Why the daemon killed a run's worker.
package enum KillReason: Equatable, Codable, Hashable, Sendable {
    /// It did not end within its grace.
    case graceExceeded
    case memory
    case cpu
    case processes
    /// The run wrote far more output than its limit.
    case output
    /// The plugin's data directory exceeds its limit.
    case data
    /// The worker did not become ready in time.
    case startTimeout
    /// The worker broke the protocol; the number says how and is never reused.
    case protocolFault(UInt16)
}

/// How a process ended by itself.
package enum ProcessEnd: Equatable, Codable, Hashable, Sendable {
    case exited(Int32)
    case signalled(Int32)
}

/// The result of a run; each run has exactly one.
package enum Outcome: Equatable, Codable, Hashable, Sendable {
    case succeeded
    /// The handler reported a failure, or the worker could not call it.
    case failed
    /// The run was cancelled and ended in time.
    case cancelledClean
    case killed(KillReason)
    /// The worker ended during the run: by a signal, or by an exit without a completion.
    case crashed(ProcessEnd)
    /// The run lost its worker or the daemon for a reason outside the run.
    case lost
    /// A run in the daemon's process exceeded its grace; the daemon cannot kill it and stops waiting for it.
    case abandoned
}
