// SPDX-License-Identifier: Apache-2.0

package import BghostCore
package import BghostLinux
package import BghostStore
package import BghostTransfer

/// All that a host needs to begin.
package struct HostConfiguration: Sendable {
    package var manifest: Manifest
    /// Reads the manifest anew, as the first one was read; `nil` if it cannot be.
    ///
    /// Called on a thread of its own, so it may block.
    package var rereadManifest: (@Sendable () -> RereadManifest)?
    /// For messages.
    package var manifestPath: String
    /// Absolute; made if it is not there.
    package var stateDirectory: String
    /// The program `bghost-worker`, absolute.
    package var workerPath: String
    /// Folders in which a plugin's library is looked for if it is named without a `/`, absolute.
    package var pluginPath: [String]
    /// The folder of the manifest, absolute: what a library with a `/` in its name is relative to.
    package var manifestDirectory: String
    /// Called once the state directory is this daemon's, before anything of it is read or begun: what
    /// fails here leaves all as it was.
    package var beforeStart: (@Sendable () throws -> Void)?
    /// Opens the store in the state directory, which is this daemon's by then.
    package var openStore: @Sendable (_ stateDirectory: String) throws(StoreError) -> any Store
    /// Opens the journal of transfers, in the same folder.
    package var openTransfers:
        @Sendable (_ stateDirectory: String) throws(TransferJournalError) -> any TransferJournal
    package var fetcher: any Fetching
    package var log: HostLog
    package var version: String
    /// Whether children that nobody knows are orphans of workers, to be killed: only where the
    /// process starts no others, as the daemon does.
    package var isSubreaper: Bool
    /// Whether plugins are taken from places where others could change them.
    package var isLax = false
    /// Where facts of the machine come from; `nil` is the machine.
    package var factSources: (@Sendable (_ wanted: RequirementSet) -> [any FactSource])?
    /// Keeps what happens to the scheduler and what it decides, if somebody wants it.
    package var recorder: (any DecisionRecorder)?
    /// Looks at the wall clock; `nil` is to ask the kernel.
    package var clockDoubt: (@Sendable () -> ClockDoubt?)?
    /// Walls that are put up around workers where they can be had: all but in measurements of what they
    /// cost.
    package var sandbox = Set(SandboxLayer.allCases)
    /// How long the host waits for what it cannot hurry.
    package var patience = HostPatience()

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

/// How long the host waits for others, nanoseconds.
package struct HostPatience: Sendable {
    /// How long a plugin may take to load.
    package var start: UInt64 = RunMachine.startLimit
    /// How long a plugin is left alone after a first failed load; twice that after the second.
    package var loadBackoff: UInt64 = 1_000_000_000
    /// How long a plugin that crashes is left alone, and when for good.
    package var crashes = CrashLoop.Limits()
    /// A worker that was told to finish is killed after this; a plugin in the daemon is left to
    /// itself.
    package var finish: UInt64 = 2_000_000_000
    /// A handler that has completed its run must let go of it within this.
    package var release: UInt64 = 5_000_000_000
    /// A worker with nothing to do is ended after this.
    package var idle: UInt64 = 30_000_000_000
    /// A prestarted worker that a run has taken is replaced if it is not back within this.
    package var prestart: UInt64 = 10_000_000
    /// A run that takes longer than this is let go to any processor.
    ///
    /// How long all is kept on one processor without a run is ten times this, and a thousand times at
    /// most.
    package var shortRun: UInt64 = 100_000

    /// The times of a daemon.
    package init() {}
}

/// The version of this bghost.
package enum HostVersion {
    package static let text = "0.1.0"
    package static let abi = "1.0"
}

/// Limits of the host itself, in one place.
enum HostLimits {
    /// How many runs may be under way or starting; slots of the manifest are fewer.
    static let runsMax = 1 << 14
    /// How far off a handler may put its next attempt.
    static let retryAfterMaxMilliseconds: UInt64 = 30 * 86_400_000
    /// Open calls of one worker.
    static let callsMax = 256
    /// Frames that wait for a worker to read them, bytes.
    ///
    /// Beyond it the worker is stuck.
    static let queueBytesMax = 1 << 20
    /// How often a busy worker's tree is counted.
    static let auditPeriod: UInt64 = 100_000_000
    /// How often the data of a plugin that runs is looked at.
    static let dataPeriod: UInt64 = 1_000_000_000
    /// Each time that a worker has used so much processor time, its limits are looked at.
    static let cpuPeriod: Int64 = 10_000_000
    /// How often the pause after a shortage is doubled at the most.
    static let shortageDoublingsMax = 5
    /// How long a worker that closed its socket has until it is looked at again.
    static let hungUpPeriod: UInt64 = 100_000_000
    /// How long one that is dying may take for it.
    static let dyingMax: UInt64 = 5_000_000_000
    /// Output beyond this many times its limit ends a run.
    static let outputFactor = 16
    /// A line of output longer than this is cut into several.
    static let outputLineBytesMax = 8 << 10
    /// Runs shorter than this are not measured: reading /proc would cost more than they do.
    static let measuredRunMin: UInt64 = 1_000_000
    /// Loads that fail in a row before a plugin is not tried again.
    static let loadFailuresMax = 3
}
