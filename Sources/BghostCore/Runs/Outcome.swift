// SPDX-License-Identifier: Apache-2.0

/// Why a run was asked to stop before it ended by itself.
///
/// Raw values are those of `BG_WHY_*`.
package enum StopReason: UInt32, Equatable, Codable, Hashable, Sendable, CaseIterable {
    /// Its runtime was used up.
    case expired = 1
    /// An operator asked, by `bghost expire` or because a newer request replaces the run.
    case user = 2
    /// The daemon stops or the plugin is being replaced.
    case drain = 3
    /// A requirement went away.
    case condition = 4
    /// Over a limit of memory, processor time or processes.
    case quota = 5
}

/// Why a run's worker was killed.
package enum KillReason: Equatable, Codable, Hashable, Sendable {
    /// It did not end within its grace.
    case graceExceeded
    case memory
    case cpu
    case processes
    /// It wrote far more output than it may.
    case output
    /// Its plugin's data directory holds more than it may.
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

/// How a run ended.
///
/// Each run has exactly one.
package enum Outcome: Equatable, Codable, Hashable, Sendable {
    case succeeded
    /// The handler said so, or could not be called.
    case failed
    /// It was asked to stop and did.
    case cancelledClean
    case killed(KillReason)
    /// Its worker ended while the run was under way: a signal, or an exit without a completion.
    case crashed(ProcessEnd)
    /// Something other than the run took its worker or the daemon away.
    case lost
    /// In the daemon, past its grace: it cannot be killed there, so it is no longer waited for.
    case abandoned
}
