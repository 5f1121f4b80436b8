// SPDX-License-Identifier: Apache-2.0

package import BghostBase

/// The state of the daemon at one time, for metrics.
///
/// The reactor's thread copies it; another thread turns it into text.
package struct MetricsSnapshot: Sendable {
    /// A task of the manifest.
    package struct Task: Sendable {
        package var name: String
        /// The earliest start of its pending request, Unix nanoseconds; `nil` if none is pending.
        package var nextStart: Int64?
        package var isPaused: Bool

        package init(name: String, nextStart: Int64?, isPaused: Bool = false) {
            self.name = name
            self.nextStart = nextStart
            self.isPaused = isPaused
        }
    }

    /// What a plugin can do now.
    package enum PluginState: String, CaseIterable, Sendable {
        case ready
        case paused
        case disabled
        case quarantined
        case unusable
    }

    /// A plugin or function of the manifest.
    package struct Plugin: Sendable {
        package var name: String
        package var state: PluginState
        /// The process ids of its workers.
        package var workers: [Int32]
        /// The resident memory of its workers together; `nil` until it is measured.
        package var memoryBytes: UInt64?
        /// The number of layers of the sandbox that the machine lacks for its workers; `nil` until one has
        /// started.
        package var layersMissing: Int?

        package init(
            name: String,
            state: PluginState,
            workers: [Int32] = [],
            memoryBytes: UInt64? = nil
        ) {
            self.name = name
            self.state = state
            self.workers = workers
            self.memoryBytes = memoryBytes
        }
    }

    /// The alerts and their messages.
    package struct Alerts: Sendable {
        /// The number of alerts that fire, by rule.
        package var firing: [(rule: String, count: Int)]
        /// The number of messages that a receiver took.
        package var sent: UInt64
        /// The number of attempts that failed.
        package var failed: UInt64
        /// The number of messages that a receiver will not get.
        package var dropped: UInt64

        package init(
            firing: [(rule: String, count: Int)],
            sent: UInt64,
            failed: UInt64,
            dropped: UInt64
        ) {
            self.firing = firing
            self.sent = sent
            self.failed = failed
            self.dropped = dropped
        }
    }

    /// The host's lease in its fleet.
    package struct Fleet: Sendable {
        package var hasLease: Bool
        /// When the fleet last answered a renewal, Unix nanoseconds; `nil` if it has not since the start.
        package var renewedAt: Int64?
        package var renewalsFailed: UInt64
        /// `nil` without tasks whose requests live in the fleet.
        package var partitions: Partitions?

        package init(
            hasLease: Bool,
            renewedAt: Int64?,
            renewalsFailed: UInt64,
            partitions: Partitions? = nil
        ) {
            self.hasLease = hasLease
            self.renewedAt = renewedAt
            self.renewalsFailed = renewalsFailed
            self.partitions = partitions
        }
    }

    /// The host as an owner of requests of its fleet.
    package struct Partitions: Sendable {
        /// Whether the lease of its partitions is valid, also while an operator has drained the host.
        package var hasLease: Bool
        package var owned: Int
        /// `nil` while it is not known.
        package var ownerless: Int?
        package var leaseLosses: UInt64
        package var callsFailed: UInt64

        package init(
            hasLease: Bool,
            owned: Int,
            ownerless: Int?,
            leaseLosses: UInt64,
            callsFailed: UInt64
        ) {
            self.hasLease = hasLease
            self.owned = owned
            self.ownerless = ownerless
            self.leaseLosses = leaseLosses
            self.callsFailed = callsFailed
        }
    }

    /// The daemon's own process, as the kernel measures it.
    package struct Process: Sendable {
        /// Nanoseconds.
        package var processorTime: UInt64
        package var residentBytes: UInt64
        package var openDescriptors: Int

        package init(processorTime: UInt64, residentBytes: UInt64, openDescriptors: Int) {
            self.processorTime = processorTime
            self.residentBytes = residentBytes
            self.openDescriptors = openDescriptors
        }
    }

    package var version: String
    /// Unix nanoseconds.
    package var startedAt: Int64
    package var slots: Int
    package var slotsInUse: Int
    package var pendingRequests: Int
    package var deadLetters: Int
    package var isDraining: Bool
    /// Since when the store cannot store its transactions, Unix nanoseconds; `nil` if it can.
    package var storeFailingSince: Int64?
    /// Since when the journal of transfers cannot store changes, Unix nanoseconds; `nil` if it can.
    package var transferJournalFailingSince: Int64?
    /// Lines that were not written to the log's file or the journal, by reason.
    package var logDrops: [(reason: String, count: UInt64)]
    /// `nil` if the manifest asks for no alerts.
    package var alerts: Alerts?
    /// `nil` if the host is in no fleet.
    package var fleet: Fleet?
    /// `nil` if no traces are exported.
    package var spans: SpanCounts?
    package var statistics: RunStatistics
    /// `nil` if the daemon has no engine for transfers.
    package var transfers: TransferStatistics?
    /// `nil` if the manifest has no `notifications`.
    package var notifications: NotificationStatistics?
    /// The files of the store, whose sizes ``storeBytes`` has.
    package var storeFiles: [String] = []
    /// The size of the store on the disk; `nil` until it is measured.
    package var storeBytes: UInt64?
    package var tasks: [Task]
    package var plugins: [Plugin]
    /// `nil` if the kernel does not say.
    package var process: Process?
    /// How long the reactor's thread worked between two waits for events.
    package var loopTurns = DurationHistogram()
    /// How long transactions took for which something waits.
    package var commits = DurationHistogram()
    /// The number of transactions that are not stored yet.
    package var commitsWaiting = 0
    package var submissions = SubmissionCounts()
    /// The endpoints of the control API that were asked, in the order of their names.
    package var endpoints: [(name: String, counts: EndpointCounts)] = []

    package init(
        version: String,
        startedAt: Int64,
        slots: Int,
        slotsInUse: Int,
        pendingRequests: Int,
        deadLetters: Int,
        isDraining: Bool = false,
        storeFailingSince: Int64? = nil,
        transferJournalFailingSince: Int64? = nil,
        logDrops: [(reason: String, count: UInt64)] = [],
        alerts: Alerts? = nil,
        fleet: Fleet? = nil,
        spans: SpanCounts? = nil,
        statistics: RunStatistics,
        tasks: [Task] = [],
        plugins: [Plugin] = [],
        process: Process? = nil
    ) {
        self.version = version
        self.startedAt = startedAt
        self.slots = slots
        self.slotsInUse = slotsInUse
        self.pendingRequests = pendingRequests
        self.deadLetters = deadLetters
        self.isDraining = isDraining
        self.storeFailingSince = storeFailingSince
        self.transferJournalFailingSince = transferJournalFailingSince
        self.logDrops = logDrops
        self.alerts = alerts
        self.fleet = fleet
        self.spans = spans
        self.statistics = statistics
        self.tasks = tasks
        self.plugins = plugins
        self.process = process
    }
}
