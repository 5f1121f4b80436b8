// SPDX-License-Identifier: Apache-2.0

internal import BghostModel

extension Metric {
    // MARK: The daemon

    static let build = Metric(
        "bghost_build",
        .info,
        labels: [Label("version", most: 1)],
        help: "The version of bghost."
    )
    static let startTime = Metric(
        "bghost_start_time_seconds",
        .gauge,
        unit: "seconds",
        help: "When the daemon started, Unix time."
    )
    static let slots = Metric(
        "bghost_slots",
        .gauge,
        help: "The most runs at the same time."
    )
    static let slotsUsed = Metric(
        "bghost_slots_used",
        .gauge,
        help: "The runs in progress."
    )
    static let requestsPending = Metric(
        "bghost_requests_pending",
        .gauge,
        help: "The requests that wait for a run."
    )
    static let deadLetters = Metric(
        "bghost_dead_letters",
        .gauge,
        help: "The requests that failed too often."
    )
    static let draining = Metric(
        "bghost_draining",
        .gauge,
        help: "1 while the daemon stops and accepts no requests."
    )
    static let storeFailing = Metric(
        "bghost_store_failing",
        .gauge,
        help: "1 while the store cannot store transactions."
    )
    static let journalFailing = Metric(
        "bghost_transfer_journal_failing",
        .gauge,
        help: "1 while the journal of transfers cannot store changes."
    )
    static let logLinesDropped = Metric(
        "bghost_log_lines_dropped",
        .counter,
        labels: [Label("reason", ["file", "rate"])],
        help: "Lines that were not written to the log's file or the journal, by reason."
    )
    static let loopTurn = Metric(
        "bghost_loop_turn_seconds",
        .histogram,
        unit: "seconds",
        help: "How long the thread that enforces limits worked between two looks at its deadlines."
    )
    static let storeCommit = Metric(
        "bghost_store_commit_seconds",
        .histogram,
        unit: "seconds",
        help: "How long transactions took that something waits for, until their answers."
    )
    static let storeWaiting = Metric(
        "bghost_store_waiting",
        .gauge,
        help: "The transactions that are not stored yet."
    )
    static let storeSize = Metric(
        "bghost_store_size_bytes",
        .gauge,
        unit: "bytes",
        help: "The size of the store's files."
    )
    static let requestsSubmitted = Metric(
        "bghost_requests_submitted",
        .counter,
        help: "The submissions of clients, handlers and sessions whose requests were stored."
    )
    static let requestsRefused = Metric(
        "bghost_requests_refused",
        .counter,
        labels: [Label("code", SubmissionCounts.Refusal.allCases.map(\.rawValue))],
        help: "The submissions that were refused, by reason."
    )
    static let folded = Metric(
        "bghost_metrics_folded",
        .counter,
        help: "Runs that are counted under `_other`, because too many names were counted before."
    )

    // MARK: Runs

    static let runs = Metric(
        "bghost_runs",
        .counter,
        labels: [.task, Label("outcome", OutcomeClass.allCases.map(\.rawValue))],
        help: "The runs that have ended, by outcome."
    )
    static let runDuration = Metric(
        "bghost_run_duration_seconds",
        .histogram,
        unit: "seconds",
        labels: [.plugin],
        help: "How long the runs of a plugin lasted."
    )
    static let runStartDelay = Metric(
        "bghost_run_start_delay_seconds",
        .histogram,
        unit: "seconds",
        labels: [.plugin],
        help: "How long after the due time of their requests runs started."
    )
    static let runCancelDuration = Metric(
        "bghost_run_cancel_duration_seconds",
        .histogram,
        unit: "seconds",
        labels: [.plugin],
        help: "How long cancelled runs took to stop."
    )
    static let runProcessorTime = Metric(
        "bghost_run_cpu_seconds",
        .counter,
        unit: "seconds",
        labels: [.plugin],
        help: "The processor time of the runs of a plugin."
    )
    static let runsActive = Metric(
        "bghost_runs_active",
        .gauge,
        labels: [.plugin],
        help: "The runs of a plugin in progress."
    )
    static let kills = Metric(
        "bghost_kills",
        .counter,
        labels: [.plugin, Label("reason", KillReason.labels)],
        help: "The killed runs of a plugin, by reason."
    )

    // MARK: Tasks and plugins

    static let consecutiveFailures = Metric(
        "bghost_task_consecutive_failures",
        .gauge,
        labels: [.task],
        help: "The failed runs of a task since the last one that succeeded."
    )
    static let lastEnd = Metric(
        "bghost_task_last_end_timestamp_seconds",
        .gauge,
        unit: "seconds",
        labels: [.task],
        only: "after the first",
        help: "When the last run of a task ended, Unix time."
    )
    static let lastSuccess = Metric(
        "bghost_task_last_success_timestamp_seconds",
        .gauge,
        unit: "seconds",
        labels: [.task],
        only: "after the first",
        help: "When the last run of a task succeeded, Unix time."
    )
    static let nextRun = Metric(
        "bghost_task_next_run_timestamp_seconds",
        .gauge,
        unit: "seconds",
        labels: [.task],
        only: "while one is pending",
        help: "The earliest start of a task's pending request, Unix time."
    )
    static let paused = Metric(
        "bghost_task_paused",
        .gauge,
        labels: [.task],
        help: "1 while an operator has paused a task."
    )
    static let pluginState = Metric(
        "bghost_plugin_state",
        .stateset,
        labels: [.plugin],
        help: "What a plugin can do now."
    )
    static let workers = Metric(
        "bghost_workers",
        .gauge,
        labels: [.plugin],
        help: "The worker processes of a plugin."
    )

    static let workerMemory = Metric(
        "bghost_worker_memory_bytes",
        .gauge,
        unit: "bytes",
        labels: [.plugin],
        help: "The resident memory of the worker processes of a plugin together."
    )
    static let workerStarts = Metric(
        "bghost_worker_starts",
        .counter,
        labels: [.plugin],
        help: "The workers of a plugin that were started and have loaded it."
    )
    static let workerStart = Metric(
        "bghost_worker_start_seconds",
        .histogram,
        unit: "seconds",
        help: "How long workers took from their start until they had loaded their plugin."
    )

    static let sandboxLayersMissing = Metric(
        "bghost_sandbox_layers_missing",
        .gauge,
        labels: [.plugin],
        only: "of plugins whose worker has started",
        help: "The layers of the sandbox that the machine lacks for the workers of a plugin."
    )

    // MARK: Transfers and notifications

    static let transfers = Metric(
        "bghost_transfers",
        .gauge,
        only: "with `sessions`",
        help: "The transfers that have not ended."
    )
    static let transfersEnded = Metric(
        "bghost_transfers_ended",
        .counter,
        labels: [Label("result", TransferStatistics.End.allCases.map(\.rawValue))],
        only: "with `sessions`",
        help: "The transfers that have ended, by result."
    )
    static let transferBytes = Metric(
        "bghost_transfer_bytes",
        .counter,
        unit: "bytes",
        labels: [Label("direction", TransferStatistics.Direction.allCases.map(\.rawValue))],
        only: "with `sessions`",
        help: "What the attempts of transfers that have ended moved, also what was moved again."
    )
    static let notifications = Metric(
        "bghost_notifications",
        .counter,
        labels: [Label("event", NotificationStatistics.Event.allCases.map(\.rawValue))],
        only: "with `notifications`",
        help: "What became of notifications; `failed` counts attempts."
    )

    // MARK: The control API

    static let controlRequests = Metric(
        "bghost_control_requests",
        .counter,
        labels: [.endpoint, Label("answer", EndpointCounts.Answer.allCases.map(\.rawValue))],
        only: "of endpoints that were asked",
        help: "The requests of the control API, over the socket and from the dashboard."
    )
    static let controlTime = Metric(
        "bghost_control_request_seconds",
        .counter,
        unit: "seconds",
        labels: [.endpoint],
        only: "of endpoints that were asked",
        help: "How long these requests took until their answers began, together."
    )

    // MARK: Alerts and the fleet

    static let alertsFiring = Metric(
        "bghost_alerts_firing",
        .gauge,
        labels: [Label("rule", AlertRule.allCases.map(\.rawValue))],
        only: "with `alerts` or `heartbeat`",
        help: "The alerts that fire, by rule."
    )
    static let alertsSent = Metric(
        "bghost_alerts_sent",
        .counter,
        only: "with `alerts` or `heartbeat`",
        help: "The messages that a receiver took."
    )
    static let alertsFailed = Metric(
        "bghost_alerts_failed",
        .counter,
        only: "with `alerts` or `heartbeat`",
        help: "The attempts to send a message that failed."
    )
    static let alertsDropped = Metric(
        "bghost_alerts_dropped",
        .counter,
        only: "with `alerts` or `heartbeat`",
        help: "The messages that a receiver does not get."
    )
    static let leaseHeld = Metric(
        "bghost_fleet_lease_held",
        .gauge,
        only: "with `host.fleet`",
        help: "1 while the host has a valid lease."
    )
    static let leaseRenewed = Metric(
        "bghost_fleet_renewed_timestamp_seconds",
        .gauge,
        unit: "seconds",
        only: "with `host.fleet`",
        help: "When the fleet last answered a renewal of the lease, Unix time."
    )
    static let renewalsFailed = Metric(
        "bghost_fleet_renewals_failed",
        .counter,
        only: "with `host.fleet`",
        help: "The renewals of the lease that failed."
    )

    // MARK: Traces

    static let spansExported = Metric(
        "bghost_spans_exported",
        .counter,
        only: "with `host.traces`",
        help: "The spans that the receiver took."
    )
    static let spansDropped = Metric(
        "bghost_spans_dropped",
        .counter,
        labels: [Label("reason", ["queue", "receiver"])],
        only: "with `host.traces`",
        help: "The lost spans, by reason: a full queue, or a receiver that did not take them."
    )
    static let spansQueued = Metric(
        "bghost_spans_queued",
        .gauge,
        only: "with `host.traces`",
        help: "The spans that wait to be sent."
    )

    // MARK: The process

    static let processorTime = Metric(
        "process_cpu_seconds",
        .counter,
        unit: "seconds",
        help: "The processor time of the daemon, without its workers."
    )
    static let residentMemory = Metric(
        "process_resident_memory_bytes",
        .gauge,
        unit: "bytes",
        help: "The resident memory of the daemon."
    )
    static let openDescriptors = Metric(
        "process_open_fds",
        .gauge,
        help: "The open file descriptors of the daemon."
    )

    /// All metrics, in the order of `/metrics`.
    package static let all: [Metric] = [
        .build, .startTime, .slots, .slotsUsed, .requestsPending, .deadLetters, .draining,
        .storeFailing, .journalFailing, .logLinesDropped, .loopTurn, .storeCommit, .storeWaiting,
        .storeSize,
        .requestsSubmitted, .requestsRefused, .folded,
        .runs, .runDuration, .runStartDelay, .runCancelDuration, .runProcessorTime, .runsActive,
        .kills,
        .consecutiveFailures, .lastEnd, .lastSuccess, .nextRun, .paused, .pluginState, .workers,
        .workerMemory, .workerStarts, .workerStart, .sandboxLayersMissing, .transfers,
        .transfersEnded,
        .transferBytes, .notifications, .controlRequests, .controlTime,
        .alertsFiring, .alertsSent, .alertsFailed, .alertsDropped, .leaseHeld, .leaseRenewed,
        .renewalsFailed, .partitionsLeaseHeld, .partitionsOwned, .partitionsOwnerless,
        .partitionsLeaseLosses, .partitionsCallsFailed, .spansExported, .spansDropped, .spansQueued,
        .processorTime, .residentMemory, .openDescriptors,
    ]
}
