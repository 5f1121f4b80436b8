// SPDX-License-Identifier: Apache-2.0

@testable import BghostAPI
import BghostBase
@testable import BghostControl
import BghostFacts
import BghostModel
import BghostNotify
import BghostPolicy

/// The examples of `docs/API.md`.
extension Endpoint {
    private typealias Answer = APIReference.Answer

    /// The status and the answer of a call that succeeds.
    var sample: (status: Int, answer: APIReference.Answer) {
        switch self {
        case .version:
            (200, Answer(Schema.version, API.Version(version: BghostVersion.text, pid: 4711)))
        case .metrics: (200, Answer(text: APISamples.metrics, named: "text/plain"))
        case .alive: (200, Answer(Schema.alive, API.Alive(alive: true)))
        case .ready: (200, Answer(Schema.readiness, ReadinessReport(reasons: [])))
        case .health:
            (
                200,
                Answer(
                    Schema.health,
                    HealthReport(checks: [.init("reactor", .ok, "the daemon's main thread answers")]
                    )
                )
            )
        case .status: (200, Answer(Schema.status, API.Status(APISamples.readableStatus)))
        case .submit, .trigger:
            (202, Answer(Schema.request, API.RequestAnswer(request: Self.request)))
        case .runOfRequest, .run: (200, Answer(Schema.run, API.RunAnswer(run: Self.run)))
        case .runs: (200, Answer(Schema.runs, API.RunList(runs: [Self.run], next: 41, newer: 42)))
        case .starts: (200, Answer(Schema.starts, API.StartList(starts: [Self.start])))
        case .days: (200, Answer(Schema.days, API.RunDays(Self.runDays)))
        case .past: (200, Answer(Schema.past, Self.past))
        case .audit: (200, Answer(Schema.audit, API.AuditRows(Self.auditPage)))
        case .checkAudit:
            (200, Answer(Schema.auditCheck, API.AuditCheck(Self.auditVerdict)))
        case .alerts: (200, Answer(Schema.alerts, APISamples.alerts))
        case .testAlerts:
            (200, Answer(Schema.alertTests, API.AlertTests(receivers: [APISamples.alertTest])))
        case .expire: (200, Answer(Schema.expire, Self.cancelled))
        case .stop: (200, Answer(Schema.stop, Self.cancelled))
        case .pending:
            (200, Answer(Schema.pending, API.PendingRequests(requests: [Self.request], total: 1)))
        case .cancelAll, .cancel, .cancelTag:
            (
                200,
                .init(
                    Schema.cancel,
                    API.Withdrawn(
                        task: self == .cancel ? APISamples.task : nil,
                        cancelled: true,
                        count: 1,
                        requests: [Self.request]
                    )
                )
            )
        case .dead:
            (200, Answer(Schema.dead, API.DeadLetters(deadLetters: [Self.letter])))
        case .redrive: (200, Answer(Schema.redrive, APISamples.readableChange))
        case .discard: (200, Answer(Schema.discard, APISamples.readableChange))
        case .checkpoints:
            (
                200,
                Answer(
                    Schema.checkpoints,
                    API.Checkpoints(CheckpointPage(checkpoints: [APISamples.checkpoint]))
                )
            )
        case .deleteCheckpoint:
            (
                200,
                Answer(
                    Schema.checkpointDelete,
                    API.DeletedCheckpoint(
                        request: APISamples.checkpoint.request,
                        task: APISamples.checkpoint.task,
                        checkpoint: API.Checkpoint(APISamples.checkpoint)
                    )
                )
            )
        case .throttle:
            (200, Answer(Schema.throttle, API.Throttles(tasks: [APISamples.readableThrottle])))
        case .clearThrottle:
            (
                200,
                Answer(Schema.throttleClear, API.ClearedThrottle(task: APISamples.task, points: 2))
            )
        case .uses: (200, Answer(Schema.uses, API.Uses(tasks: [APISamples.readableUse])))
        case .addUse, .clearUses: (200, Answer(Schema.use, APISamples.readableUse))
        case .drainStatus, .drain:
            (
                200,
                Answer(
                    Schema.drain,
                    DrainStatus(
                        draining: true,
                        finishing: true,
                        running: 2,
                        until: 1_795_262_400_000_000_000
                    )
                )
            )
        case .fleet: (200, Answer(Schema.fleet, API.Fleet(APISamples.fleet)))
        case .fleetRequests:
            (
                200,
                Answer(
                    Schema.fleetRequests,
                    API.FleetRequests(
                        requests: Array(APISamples.fleetRequests.prefix(2)),
                        next: APISamples.fleetCursor
                    )
                )
            )
        case .cancelFleetRequest:
            (200, Answer(Schema.fleetCancel, APISamples.fleetCancellation))
        case .drainHost, .undrainHost:
            (
                200,
                Answer(
                    Schema.fleetDrain,
                    API.FleetDrainAnswer(APISamples.fleetDrain(self == .drainHost))
                )
            )
        case .pauses:
            (200, Answer(Schema.pauses, API.Pauses(pauses: [API.Pause(APISamples.pause)])))
        case .pause: (200, Answer(Schema.pause, API.PauseAnswer(APISamples.pauseChange)))
        case .resume: (200, Answer(Schema.resume, API.PauseAnswer(APISamples.pauseChange)))
        case .disable, .enable:
            (
                200,
                .init(
                    Schema.pluginSwitch,
                    PluginSwitch(plugin: "backup", off: self == .disable ? "too slow" : nil)
                )
            )
        case .reload:
            (
                200,
                .init(
                    Schema.reload,
                    ReloadReport(
                        tasks: .init(changed: [APISamples.task]),
                        host: ["slots"],
                        changes: [
                            .init(kind: "host", name: "", key: "slots", after: "3"),
                            .init(
                                kind: "task",
                                name: APISamples.task,
                                key: "every",
                                before: "30s",
                                after: "45s"
                            ),
                        ],
                        dryRun: true
                    )
                )
            )
        case .backup:
            (
                200,
                Answer(
                    Schema.backup,
                    API.Backup(folder: "/var/backups/bghost-1", bytes: 98304, omitted: 0)
                )
            )
        case .plan: (200, Answer(Schema.plan, APISamples.plan))
        case .why: (200, Answer(Schema.why, API.Why(APISamples.readableExplanation)))
        case .simulateFact, .simulateClock:
            (
                200,
                .init(
                    Schema.simulate,
                    SimulationStatus(
                        facts: [.init(name: "network", value: .fails)],
                        clockOffset: 21_600_000_000_000
                    )
                )
            )
        case .outbox:
            (
                200,
                Answer(Schema.outbox, API.Outbox(notifications: [APISamples.readableNotification]))
            )
        case .testNotification:
            (202, Answer(Schema.notification, APISamples.readableNotification))
        case .act: (202, Answer(Schema.answer, APISamples.readableAnswer))
        case .transfers:
            (
                200,
                Answer(
                    Schema.transfers,
                    API.Transfers(transfers: [APISamples.readableTransfer], total: 1)
                )
            )
        case .cancelTransfer, .retryTransfer:
            (
                200,
                .init(
                    Schema.transfer,
                    API.TransferAnswer(transfer: APISamples.readableTransfer)
                )
            )
        case .logs:
            (
                200,
                Answer(
                    Schema.logs,
                    API.LogLines(entries: [APISamples.logLine], next: "812-2367-40960")
                )
            )
        case .ticket: (201, Answer(Schema.ticket, APISamples.ticket))
        case .beginSession: (201, Answer(Schema.session, APISamples.session))
        case .endSession: (200, Answer(Schema.endedSession, API.EndedSession()))
        }
    }

    private static let request = API.Request(APISamples.readableRequest)
    private static let letter = API.DeadLetter(APISamples.readableDeadLetter)
    private static let run = API.Run(APISamples.readableRun)
    private static let cancelled = API.CancelledRun(
        run: APISamples.readableRun.id,
        task: APISamples.task,
        graceSeconds: .seconds(5)
    )
}

extension Endpoint {
    fileprivate static var auditPage: AuditPage {
        let entry = AuditEntry(
            at: 1_795_230_000_000_000_000,
            AuditActor(.socket, uid: 1000, pid: 4711, user: "anna"),
            verb: "trigger",
            target: APISamples.task,
            digest: [UInt8](repeating: 0xAB, count: 32),
            status: .stored,
            refs: "01J00000000000000000000007"
        )
        let row = AuditRow(
            seq: 812,
            entry,
            prev: [UInt8](repeating: 0x12, count: 32),
            sum: [UInt8](repeating: 0x9F, count: 32)
        )
        return AuditPage(rows: [row], next: 812, newest: 812)
    }

    fileprivate static var auditVerdict: AuditVerdict {
        var verdict = AuditVerdict()
        verdict.rows = 41
        verdict.deleted = 700
        verdict.head = AuditHead(seq: 741, sum: [UInt8](repeating: 0x9F, count: 32))
        verdict.firstBreak = .init(seq: 742, what: "the row is missing")
        return verdict
    }
}

extension Endpoint {
    private static let due: Int64 = 1_795_230_000_000_000_000

    private static var skipped: SkippedStart {
        SkippedStart(
            task: "org.example.backup",
            kind: .delayed,
            request: RunID(high: 0x019B_2D5E_0000, low: 7),
            due: due,
            until: due + 4_200_000_000_000,
            cause: "network",
            causeSince: due - 120_000_000_000
        )
    }

    fileprivate static var runDays: RunDayPage {
        var row = RunDay(day: RunDay.day(of: due), task: "org.example.backup", number: 1)
        (row.counts.succeeded, row.counts.failed, row.counts.killed) = (22, 1, 1)
        row.runtime = 3_120_400_000_000
        row.cpu = 410_250_000_000
        row.longest = 612_300_000_000
        return RunDayPage(rows: [row])
    }

    fileprivate static var start: API.SkippedStart { API.SkippedStart(skipped) }

    fileprivate static var past: API.Past {
        API.Past(
            PastExplanation(
                task: "org.example.backup",
                at: due,
                PastExplanation.Evidence(starts: [skipped], keptSince: due - 86_400_000_000_000)
            )
        )
    }
}
