// SPDX-License-Identifier: Apache-2.0

package import BghostCore
package import BghostLinux
package import BghostStore
package import BghostTransfer

/// The configuration of a host.
package struct HostConfiguration: Sendable {
    package var manifest: Manifest
    /// Reads the manifest again in the same way as the first one; `nil` if that is impossible.
    ///
    /// The host calls it on a dedicated thread, so it may block.
    package var rereadManifest: (@Sendable () -> RereadManifest)?
    /// The path of the manifest, for messages only.
    package var manifestPath: String
    /// The absolute path of the state directory, which is created if it does not exist.
    package var stateDirectory: String
    /// The absolute path of the program `bghost-worker`.
    package var workerPath: String
    /// The absolute paths of the folders that are searched for a library whose name contains no `/`.
    package var pluginPath: [String]
    /// The absolute path of the manifest's folder; a library name with a `/` is relative to it.
    package var manifestDirectory: String
    /// Called after the state directory is locked and before anything in it is read.
    ///
    /// If it throws, the state directory is unchanged.
    package var beforeStart: (@Sendable () throws -> Void)?
    /// Opens the store in the state directory, which this daemon has locked.
    package var openStore: @Sendable (_ stateDirectory: String) throws(StoreError) -> any Store
    /// Opens the journal of transfers in the same folder.
    package var openTransfers:
        @Sendable (_ stateDirectory: String) throws(TransferJournalError) -> any TransferJournal
    package var fetcher: any Fetching
    package var log: HostLog
    package var version: String
    /// Whether unknown child processes are orphans of workers, which the host kills.
    ///
    /// Set it only in a process that starts no other children, such as the daemon.
    package var isSubreaper: Bool
    /// Whether plugins are allowed in places that other users could change (development mode).
    package var allowsUntrustedFiles = false
    /// Replaces the sources of facts; `nil` uses the machine.
    package var factSources: (@Sendable (_ wanted: RequirementSet) -> [any FactSource])?
    /// Records the inputs and decisions of the scheduler; `nil` records nothing.
    package var recorder: (any DecisionRecorder)?
    /// Replaces the check of the wall clock; `nil` asks the kernel.
    package var clockDoubt: (@Sendable () -> ClockDoubt?)?
    /// The sandbox layers of workers, applied where available; only measurements of their cost use fewer.
    package var sandbox = Set(SandboxLayer.allCases)
    /// The maximum number of dead letters per plugin; an excess one replaces the oldest.
    package var deadLettersMax = 1000
    /// The serial number before the first executor's.
    package var lastSerial: UInt32 = 0
    /// The timeouts of the host.
    package var timeouts = HostTimeouts()

    package init(
        manifest: Manifest,
        manifestPath: String,
        manifestDirectory: String,
        stateDirectory: String,
        workerPath: String,
        pluginPath: [String],
        openStore: @escaping @Sendable (String) throws(StoreError) -> any Store,
        fetcher: any Fetching,
        log: HostLog,
        version: String = HostVersion.text,
        isSubreaper: Bool = false
    ) {
        self.manifest = manifest
        self.manifestPath = manifestPath
        self.manifestDirectory = manifestDirectory
        self.stateDirectory = stateDirectory
        self.workerPath = workerPath
        self.pluginPath = pluginPath
        self.openStore = openStore
        openTransfers = { _ in MemoryTransferJournal() }
        self.fetcher = fetcher
        self.log = log
        self.version = version
        self.isSubreaper = isSubreaper
    }
}

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
    /// The time limit for a handler to release a completed run.
    package var release: UInt64 = 5_000_000_000
    /// The time after which an idle worker is retired.
    package var idle: UInt64 = 30_000_000_000
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

/// The version of this bghost.
package enum HostVersion {
    package static let text = "0.1.0"
    package static let abi = "1.0"
}

/// Limits of the host itself, in one place.
enum HostLimits {
    /// The maximum number of running and starting runs; a manifest has fewer slots.
    static let runsMax = 1 << 14
    /// The maximum retry delay that a handler can request.
    static let retryAfterMaxMilliseconds: UInt64 = 30 * 86_400_000
    /// The maximum number of open calls of one worker.
    static let callsMax = 256
    /// The maximum number of different fetches (method and URL) of a run that get idempotency keys.
    static let fetchesCountedMax = 1024
    /// The maximum size of the frames that wait for a worker, in bytes.
    ///
    /// A worker above this limit does not read and is killed.
    static let queueBytesMax = 1 << 20
    /// The memory that the daemon holds for one plugin, in bytes: twice the largest fetch.
    ///
    /// A fetch, a list or a request above this limit is answered with `BG_E_LIMIT`.
    static let heldBytesMax = 128 << 20
    /// The period of the audit of a busy worker.
    static let auditPeriod: UInt64 = 100_000_000
    /// The longest audit period of an idle worker that can have processes.
    static let idleAuditPeriodMax: UInt64 = 10_000_000_000
    /// The period of the check of a running plugin's data directory.
    static let dataPeriod: UInt64 = 1_000_000_000
    /// The longest period of the checks of an unusable plugin's files.
    static let lookPauseMax: UInt64 = 60_000_000_000
    /// The host checks the limits of a worker each time that it has used this much processor time.
    static let cpuPeriod: Int64 = 10_000_000
    /// How often the pause after a shortage is doubled at most.
    static let shortageDoublingsMax = 5
    /// The delay before the host checks a worker again that closed its socket.
    static let hungUpPeriod: UInt64 = 100_000_000
    /// The time limit for the exit of a process that is already exiting.
    static let dyingMax: UInt64 = 5_000_000_000
    /// A run is killed if its output exceeds its limit by this factor (plus 1 MiB).
    static let outputFactor = 16
    /// A longer line of output is split into several.
    static let outputLineBytesMax = 8 << 10
    /// Shorter runs are not measured, because reading /proc would cost more than the run.
    static let measuredRunMin: UInt64 = 1_000_000
    /// The number of consecutive failed loads after which a plugin is quarantined.
    static let loadFailuresMax = 3
}
