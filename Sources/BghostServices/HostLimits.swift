// SPDX-License-Identifier: Apache-2.0

/// Limits of the host itself, in one place.
package enum HostLimits {
    /// The maximum number of running and starting runs; a manifest has fewer slots.
    package static let runsMax = 1 << 14
    /// The maximum retry delay that a handler can request.
    package static let retryAfterMaxMilliseconds: UInt64 = 30 * 86_400_000
    /// The maximum number of open calls of one worker.
    package static let callsMax = 256
    /// The maximum number of crash reports and stacks that a worker sends.
    package static let reportsMax = 8
    /// The maximum number of different fetches (method and URL) of a run that get idempotency keys.
    package static let fetchesCountedMax = 1024
    /// The maximum size of the frames that wait for a worker, in bytes.
    ///
    /// A worker above this limit does not read and is killed.
    package static let queueBytesMax = 1 << 20
    /// The memory that the daemon holds for one plugin, in bytes: twice the largest fetch.
    ///
    /// A fetch, a list or a request above this limit is answered with `BG_E_LIMIT`.
    package static let heldBytesMax = 128 << 20
    /// The period of the audit of a busy worker.
    package static let auditPeriod: UInt64 = 100_000_000
    /// The longest audit period of an idle worker that can have processes.
    package static let idleAuditPeriodMax: UInt64 = 10_000_000_000
    /// The period of the check of a running plugin's data directory.
    package static let dataPeriod: UInt64 = 1_000_000_000
    /// The longest period of the checks of an unusable plugin's files.
    package static let lookPauseMax: UInt64 = 60_000_000_000
    /// The host checks the limits of a worker each time that it has used this much processor time.
    package static let cpuPeriod: Int64 = 10_000_000
    /// How often the pause after a shortage is doubled at most.
    package static let shortageDoublingsMax = 5
    /// The delay before the host checks a worker again that closed its socket.
    package static let hungUpPeriod: UInt64 = 100_000_000
    /// The time limit for the exit of a process that is already exiting.
    package static let dyingMax: UInt64 = 5_000_000_000
    /// A run is killed if its output exceeds its limit by this factor (plus 1 MiB).
    package static let outputFactor = 16
    /// A longer line of output is split into several.
    package static let outputLineBytesMax = 8 << 10
    /// Shorter runs are not measured, because reading /proc would cost more than the run.
    package static let measuredRunMin: UInt64 = 1_000_000
}
