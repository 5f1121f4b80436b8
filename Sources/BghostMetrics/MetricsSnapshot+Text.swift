// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

extension MetricsSnapshot {
    /// The metrics as text: those of ``Metric/all``, in its order.
    ///
    /// It costs about 300 bytes for each task and 5 KiB for each plugin.
    package func text(_ format: MetricsFormat) -> String {
        var writer = MetricsWriter(format)
        writeDaemon(&writer)
        writeRuns(&writer)
        writeTasks(&writer)
        writePlugins(&writer)
        if let transfers { Self.write(transfers, &writer) }
        if let notifications { Self.write(notifications, &writer) }
        writeEndpoints(&writer)
        if let alerts { Self.write(alerts, &writer) }
        if let fleet { Self.write(fleet, &writer) }
        if let spans { Self.write(spans, &writer) }
        if let process { Self.write(process, &writer) }
        writer.end()
        return writer.text
    }

    private func writeDaemon(_ writer: inout MetricsWriter) {
        writer.begin(.build)
        writer.sample([version], 1)
        writer.begin(.startTime)
        writer.seconds(startedAt)
        writer.begin(.slots)
        writer.sample(slots)
        writer.begin(.slotsUsed)
        writer.sample(slotsInUse)
        writer.begin(.requestsPending)
        writer.sample(pendingRequests)
        writer.begin(.deadLetters)
        writer.sample(deadLetters)
        writer.begin(.draining)
        writer.sample(isDraining ? 1 : 0)
        writer.begin(.storeFailing)
        writer.sample(storeFailingSince == nil ? 0 : 1)
        writer.begin(.journalFailing)
        writer.sample(transferJournalFailingSince == nil ? 0 : 1)
        writer.begin(.logLinesDropped)
        for (reason, count) in logDrops { writer.sample([reason], count) }
        writer.begin(.loopTurn)
        writer.histogram([], loopTurns)
        writer.begin(.storeCommit)
        writer.histogram([], commits)
        writer.begin(.storeWaiting)
        writer.sample(commitsWaiting)
        if let storeBytes {
            writer.begin(.storeSize)
            writer.sample(storeBytes)
        }
        writer.begin(.requestsSubmitted)
        writer.sample(submissions.stored)
        writer.begin(.requestsRefused)
        for refusal in SubmissionCounts.Refusal.allCases {
            writer.sample([refusal.rawValue], submissions.count(refusal))
        }
        writer.begin(.folded)
        writer.sample(statistics.folded)
    }

    private static func write(_ alerts: Alerts, _ writer: inout MetricsWriter) {
        writer.begin(.alertsFiring)
        for (rule, count) in alerts.firing { writer.sample([rule], count) }
        writer.begin(.alertsSent)
        writer.sample(alerts.sent)
        writer.begin(.alertsFailed)
        writer.sample(alerts.failed)
        writer.begin(.alertsDropped)
        writer.sample(alerts.dropped)
    }

    private static func write(_ fleet: Fleet, _ writer: inout MetricsWriter) {
        writer.begin(.leaseHeld)
        writer.sample(fleet.hasLease ? 1 : 0)
        if let renewedAt = fleet.renewedAt {
            writer.begin(.leaseRenewed)
            writer.seconds(renewedAt)
        }
        writer.begin(.renewalsFailed)
        writer.sample(fleet.renewalsFailed)
        if let partitions = fleet.partitions { write(partitions, &writer) }
    }

    private static func write(_ partitions: Partitions, _ writer: inout MetricsWriter) {
        writer.begin(.partitionsLeaseHeld)
        writer.sample(partitions.hasLease ? 1 : 0)
        writer.begin(.partitionsOwned)
        writer.sample(partitions.owned)
        if let ownerless = partitions.ownerless {
            writer.begin(.partitionsOwnerless)
            writer.sample(ownerless)
        }
        writer.begin(.partitionsLeaseLosses)
        writer.sample(partitions.leaseLosses)
        writer.begin(.partitionsCallsFailed)
        writer.sample(partitions.callsFailed)
    }

    private static func write(_ spans: SpanCounts, _ writer: inout MetricsWriter) {
        writer.begin(.spansExported)
        writer.sample(spans.exported)
        writer.begin(.spansDropped)
        writer.sample(["queue"], spans.overflowed)
        writer.sample(["receiver"], spans.failed)
        writer.begin(.spansQueued)
        writer.sample(spans.queued)
    }

    // MARK: Runs

    private func writeRuns(_ writer: inout MetricsWriter) {
        let tasks = statistics.tasksByName
        writer.begin(.runs)
        for (name, counts) in tasks {
            for outcome in OutcomeClass.allCases {
                writer.sample(
                    [name, outcome.rawValue],
                    counts.count(outcome)
                )
            }
        }
        let plugins = statistics.pluginsByName
        histograms(plugins, .runDuration, &writer) { $0.durations }
        histograms(plugins, .runStartDelay, &writer) { $0.startDelays }
        histograms(plugins, .runCancelDuration, &writer) { $0.cancelDurations }
        writer.begin(.runProcessorTime)
        for (name, counts) in plugins { writer.seconds([name], counts.processorTime) }
        writer.begin(.runsActive)
        for (name, counts) in plugins { writer.sample([name], counts.active) }
        writer.begin(.kills)
        for (name, counts) in plugins {
            for (reason, count) in counts.kills.sorted(by: { $0.key < $1.key }) {
                writer.sample([name, reason], count)
            }
        }
    }

    private func histograms(
        _ plugins: [(name: String, counts: RunStatistics.OfPlugin)],
        _ metric: Metric,
        _ writer: inout MetricsWriter,
        _ histogram: (RunStatistics.OfPlugin) -> DurationHistogram
    ) {
        writer.begin(metric)
        for (plugin, counts) in plugins { writer.histogram([plugin], histogram(counts)) }
    }

    // MARK: Tasks and plugins

    private func writeTasks(_ writer: inout MetricsWriter) {
        let tasks = statistics.tasksByName
        writer.begin(.consecutiveFailures)
        for (name, counts) in tasks { writer.sample([name], counts.consecutiveFailures) }
        writer.begin(.lastEnd)
        for (name, counts) in tasks {
            if let time = counts.lastEnd { writer.seconds([name], time) }
        }
        writer.begin(.lastSuccess)
        for (name, counts) in tasks {
            if let time = counts.lastSuccess { writer.seconds([name], time) }
        }
        writer.begin(.nextRun)
        for task in self.tasks {
            if let time = task.nextStart { writer.seconds([task.name], time) }
        }
        writer.begin(.paused)
        for task in self.tasks { writer.sample([task.name], task.isPaused ? 1 : 0) }
    }

    private func writePlugins(_ writer: inout MetricsWriter) {
        writer.begin(.pluginState)
        for plugin in plugins { writer.states([plugin.name], plugin.state) }
        writer.begin(.workers)
        for plugin in plugins { writer.sample([plugin.name], plugin.workers.count) }
        writer.begin(.workerMemory)
        for plugin in plugins {
            if let bytes = plugin.memoryBytes { writer.sample([plugin.name], bytes) }
        }
        writer.begin(.workerStarts)
        for (name, counts) in statistics.pluginsByName {
            writer.sample([name], counts.workerStarts)
        }
        writer.begin(.workerStart)
        writer.histogram([], statistics.workerStarts)
        writer.begin(.sandboxLayersMissing)
        for plugin in plugins {
            if let layers = plugin.layersMissing { writer.sample([plugin.name], layers) }
        }
    }

    private static func write(_ transfers: TransferStatistics, _ writer: inout MetricsWriter) {
        writer.begin(.transfers)
        writer.sample(max(0, transfers.unended))
        writer.begin(.transfersEnded)
        for end in TransferStatistics.End.allCases {
            writer.sample([end.rawValue], transfers.count(end))
        }
        writer.begin(.transferBytes)
        for direction in TransferStatistics.Direction.allCases {
            writer.sample([direction.rawValue], transfers.bytes(direction))
        }
    }

    private static func write(
        _ notifications: NotificationStatistics,
        _ writer: inout MetricsWriter
    ) {
        writer.begin(.notifications)
        for event in NotificationStatistics.Event.allCases {
            writer.sample([event.rawValue], notifications.count(event))
        }
    }

    private func writeEndpoints(_ writer: inout MetricsWriter) {
        writer.begin(.controlRequests)
        for (name, counts) in endpoints {
            for answer in EndpointCounts.Answer.allCases {
                writer.sample([name, answer.rawValue], counts.count(answer))
            }
        }
        writer.begin(.controlTime)
        for (name, counts) in endpoints { writer.seconds([name], counts.duration) }
    }

    private static func write(_ process: Process, _ writer: inout MetricsWriter) {
        writer.begin(.processorTime)
        writer.seconds(process.processorTime)
        writer.begin(.residentMemory)
        writer.sample(process.residentBytes)
        writer.begin(.openDescriptors)
        writer.sample(process.openDescriptors)
    }
}
