// SPDX-License-Identifier: Apache-2.0

internal import BghostDispatch
package import BghostModel
internal import BghostTransferRules

/// The timeouts of the host, in nanoseconds.
package struct HostTimeouts: Sendable {
    /// The time limit for loading a plugin.
    package var start: UInt64 = RunMachine.startLimit
    /// The pause of a plugin after the first failed load; it doubles with each further failure.
    package var loadBackoff: UInt64 = 1_000_000_000
    /// How long the files of a plugin must be unchanged to count as complete.
    package var settle: UInt64 = 250_000_000
    /// The delay of the next automatic inspection of a plugin; it doubles while its files keep changing.
    package var inspect: UInt64 = 1_000_000_000
    /// The delay of the first check of an unusable plugin's files; it doubles with each check.
    package var look: UInt64 = 1_000_000_000
    /// The limits for the pauses and the quarantine of a plugin that crashes.
    package var crashes = CrashLoop.Limits()
    /// The time limit for a worker to finish; then it is killed.
    ///
    /// A plugin in the daemon is abandoned instead.
    package var finish: UInt64 = 2_000_000_000
    /// How long a kill at the end of a grace waits for the stacks of the worker's threads.
    package var explain: UInt64 = 100_000_000
    /// The time limit for a handler to release a completed run.
    package var release: UInt64 = 5_000_000_000
    /// The time after which an idle worker is retired.
    package var idle: UInt64 = 30_000_000_000
    /// How long an operator waits for a row of the audit that the store does not answer.
    package var auditRow: UInt64 = AuditCommands.rowWait
    /// The delay before a prestarted worker that got a run is replaced.
    package var prestart: UInt64 = 10_000_000
    /// The delay of the next wake of a session whose handler creates new transfers in each wake.
    package var wake = WakeLimiter.base
    /// The longest short run; a run that takes longer is unpinned.
    ///
    /// Pinning ends after ten times this without a run, and after a thousand times this in any case.
    package var shortRun: UInt64 = 100_000

    /// The timeouts of a daemon.
    package init() {}
}
