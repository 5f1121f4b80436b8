// SPDX-License-Identifier: Apache-2.0

extension MetricsSnapshot {
    /// The metrics as text; `docs/OPERATION.md` lists them.
    ///
    /// It costs about 300 bytes for each task and 5 KiB for each plugin.
    package func text(_ format: MetricsFormat) -> String {
        var writer = MetricsWriter(format)
        writeDaemon(&writer)
        writeRuns(&writer)
        writeTasks(&writer)
        writePlugins(&writer)
        if let alerts { Self.write(alerts, &writer) }
        if let fleet { Self.write(fleet, &writer) }
        if let process { Self.write(process, &writer) }
        writer.end()
        return writer.text
    }

    private func writeDaemon(_ writer: inout MetricsWriter) {
        writer.begin("bghost_build", .info, "The version of bghost.")
        writer.sample([("version", version)], 1)
        writer.begin(
            "bghost_start_time_seconds",
            .gauge,
            unit: "seconds",
            "When the daemon started, Unix time."
        )
        writer.seconds(startedAt)
        writer.begin("bghost_slots", .gauge, "The most runs at the same time.")
        writer.sample(slots)
        writer.begin("bghost_slots_used", .gauge, "The runs in progress.")
        writer.sample(slotsInUse)
        writer.begin("bghost_requests_pending", .gauge, "The requests that wait for a run.")
        writer.sample(pendingRequests)
        writer.begin("bghost_dead_letters", .gauge, "The requests that failed too often.")
        writer.sample(deadLetters)
        writer.begin("bghost_draining", .gauge, "1 while the daemon stops and accepts no requests.")
        writer.sample(isDraining ? 1 : 0)
        writer.begin("bghost_store_failing", .gauge, "1 while the store cannot store transactions.")
        writer.sample(storeFailingSince == nil ? 0 : 1)
        writer.begin(
            "bghost_log_lines_dropped",
            .counter,
            "Lines that were not written to the log's file or the journal, by reason."
        )
        for (reason, count) in logDrops { writer.sample([("reason", reason)], count) }
        writer.begin(
            "bghost_metrics_folded",
            .counter,
            "Runs that are counted under `_other`, because too many names were counted before."
        )
        writer.sample(statistics.folded)
    }

    private static func write(_ alerts: Alerts, _ writer: inout MetricsWriter) {
        writer.begin("bghost_alerts_firing", .gauge, "The alerts that fire, by rule.")
        for (rule, count) in alerts.firing { writer.sample([("rule", rule)], count) }
        writer.begin("bghost_alerts_sent", .counter, "The messages that a receiver took.")
        writer.sample(alerts.sent)
        writer.begin(
            "bghost_alerts_failed",
            .counter,
            "The attempts to send a message that failed."
        )
        writer.sample(alerts.failed)
        writer.begin(
            "bghost_alerts_dropped",
            .counter,
            "The messages that a receiver does not get."
        )
        writer.sample(alerts.dropped)
    }

    private static func write(_ fleet: Fleet, _ writer: inout MetricsWriter) {
        writer.begin("bghost_fleet_lease_held", .gauge, "1 while the host has a valid lease.")
        writer.sample(fleet.hasLease ? 1 : 0)
        if let renewedAt = fleet.renewedAt {
            writer.begin(
                "bghost_fleet_renewed_timestamp_seconds",
                .gauge,
                unit: "seconds",
                "When the fleet last answered a renewal of the lease, Unix time."
            )
            writer.seconds(renewedAt)
        }
        writer.begin(
            "bghost_fleet_renewals_failed",
            .counter,
            "The renewals of the lease that failed."
        )
        writer.sample(fleet.renewalsFailed)
    }

    // MARK: Runs

    private func writeRuns(_ writer: inout MetricsWriter) {
        let tasks = statistics.tasksByName
        writer.begin("bghost_runs", .counter, "The runs that have ended, by outcome.")
        for (name, counts) in tasks {
            for outcome in OutcomeClass.allCases {
                writer.sample(
                    [("task", name), ("outcome", outcome.rawValue)],
                    counts.count(outcome)
                )
            }
        }
        let plugins = statistics.pluginsByName
        histograms(plugins, "bghost_run_duration", "How long the runs of a plugin lasted.", &writer)
        {
            $0.durations
        }
        histograms(
            plugins,
            "bghost_run_start_delay",
            "How long after the due time of their requests runs started.",
            &writer
        ) { $0.startDelays }
        histograms(
            plugins,
            "bghost_run_cancel_duration",
            "How long cancelled runs took to stop.",
            &writer
        ) { $0.cancelDurations }
        writer.begin(
            "bghost_run_cpu_seconds",
            .counter,
            unit: "seconds",
            "The processor time of the runs of a plugin."
        )
        for (name, counts) in plugins { writer.seconds([("plugin", name)], counts.processorTime) }
        writer.begin("bghost_runs_active", .gauge, "The runs of a plugin in progress.")
        for (name, counts) in plugins { writer.sample([("plugin", name)], counts.active) }
        writer.begin("bghost_kills", .counter, "The killed runs of a plugin, by reason.")
        for (name, counts) in plugins {
            for (reason, count) in counts.kills.sorted(by: { $0.key < $1.key }) {
                writer.sample([("plugin", name), ("reason", reason)], count)
            }
        }
    }

    private func histograms(
        _ plugins: [(name: String, counts: RunStatistics.OfPlugin)],
        _ name: String,
        _ help: String,
        _ writer: inout MetricsWriter,
        _ histogram: (RunStatistics.OfPlugin) -> DurationHistogram
    ) {
        writer.begin(name + "_seconds", .histogram, unit: "seconds", help)
        for (plugin, counts) in plugins {
            writer.histogram([("plugin", plugin)], histogram(counts))
        }
    }

    // MARK: Tasks and plugins

    private func writeTasks(_ writer: inout MetricsWriter) {
        let tasks = statistics.tasksByName
        writer.begin(
            "bghost_task_consecutive_failures",
            .gauge,
            "The failed runs of a task since the last one that succeeded."
        )
        for (name, counts) in tasks { writer.sample([("task", name)], counts.consecutiveFailures) }
        writer.begin(
            "bghost_task_last_end_timestamp_seconds",
            .gauge,
            unit: "seconds",
            "When the last run of a task ended, Unix time."
        )
        for (name, counts) in tasks {
            if let time = counts.lastEnd { writer.seconds([("task", name)], time) }
        }
        writer.begin(
            "bghost_task_last_success_timestamp_seconds",
            .gauge,
            unit: "seconds",
            "When the last run of a task succeeded, Unix time."
        )
        for (name, counts) in tasks {
            if let time = counts.lastSuccess { writer.seconds([("task", name)], time) }
        }
        writer.begin(
            "bghost_task_next_run_timestamp_seconds",
            .gauge,
            unit: "seconds",
            "The earliest start of a task's pending request, Unix time."
        )
        for task in self.tasks {
            if let time = task.nextStart { writer.seconds([("task", task.name)], time) }
        }
        writer.begin("bghost_task_paused", .gauge, "1 while an operator has paused a task.")
        for task in self.tasks { writer.sample([("task", task.name)], task.isPaused ? 1 : 0) }
    }

    private func writePlugins(_ writer: inout MetricsWriter) {
        writer.begin("bghost_plugin_state", .stateset, "What a plugin can do now.")
        for plugin in plugins { writer.states([("plugin", plugin.name)], plugin.state) }
        writer.begin("bghost_workers", .gauge, "The worker processes of a plugin.")
        for plugin in plugins { writer.sample([("plugin", plugin.name)], plugin.workers) }
    }

    private static func write(_ process: Process, _ writer: inout MetricsWriter) {
        writer.begin(
            "process_cpu_seconds",
            .counter,
            unit: "seconds",
            "The processor time of the daemon, without its workers."
        )
        writer.seconds(process.processorTime)
        writer.begin(
            "process_resident_memory_bytes",
            .gauge,
            unit: "bytes",
            "The resident memory of the daemon."
        )
        writer.sample(process.residentBytes)
        writer.begin("process_open_fds", .gauge, "The open file descriptors of the daemon.")
        writer.sample(process.openDescriptors)
    }
}
