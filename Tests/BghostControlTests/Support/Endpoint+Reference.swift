// SPDX-License-Identifier: Apache-2.0

@testable import BghostAPI
@testable import BghostControl

/// What `docs/API.md` says of each endpoint.
extension Endpoint {
    var group: APIReference.Group {
        switch self {
        case .version, .alive, .ready, .health, .metrics, .status, .drainStatus, .drain, .reload,
            .backup, .logs, .audit, .checkAudit, .alerts, .testAlerts, .fleet,
            .drainHost, .undrainHost:
            .daemon
        case .submit, .trigger, .runOfRequest, .pending, .cancelAll, .cancel, .cancelTag, .why,
            .plan, .fleetRequests, .cancelFleetRequest:
            .requests
        case .runs, .starts, .days, .past, .run, .expire, .stop: .runs
        case .checkpoints, .deleteCheckpoint: .requests
        case .dead, .redrive, .discard: .deadLetters
        case .throttle, .clearThrottle, .uses, .addUse, .clearUses: .policy
        case .pauses, .pause, .resume: .pauses
        case .disable, .enable: .plugins
        case .simulateFact, .simulateClock: .simulation
        case .outbox, .testNotification, .act: .notifications
        case .transfers, .cancelTransfer, .retryTransfer: .transfers
        case .ticket, .beginSession, .endSession: .dashboard
        }
    }

    /// One or two sentences.
    var summary: String {
        switch self {
        case .version: "The daemon's version and process."
        case .alive: "Whether the daemon's main thread answers: 200, or 503 after a second."
        case .ready:
            "Whether the daemon accepts requests and starts runs: 200, or 503 with the reasons."
        case .health: "The checks of `bghost health`, each with its state and a remedy."
        case .metrics:
            "Metrics for Prometheus: OpenMetrics 1.0 to a client that accepts it, otherwise the text format 0.0.4."
        case .status:
            "Problems, running and pending tasks, and plugins, as `bghost status` shows them."
        case .submit: "Submits a request. The answer comes when it is stored."
        case .trigger:
            "Runs a task now, as `bghost trigger`: it ignores the start time and throttling."
        case .runOfRequest: "The run of a request. The answer comes when it has ended."
        case .runs:
            """
            Runs, the newest first. A time is a date with an offset, a date or a time of day in the \
            zone of the manifest, or a duration ago, such as `2h`.
            """
        case .starts:
            "Starts that did not happen, or happened late; the latest due date first."
        case .days:
            """
            The sums of runs by task and day of UTC, the latest day first, also of runs that are deleted. \
            A run counts once its end is stored.
            """
        case .past: "What happened to a task around a time of the past."
        case .audit:
            "Who changed what, the newest first; who may only look sees it too, as an auditor does."
        case .checkAudit: "Whether a row of the audit was changed, or removed between others."
        case .alerts: "The alerts that fire, who is told of them, and the heartbeat."
        case .testAlerts:
            "Sends a test to each receiver of alerts. The answer comes when each has answered or failed."
        case .run: "A run with its output and its crash report."
        case .expire: "Ends the runtime of a run now. It then has its grace to stop."
        case .stop: "Cancels a run, which then has its grace to stop and is not retried."
        case .pending: "The pending requests, with the reasons why they wait."
        case .cancelAll: "Withdraws all pending requests."
        case .cancel: "Withdraws the pending requests of a task."
        case .cancelTag:
            "Withdraws the pending requests of all tasks of the manifest that have a tag."
        case .dead: "Dead letters, the newest first."
        case .redrive: "Makes dead letters pending again, with no failures counted."
        case .discard: "Deletes dead letters."
        case .checkpoints:
            "What runs saved for the next attempts of their requests, without the bytes; those of the newest requests first."
        case .deleteCheckpoint:
            "Deletes the checkpoint of the request whose id begins like this; its next attempt begins from the start."
        case .throttle: "Tasks that start later because their runs did not stop in time."
        case .clearThrottle: "Clears the throttle points of a task."
        case .uses: "When the results of tasks are used, for tasks with `learnsUse`."
        case .addUse: "Records a use of a task's results now."
        case .clearUses: "Deletes the learned uses of a task."
        case .fleet: "The hosts of this host's fleet, asked of the fleet's database."
        case .fleetRequests:
            """
            The requests of all hosts of the fleet that live there, asked of the fleet's database: what waits \
            or runs, or the dead letters. At most 10000 rows are read for a page, so one may be empty although \
            another one follows.
            """
        case .cancelFleetRequest:
            """
            Asks the host that owns a request of the fleet to withdraw it, or to cancel its run. The wish is in \
            the fleet's database until the request has ended, so the next owner has it if that host dies.
            """
        case .drainHost:
            """
            Drains a host of the fleet, also across its restarts: it claims no further start, and ends those \
            that it has. It knows with its next renewal.
            """
        case .undrainHost:
            "Lets a drained host of the fleet claim starts again, from its next renewal on."
        case .pauses: "The pauses in force, the oldest first."
        case .pause:
            """
            Pauses tasks, also across restarts and reloads: nothing of them starts, and runs in \
            progress continue. A second pause of the same target changes its end and its reason.
            """
        case .resume: "Ends the pause of exactly this target, before its time."
        case .disable: "Switches a plugin off, also across restarts."
        case .enable: "Switches a plugin on, and lifts its quarantine."
        case .drainStatus: "How far the daemon is with its end."
        case .drain:
            "Stops the daemon: at once, or with `finish` when its runs have ended by themselves. A second call can only shorten the time."
        case .reload:
            "Reloads the manifest, all of it or nothing; with `dryRun` only says what that would change."
        case .backup: "Writes a copy of the state into a new folder."
        case .why: "Explains why a task or request does not run."
        case .plan:
            """
            The coming starts of the schedules of the manifest in force, with the changes of the clocks; it \
            changes nothing. Other conditions of a start cannot be predicted: `GET /v1/why` has them.
            """
        case .simulateFact: "Simulates a requirement until the daemon ends."
        case .simulateClock: "Moves the daemon's clock until the daemon ends."
        case .outbox: "The notifications that wait or can be answered, the oldest first."
        case .testNotification: "Posts a test notification to all sinks."
        case .act: "Answers a notification, as its recipient would."
        case .transfers: "The transfers that are not acknowledged."
        case .cancelTransfer: "Cancels a transfer."
        case .retryTransfer: "Tries a waiting transfer again now."
        case .logs:
            "Lines of the log, the oldest first: the newest ones from memory, older ones from its files."
        case .ticket:
            "A link that begins a session of the dashboard. Only the control socket has this call."
        case .beginSession:
            "Begins a session, with the ticket of a link. Only the dashboard's address has this call; it needs no session."
        case .endSession:
            "Ends the session of the request. Only the dashboard's address has this call."
        }
    }

    /// The body of the request; `nil` if it has none.
    var body: String? {
        switch self {
        case .submit, .trigger:
            """
            a JSON object with any of these keys\(self == .trigger ? "; `task` is in the path" : ""):

            | key | meaning |
            | --- | --- |
            \(Self.submitKeys.map { "| `\($0.name)` | \($0.summary) |" }.joined(separator: "\n"))
            """
        case .act:
            """
            a JSON object:

            | key | meaning |
            | --- | --- |
            | `id` | The id of the notification; needed. |
            | `plugin` | Its plugin; needed if several plugins have a notification with this id. |
            | `action` | The id of the action; needed. |
            | `text` | The text of the answer. |
            """
        case .beginSession:
            """
            a JSON object:

            | key | meaning |
            | --- | --- |
            | `ticket` | The fragment of the link, what follows `#`; needed. |
            """
        case .version, .alive, .ready, .health, .metrics, .status, .runOfRequest, .runs, .starts,
            .days, .past, .audit, .checkAudit, .run, .expire, .stop, .ticket, .endSession,
            .pending, .cancelAll,
            .cancel, .cancelTag, .checkpoints, .deleteCheckpoint, .dead, .redrive, .discard,
            .throttle, .clearThrottle, .uses,
            .addUse,
            .clearUses, .fleet, .fleetRequests, .cancelFleetRequest, .drainHost, .undrainHost,
            .pauses, .pause, .resume, .disable,
            .enable, .drainStatus, .drain,
            .reload,
            .backup, .why, .plan, .simulateFact, .simulateClock,
            .outbox, .testNotification, .transfers, .cancelTransfer, .retryTransfer, .logs, .alerts,
            .testAlerts:
            nil
        }
    }

    static let submitKeys: [(name: String, summary: String)] = [
        ("task", "The identifier of the task."),
        ("parameters", "A JSON object; its keys override those of the task's own parameters."),
        ("earliestBegin", "The run does not start before this time (RFC 3339); absent: at once."),
        ("latestBegin", "The run does not start after this time (RFC 3339); absent: no limit."),
        ("toleranceSeconds", "How much later it may start, 0 to 2592000; absent: the task's own."),
        (
            "onConflict",
            "What becomes of a pending request: `replace`, `keep`, `update` or `append`, with which the"
                + " new one begins after it; absent: `replace`."
        ),
        ("priority", "0 to 1000; absent: the task's own."),
        (
            "ignoresRequirements",
            "Only to trigger: `true` starts it although a requirement is unmet."
        ),
        (
            "traceparent",
            "The caller's place in a trace (W3C Trace Context); absent: the header of this name."
        ),
        ("tracestate", "What vendors add to `traceparent`; it needs that key."),
    ]

    /// What follows the name of the answer.
    var answerNote: String {
        switch self {
        case .trigger: "; with `wait=true` 200, [`bghost.run/1`](#bghostrun1)"
        case .logs: "; with `follow=true` one [`bghost.log/1`](#bghostlog1) a line"
        default: ""
        }
    }

    /// The codes of its own refusals, besides `APIReference.common`.
    var codes: [FaultCode] {
        ownCodes + ([.never, .before, .login].contains(auditing) ? [] : [.auditFailed])
    }

    private var ownCodes: [FaultCode] {
        switch self {
        case .alive: [.unavailable]
        case .version, .ready, .health, .metrics, .audit: []
        case .transfers: [.badCursor]
        case .checkAudit: [.unavailable]
        case .alerts: []
        case .testAlerts: [.noReceiver]
        case .status, .past, .plan, .throttle, .uses: [.noSuchTask]
        case .runs: [.noSuchTask, .noSuchTag]
        case .days: [.noSuchTask, .badCursor]
        case .starts, .dead, .checkpoints: [.noSuchTask, .noSuchPlugin, .badCursor]
        case .pending: [.noSuchTask, .noSuchPlugin, .noSuchTag, .badCursor, .staleCursor]
        case .submit: Self.submissionCodes
        case .trigger: Self.submissionCodes + [.endedWithoutRun]
        case .runOfRequest: [.endedWithoutRun]
        case .run: [.noSuchRun, .ambiguousRun]
        case .expire, .stop: [.noSuchRun, .ambiguousRun, .runNotUnderWay]
        case .cancelAll: [.countChanged, .storeFailed, .notStored]
        case .cancel: [.noSuchTask, .nothingPending, .countChanged, .storeFailed, .notStored]
        case .cancelTag: [.noSuchTag, .nothingPending, .countChanged, .storeFailed, .notStored]
        case .redrive, .discard:
            [
                .noSuchTask, .noSuchRequest, .ambiguousRequest, .nothingDead, .countChanged,
                .storeFailed, .notStored,
            ]
        case .deleteCheckpoint: [.noSuchCheckpoint, .ambiguousRequest, .storeFailed]
        case .clearThrottle: [.noSuchTask, .storeFailed, .notStored]
        case .addUse, .clearUses: [.noSuchTask, .notPermitted, .storeFailed, .notStored]
        case .fleet, .pauses, .drainStatus, .drain: []
        case .fleetRequests:
            [.noFleet, .noFleetRequests, .fleetUnanswered, .unavailable, .badCursor]
        case .cancelFleetRequest:
            [.noFleet, .noFleetRequests, .noSuchRequest, .fleetUnanswered, .unavailable]
        case .drainHost, .undrainHost: [.noFleet, .noSuchHost, .fleetUnanswered, .unavailable]
        case .pause: [.noSuchTask, .noSuchPlugin, .unavailable, .storeFailed, .notStored]
        case .resume: [.notPaused, .storeFailed, .notStored]
        case .disable, .enable: [.noSuchPlugin, .storeFailed, .notStored]
        case .reload: [.manifestRefused, .needsRestart, .unavailable]
        case .backup: [.backupFailed]
        case .why: [.noSuchTask, .noSuchRequest, .ambiguousRequest]
        case .simulateFact, .simulateClock: [.badSimulation, .unavailable]
        case .outbox: [.unavailable]
        case .testNotification: [.unavailable, .notPermitted, .storeFailed]
        case .act:
            [
                .noSuchNotification, .ambiguousNotification, .badAction, .notPermitted,
                .unavailable, .storeFailed,
            ]
        case .cancelTransfer, .retryTransfer:
            [.noSuchTransfer, .ambiguousTransfer, .transferOver]
        case .logs: [.noSuchTask, .noSuchRun, .ambiguousRun, .tooManyFollowers]
        case .ticket: [.noDashboard, .unavailable]
        case .beginSession: [.badTicket, .noDashboard]
        case .endSession: []
        }
    }

    private static let submissionCodes: [FaultCode] = [
        .notPermitted, .unavailable, .tooManyPending, .immediateRunIneligible, .payloadTooLarge,
        .badParameters, .unfitParameters, .pastLatestBegin, .storeFailed,
    ]
}
