// SPDX-License-Identifier: Apache-2.0

import BghostBase
@testable import BghostMetrics
import BghostModel
import Testing

/// The metrics as text, in both formats.
@Suite struct MetricsTextTests {
    private static let second: UInt64 = 1_000_000_000

    private static func record(
        _ outcome: Outcome,
        task: String = "backup",
        plugin: String = "disk"
    ) -> RunRecord {
        RunRecord(
            id: RunID(high: 1, low: 2),
            request: RunID(high: 1, low: 1),
            task: task,
            plugin: plugin,
            state: .ended,
            outcome: outcome,
            limits: RunLimits(kind: .refresh),
            submittedAt: 0,
            endedAt: 5_500_000_000
        )
    }

    private static func snapshot(_ statistics: RunStatistics) -> MetricsSnapshot {
        var snapshot = MetricsSnapshot(
            version: "1.2.3",
            startedAt: 1_500_000_000,
            slots: 4,
            slotsInUse: 1,
            pendingRequests: 7,
            deadLetters: 2,
            alerts: .init(firing: [("store", 1), ("plugin", 0)], sent: 3, failed: 4, dropped: 5),
            spans: spans,
            statistics: statistics,
            tasks: [.init(name: "backup", nextStart: 9_000_000_000)],
            plugins: [
                .init(name: "disk", state: .quarantined, workers: [7, 8], memoryBytes: 8192)
            ],
            process: .init(processorTime: 1_250_000_000, residentBytes: 4096, openDescriptors: 9)
        )
        snapshot.loopTurns.record(2 * second / 1000)
        for duration in [second / 2, second] { snapshot.commits.record(duration) }
        snapshot.commitsWaiting = 6
        snapshot.submissions.addStored()
        for refusal in [.notPermitted, .notPermitted, .storeFailed]
            as [SubmissionCounts.Refusal]
        {
            snapshot.submissions.add(refusal)
        }
        var runs = EndpointCounts()
        for status in [200, 304, 404, 503] {
            runs.add(EndpointCounts.Answer(status: status), after: second / 8)
        }
        snapshot.endpoints = [("GET /v1/runs/:id", runs)]
        snapshot.plugins[0].layersMissing = 2
        snapshot.storeBytes = 12_288
        snapshot.transfers = transfers
        snapshot.notifications = notifications
        return snapshot
    }

    /// Two transfers that have begun, of which one has ended.
    private static var transfers: TransferStatistics {
        var transfers = TransferStatistics()
        for _ in 0..<3 { transfers.began() }
        transfers.refused()
        transfers.moved(.received, 40)
        transfers.moved(.received, 2)
        transfers.ended(.failed)
        return transfers
    }

    private static var notifications: NotificationStatistics {
        var notifications = NotificationStatistics()
        for event in [.posted, .failed, .failed, .delivered] as [NotificationStatistics.Event] {
            notifications.add(event)
        }
        return notifications
    }

    private static var spans: SpanCounts {
        var counts = SpanCounts()
        (counts.exported, counts.overflowed, counts.failed, counts.queued) = (11, 12, 13, 14)
        return counts
    }

    /// Two runs of one task: one succeeded, one was killed.
    private static var statistics: RunStatistics {
        var statistics = RunStatistics()
        statistics.declare(tasks: ["backup", "idle"], plugins: ["disk"])
        statistics.workerStarted(plugin: "disk", after: second / 50)
        statistics.ended(record(.succeeded), task: "backup")
        statistics.ended(record(.killed(.graceExceeded)), task: "backup")
        for cancelDuration in [nil, 2 * second] {
            statistics.started(plugin: "disk", delay: second / 4)
            statistics.stopped(
                plugin: "disk",
                duration: 7 * second / 2,
                cancelDuration: cancelDuration,
                processorTime: second / 4
            )
        }
        return statistics
    }

    private static func lines(_ format: MetricsFormat) -> [Substring] {
        snapshot(statistics).text(format).split(separator: "\n")
    }

    @Test(arguments: [
        #"bghost_runs_total{task="backup",outcome="succeeded"} 1"#,
        #"bghost_alerts_firing{rule="store"} 1"#, #"bghost_alerts_firing{rule="plugin"} 0"#,
        "bghost_alerts_sent_total 3", "bghost_alerts_failed_total 4",
        "bghost_alerts_dropped_total 5", "bghost_spans_exported_total 11", "bghost_spans_queued 14",
        #"bghost_spans_dropped_total{reason="queue"} 12"#,
        #"bghost_spans_dropped_total{reason="receiver"} 13"#,
        #"bghost_runs_total{task="backup",outcome="killed"} 1"#,
        #"bghost_runs_total{task="backup",outcome="lost"} 0"#,
        #"bghost_runs_total{task="idle",outcome="succeeded"} 0"#,
        #"bghost_run_duration_seconds_bucket{plugin="disk",le="1.0"} 0"#,
        #"bghost_run_duration_seconds_bucket{plugin="disk",le="5.0"} 2"#,
        #"bghost_run_duration_seconds_bucket{plugin="disk",le="+Inf"} 2"#,
        #"bghost_run_duration_seconds_sum{plugin="disk"} 7"#,
        #"bghost_run_start_delay_seconds_sum{plugin="disk"} 0.5"#,
        #"bghost_run_cancel_duration_seconds_sum{plugin="disk"} 2"#,
        #"bghost_run_cpu_seconds_total{plugin="disk"} 0.5"#,
        #"bghost_runs_active{plugin="disk"} 0"#,
        #"bghost_kills_total{plugin="disk",reason="grace_exceeded"} 1"#,
        #"bghost_task_consecutive_failures{task="backup"} 1"#,
        #"bghost_task_last_success_timestamp_seconds{task="backup"} 5.5"#,
        #"bghost_task_next_run_timestamp_seconds{task="backup"} 9"#,
        #"bghost_plugin_state{plugin="disk",bghost_plugin_state="quarantined"} 1"#,
        #"bghost_plugin_state{plugin="disk",bghost_plugin_state="ready"} 0"#,
        #"bghost_build_info{version="1.2.3"} 1"#,
        "bghost_requests_pending 7", "bghost_dead_letters 2", "bghost_start_time_seconds 1.5",
        "process_cpu_seconds_total 1.25", "process_open_fds 9",
        #"bghost_loop_turn_seconds_bucket{le="0.001"} 0"#,
        #"bghost_loop_turn_seconds_bucket{le="0.005"} 1"#, "bghost_loop_turn_seconds_sum 0.002",
        "bghost_store_commit_seconds_count 2", "bghost_store_commit_seconds_sum 1.5",
        "bghost_store_waiting 6", "bghost_requests_submitted_total 1",
        #"bghost_requests_refused_total{code="not_permitted"} 2"#,
        #"bghost_requests_refused_total{code="store_failed"} 1"#,
        #"bghost_requests_refused_total{code="ineligible"} 0"#,
        #"bghost_workers{plugin="disk"} 2"#, #"bghost_worker_memory_bytes{plugin="disk"} 8192"#,
        #"bghost_worker_starts_total{plugin="disk"} 1"#, "bghost_worker_start_seconds_sum 0.02",
        #"bghost_control_requests_total{endpoint="GET /v1/runs/:id",answer="ok"} 2"#,
        #"bghost_control_requests_total{endpoint="GET /v1/runs/:id",answer="refused"} 1"#,
        #"bghost_control_requests_total{endpoint="GET /v1/runs/:id",answer="failed"} 1"#,
        "bghost_store_size_bytes 12288",
        #"bghost_sandbox_layers_missing{plugin="disk"} 2"#, "bghost_transfers 1",
        #"bghost_transfers_ended_total{result="failed"} 1"#,
        #"bghost_transfers_ended_total{result="done"} 0"#,
        #"bghost_transfer_bytes_total{direction="received"} 42"#,
        #"bghost_transfer_bytes_total{direction="sent"} 0"#,
        #"bghost_notifications_total{event="failed"} 2"#,
        #"bghost_notifications_total{event="delivered"} 1"#,
        #"bghost_notifications_total{event="expired"} 0"#,
        #"bghost_control_request_seconds_total{endpoint="GET /v1/runs/:id"} 0.5"#,
    ]) func `Each value has its line in both formats`(line: String) {
        for format in MetricsFormat.allCases {
            #expect(Self.lines(format).contains(Substring(line)))
        }
    }

    @Test func `Only OpenMetrics has units and an end`() {
        let new = Self.lines(.openMetrics)
        #expect(new.last == "# EOF")
        #expect(new.contains("# UNIT bghost_run_duration_seconds seconds"))
        #expect(new.contains("# TYPE bghost_runs counter"))
        #expect(new.contains("# TYPE bghost_plugin_state stateset"))
        let old = Self.lines(.prometheus)
        #expect(!old.contains { $0.hasPrefix("# UNIT") || $0 == "# EOF" })
        #expect(old.contains("# TYPE bghost_runs_total counter"))
        #expect(old.contains("# TYPE bghost_plugin_state gauge"))
    }

    /// Readers refuse a text in which a family comes twice or a unit is not the end of a name.
    @Test func `Each metric family appears once and ends with its unit`() {
        var families: Set<Substring> = []
        for line in Self.lines(.openMetrics) where line.hasPrefix("# ") {
            let words = line.split(separator: " ")
            if words[1] == "TYPE" { #expect(families.insert(words[2]).inserted, "\(line)") }
            if words[1] == "UNIT" { #expect(words[2].hasSuffix("_" + words[3]), "\(line)") }
            if words[1] == "HELP" { #expect(line.hasSuffix("."), "\(line)") }
        }
        #expect(families.count > 15)
    }

    @Test func `A name cannot end its label or its line`() {
        var statistics = RunStatistics()
        let name = "a\"} 1\nforged{x=\"\\"
        statistics.ended(Self.record(.failed, task: name, plugin: name), task: name)
        let text = Self.snapshot(statistics).text(.openMetrics)
        #expect(!text.contains("\nforged"))
        #expect(text.contains(#"{task="a\"} 1\nforged{x=\"\\",outcome="failed"} 1"#))
    }

    @Test func `OpenMetrics is for clients that ask for it`() {
        let ofPrometheus =
            "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.4"
        #expect(MetricsFormat(accept: ofPrometheus) == .openMetrics)
        #expect(MetricsFormat(accept: "*/*") == .prometheus)
        #expect(MetricsFormat(accept: "") == .prometheus)
    }

    @Test(arguments: [
        (0, "0"), (1, "0.000000001"), (1_500_000_000, "1.5"), (60_000_000_000, "60"),
        (-2_500_000_000, "-2.5"), (Int64.min, "-9223372036.854775808"),
    ]) func `Seconds are exact`(nanoseconds: Int64, text: String) {
        #expect(MetricsWriter.secondsText(nanoseconds) == text)
    }
}
