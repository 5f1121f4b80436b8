// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

/// The name of an answer, and its type.
package struct AnswerSchema<Body: Codable & Sendable>: Sendable {
    package let name: String
    /// Writes the members of the body without the encoder; `nil` for all but hot calls.
    let stream: (@Sendable (Body, inout JSONWriter) -> Void)?

    init(_ name: String, stream: (@Sendable (Body, inout JSONWriter) -> Void)? = nil) {
        self.name = name
        self.stream = stream
    }
}

/// The answers of the control API.
///
/// A name stays as it is while keys are only added; its number grows when one is removed or changes
/// its meaning.
package enum Schema {
    package static let version = AnswerSchema<API.Version>("bghost.version/1")
    package static let status = AnswerSchema<API.Status>("bghost.status/1")
    package static let alive = AnswerSchema<API.Alive>("bghost.healthz/1")
    package static let readiness = AnswerSchema<ReadinessReport>("bghost.readyz/1")
    package static let health = AnswerSchema<HealthReport>("bghost.health/1")
    package static let request = AnswerSchema<API.RequestAnswer>("bghost.request/1") {
        $0.write(to: &$1)
    }
    package static let run = AnswerSchema<API.RunAnswer>("bghost.run/1")
    package static let runs = AnswerSchema<API.RunList>("bghost.runs/1")
    package static let starts = AnswerSchema<API.StartList>("bghost.starts/1")
    package static let days = AnswerSchema<API.RunDays>("bghost.days/1")
    package static let past = AnswerSchema<API.Past>("bghost.past/1")
    package static let audit = AnswerSchema<API.AuditRows>("bghost.audit/1")
    package static let auditCheck = AnswerSchema<API.AuditCheck>("bghost.audit.check/1")
    package static let alerts = AnswerSchema<AlertReport>("bghost.alerts/1")
    package static let alertTests = AnswerSchema<API.AlertTests>("bghost.alerts.test/1")
    package static let expire = AnswerSchema<API.CancelledRun>("bghost.expire/1")
    package static let cancel = AnswerSchema<API.Withdrawn>("bghost.cancel/1")
    package static let pending = AnswerSchema<API.PendingRequests>("bghost.pending/1")
    package static let stop = AnswerSchema<API.CancelledRun>("bghost.stop/1")
    package static let dead = AnswerSchema<API.DeadLetters>("bghost.dead/1")
    package static let redrive = AnswerSchema<DeadLetterChange>("bghost.redrive/1")
    package static let discard = AnswerSchema<DeadLetterChange>("bghost.discard/1")
    package static let checkpoints = AnswerSchema<API.Checkpoints>("bghost.checkpoints/1")
    package static let checkpointDelete = AnswerSchema<API.DeletedCheckpoint>(
        "bghost.checkpoint.delete/1"
    )
    package static let throttle = AnswerSchema<API.Throttles>("bghost.throttle/1")
    package static let throttleClear = AnswerSchema<API.ClearedThrottle>("bghost.throttle.clear/1")
    package static let uses = AnswerSchema<API.Uses>("bghost.uses/1")
    package static let use = AnswerSchema<UseStatus>("bghost.use/1")
    package static let drain = AnswerSchema<DrainStatus>("bghost.drain/1")
    package static let fleet = AnswerSchema<API.Fleet>("bghost.fleet/1")
    package static let fleetDrain = AnswerSchema<API.FleetDrainAnswer>("bghost.fleet.drain/1")
    package static let fleetRequests = AnswerSchema<API.FleetRequests>("bghost.fleet.requests/1")
    package static let fleetCancel = AnswerSchema<API.FleetCancellation>("bghost.fleet.cancel/1")
    package static let pauses = AnswerSchema<API.Pauses>("bghost.pauses/1")
    package static let pause = AnswerSchema<API.PauseAnswer>("bghost.pause/1")
    package static let resume = AnswerSchema<API.PauseAnswer>("bghost.resume/1")
    package static let pluginSwitch = AnswerSchema<PluginSwitch>("bghost.switch/1")
    package static let reload = AnswerSchema<ReloadReport>("bghost.reload/1")
    package static let backup = AnswerSchema<API.Backup>("bghost.backup/1")
    package static let why = AnswerSchema<API.Why>("bghost.why/1")
    package static let simulate = AnswerSchema<SimulationStatus>("bghost.simulate/1")
    package static let outbox = AnswerSchema<API.Outbox>("bghost.outbox/1")
    package static let notification = AnswerSchema<NotificationStatus>("bghost.notification/1")
    package static let answer = AnswerSchema<NotificationAnswer>("bghost.answer/1")
    package static let transfers = AnswerSchema<API.Transfers>("bghost.transfers/1")
    package static let transfer = AnswerSchema<API.TransferAnswer>("bghost.transfer/1")
    package static let logs = AnswerSchema<API.LogLines>("bghost.logs/1")
    package static let ticket = AnswerSchema<API.Ticket>("bghost.ticket/1")
    package static let session = AnswerSchema<API.DashboardSession>("bghost.session/1")
    package static let endedSession = AnswerSchema<API.EndedSession>("bghost.session.end/1")
    package static let error = AnswerSchema<API.Failure>("bghost.error/1")

    /// Of each `API.LogLine`, since lines travel alone.
    static let logEntry = "bghost.log/1"

    // The output of commands that is no answer of a daemon.
    package static let metrics = AnswerSchema<API.MetricsText>("bghost.metrics/1")
    package static let plan = AnswerSchema<API.Plan>("bghost.plan/1")
    package static let progress = AnswerSchema<API.Progress>("bghost.progress/1")
    package static let stoppedRuns = AnswerSchema<API.StoppedRuns>("bghost.stopped/1")
    package static let replay = AnswerSchema<API.Replay>("bghost.replay/1")
    package static let simulation = AnswerSchema<API.SimulationSummary>("bghost.simulation/1")
    package static let decisions = "bghost.decisions/1"
}
