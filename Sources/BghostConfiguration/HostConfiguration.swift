// SPDX-License-Identifier: Apache-2.0

package import BghostBase
package import BghostDispatch
package import BghostFacts
package import BghostLinux
package import BghostModel
package import BghostServices
package import BghostTransferRules
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
    /// Sends alerts and heartbeats; `nil` sends none.
    package var alertTransport: (any AlertTransport)?
    /// Exports spans; `nil` records none.
    package var spans: (any SpanRecorder)?
    /// Called on a thread of the transfer engine after each change of a transfer's state; it must not wait.
    package var onTransfer: (@Sendable (TransferRecord) -> Void)?
    /// Takes up where spans are sent, after a reload; `nil` without an exporter.
    package var applyTraces: (@Sendable (TraceSettings?) -> Void)?
    /// Connects to the fleet's store, given the path of the state directory; `nil` joins no fleet.
    package var fleetLink: (@Sendable (_ stateDirectory: String) -> any FleetLink)?
    /// Makes the store of the fleet's requests; `nil` without tasks with `"runs": "inFleet"`.
    package var partitions: (@Sendable () -> SharedPartitions)?
    package var log: HostLog
    package var version: String
    /// Whether unknown child processes are orphans of workers, which the host kills.
    ///
    /// Set it only in a process that starts no other children, such as the daemon.
    package var isSubreaper: Bool
    /// Whether plugins are allowed in places that other users could change (development mode).
    package var allowsUntrustedFiles = false
    /// The plugins that have another library than that of the manifest's file, sorted.
    package var developmentPlugins: [String] = []
    /// Whether a debugger of the same user may attach to workers.
    package var allowsDebugger = false
    /// Whether deadlines stand still while a debugger is attached to a worker.
    package var pausesForDebuggers: Bool { allowsUntrustedFiles || allowsDebugger }
    /// Sends messages to the service manager without waiting, and returns whether it could; `nil` if there is
    /// no manager.
    package var notify: (@Sendable ([ServiceMessage]) -> Bool)?
    /// How long the manager waits for a sign of life, nanoseconds; `nil` without a watchdog.
    package var watchdogTimeout: UInt64?
    /// Replaces the sources of facts; `nil` uses the machine.
    package var factSources: (@Sendable (_ wanted: RequirementSet) -> [any FactSource])?
    /// Records the inputs and decisions of the scheduler; `nil` records nothing.
    package var recorder: (any DecisionRecorder)?
    /// Replaces the check of the wall clock; `nil` asks the kernel.
    package var clockDoubt: (@Sendable () -> ClockDoubt?)?
    /// Whether the host watches for steps of the machine's wall clock; `false` only where a test compares
    /// all state, because another process may set the clock meanwhile.
    package var watchesClockSteps = true
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
        version: String = BghostVersion.text,
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
