// SPDX-License-Identifier: Apache-2.0

internal import BghostAPI
package import BghostBase
package import BghostMetrics
internal import BghostModel
internal import BghostPolicy
package import BghostServices

/// Copies what the metrics show.
///
/// The host owns it. Use it on the reactor's thread only; it changes nothing and does not block. It costs one
/// lookup for each task and plugin of the manifest, at most ``RunStatistics/tasksMax`` and
/// ``RunStatistics/pluginsMax``; another thread turns the copy into text.
package final class MetricsReader {
    private let version: String
    private let startedAt: Int64
    private let meter: RunMeter
    private let dispatcher: Dispatcher
    private let commits: CommitQueue
    private let log: HostLog
    private let alerts: AlertOwners?
    private let fleet: FleetMember?
    private let spans: (any SpanRecorder)?
    private let journalFailingSince: () -> Int64?
    private let transfers: () -> TransferStatistics?
    private let notifications: () -> NotificationStatistics?
    private let storeFiles: [String]
    private let loop: LoopMeter
    private let intake: RequestIntake
    private let plugins: () -> [MetricsSnapshot.Plugin]

    /// - Parameters:
    ///   - startedAt: when the daemon started, Unix nanoseconds.
    ///   - journalFailingSince: since when the journal of transfers cannot store changes, Unix nanoseconds.
    ///   - transfers: returns the counts of transfers; `nil` without an engine for them.
    ///   - notifications: returns the counts of notifications; `nil` without a task that delivers them.
    ///   - storeFiles: the paths of the files of the store.
    ///   - plugins: returns the states of the plugins of the manifest.
    package init(
        _ dispatcher: Dispatcher,
        _ commits: CommitQueue,
        _ meter: RunMeter,
        _ loop: LoopMeter,
        _ intake: RequestIntake,
        log: HostLog,
        version: String,
        startedAt: Int64,
        alerts: AlertOwners? = nil,
        fleet: FleetMember? = nil,
        spans: (any SpanRecorder)? = nil,
        journalFailingSince: @escaping () -> Int64? = { nil },
        transfers: @escaping () -> TransferStatistics? = { nil },
        notifications: @escaping () -> NotificationStatistics? = { nil },
        storeFiles: [String] = [],
        plugins: @escaping () -> [MetricsSnapshot.Plugin]
    ) {
        self.version = version
        self.startedAt = startedAt
        self.meter = meter
        self.loop = loop
        self.intake = intake
        self.dispatcher = dispatcher
        self.commits = commits
        self.log = log
        self.alerts = alerts
        self.fleet = fleet
        self.spans = spans
        self.journalFailingSince = journalFailingSince
        self.transfers = transfers
        self.notifications = notifications
        self.storeFiles = storeFiles
        self.plugins = plugins
    }

    package func snapshot() -> MetricsSnapshot {
        let scheduler = dispatcher.scheduler
        var snapshot = MetricsSnapshot(
            version: version,
            startedAt: startedAt,
            slots: scheduler.settings.slots,
            slotsInUse: scheduler.slotsInUse,
            pendingRequests: scheduler.waitingRequests,
            deadLetters: commits.deadLetters.count,
            isDraining: scheduler.isDraining,
            storeFailingSince: commits.status.failingSince,
            transferJournalFailingSince: journalFailingSince(),
            logDrops: log.dropCounts,
            alerts: alerts?.metrics,
            fleet: fleet?.metrics,
            spans: spanCounts,
            statistics: meter.counts(),
            tasks: tasks,
            plugins: Array(plugins().prefix(RunStatistics.pluginsMax))
        )
        snapshot.loopTurns = loop.turns
        snapshot.commits = commits.times
        snapshot.commitsWaiting = commits.waiting
        snapshot.submissions = intake.counts
        snapshot.transfers = transfers()
        snapshot.notifications = notifications()
        snapshot.storeFiles = storeFiles
        return snapshot
    }

    /// What became of spans; `nil` while none are exported and none were.
    private var spanCounts: SpanCounts? {
        guard let spans else { return nil }
        let counts = spans.counts
        return spans.isOn || counts != SpanCounts() ? counts : nil
    }

    private var tasks: [MetricsSnapshot.Task] {
        let scheduler = dispatcher.scheduler
        let catalog = scheduler.catalog
        return catalog.currentTasks.prefix(RunStatistics.tasksMax).compactMap { task in
            let identifier = catalog.tasks[task].identifier
            guard !identifier.isFamily else { return nil }
            let name = identifier.description
            return MetricsSnapshot.Task(
                name: name,
                nextStart: scheduler.pending(name).map { $0.earliestBegin ?? $0.submittedAt },
                isPaused: !scheduler.pauses(of: name).isEmpty
            )
        }
    }
}
