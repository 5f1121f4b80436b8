// SPDX-License-Identifier: Apache-2.0

package import BghostAPI
package import BghostBase
internal import BghostDispatch
package import BghostMetrics
package import BghostModel
internal import BghostServices

// An owner carries out each command, on the host's executor: `HostCommands` makes those of BghostDispatch
// and of this module's folder `Control`.
extension Host: HostControl {
    package func status() async -> HostStatus { await commands.status.status() }

    package func metrics() -> MetricsSnapshot { commands.metrics.snapshot() }

    package func status(of tasks: [String]) async throws(OperatorRefusal) -> HostStatus {
        try await commands.status.status(of: tasks)
    }

    package func readiness() -> ReadinessReport { commands.health.readiness }

    package func health() async -> HealthReport { await commands.health.health() }

    package func requireTask(_ task: String) throws(OperatorRefusal) {
        try owners.dispatcher.requireTask(task)
    }

    // MARK: Requests and runs

    package func submit(_ submission: Submission) async throws(SubmitError) -> PendingRequest {
        try await commands.runs.submit(submission)
    }

    package func trigger(_ submission: Submission) async throws(SubmitError) -> PendingRequest {
        try await commands.runs.trigger(submission)
    }

    package func waitForRun(ofRequest id: RunID) async -> RunRecord? {
        let waiter = commands.runs.makeWaiter()
        return await withTaskCancellationHandler {
            await commands.runs.waitForRun(ofRequest: id, waiter)
        } onCancel: {
            // The task is not awaited; it ends the wait.
            Task { await self.stopWaiting(waiter, ofRequest: id) }
        }
    }

    private func stopWaiting(_ waiter: UInt64, ofRequest id: RunID) {
        commands.runs.stopWaiting(waiter, ofRequest: id)
    }

    /// Triggers a task and waits for the end of its run, in one step.
    package func run(_ submission: Submission) async throws(SubmitError) -> RunRecord? {
        try await commands.runs.run(submission)
    }

    package func stop(run id: RunID) -> Bool { commands.runs.stop(id) }

    package func expire(run id: RunID) -> Bool { commands.runs.expire(id) }

    package func runs(task: String?, limit: Int) async -> [RunRecord] {
        await commands.runs.runs(task: task, limit: limit)
    }

    package func runs(_ question: RunQuestion) async throws(OperatorRefusal) -> RunPage {
        try await commands.history.runs(question)
    }

    package func skippedStarts(
        _ question: StartQuestion
    ) async throws(OperatorRefusal) -> SkippedStartPage {
        try await commands.history.skippedStarts(question)
    }

    package func runDays(_ question: RunDayQuestion) async throws(OperatorRefusal) -> RunDayPage {
        try await commands.history.runDays(question)
    }

    package func past(
        task: String,
        at time: String
    ) async throws(OperatorRefusal) -> PastExplanation {
        try await commands.history.past(task: task, at: time)
    }

    package func runs(idPrefix: String, limit: Int) async -> [RunRecord] {
        await commands.runs.runs(idPrefix: idPrefix, limit: limit)
    }

    package func output(ofRun id: RunID) async -> String {
        await commands.runs.output(ofRun: id)
    }

    package func checkpoint(ofRequest id: RunID) async -> CheckpointSummary? {
        await owners.checkpoints.checkpoint(ofRequest: id)
    }

    package func checkpoints(
        _ question: CheckpointQuestion
    ) async throws(OperatorRefusal) -> CheckpointPage {
        try await commands.checkpoints.page(question)
    }

    package func deleteCheckpoint(
        ofRequest prefix: String
    ) async throws(OperatorRefusal) -> CheckpointSummary {
        try await owners.checkpoints.delete(prefix)
    }

    package func pending(
        _ question: PendingQuestion
    ) async throws(OperatorRefusal) -> PendingList {
        try await commands.tasks.pending(question)
    }

    package func cancelPending(
        _ which: Withdrawal,
        expected: Int?
    ) async throws(OperatorRefusal) -> [PendingRequest] {
        try await commands.tasks.cancelPending(which, expected: expected)
    }

    package func explain(_ id: String) async throws(OperatorRefusal) -> TaskExplanation {
        try await commands.explainer.explain(id)
    }

    package func plan(_ question: PlanQuestion) async throws(OperatorRefusal) -> API.Plan {
        try await commands.plan.plan(question)
    }

    // MARK: Dead letters

    package func deadLetters(
        _ question: DeadLetterQuestion
    ) async throws(OperatorRefusal) -> DeadLetterPage {
        try await commands.deadLetters.deadLetters(question)
    }

    package func redrive(
        _ choice: DeadLetterChoice,
        expected: Int?
    ) async throws(OperatorRefusal) -> DeadLetterChange {
        try await commands.deadLetters.redrive(choice, expected: expected)
    }

    package func discard(
        _ choice: DeadLetterChoice,
        expected: Int?
    ) async throws(OperatorRefusal) -> DeadLetterChange {
        try await commands.deadLetters.discard(choice, expected: expected)
    }

    // MARK: Throttling and uses

    package func throttles(task: String?) async -> [ThrottleStatus] {
        await commands.tasks.throttles(task: task)
    }

    package func clearThrottle(task: String) async throws(OperatorRefusal) -> ThrottleStatus {
        try await commands.tasks.clearThrottle(task: task)
    }

    package func uses(task: String?) async -> [UseStatus] {
        await commands.uses.uses(task: task)
    }

    package func use(task: String) async throws(OperatorRefusal) -> UseStatus {
        try await commands.uses.use(task: task)
    }

    package func forgetUses(task: String) async throws(OperatorRefusal) -> UseStatus {
        try await commands.uses.forgetUses(task: task)
    }

    // MARK: The end

    package func drain(within bound: Duration?) -> DrainStatus { owners.drain.drain(within: bound) }

    package func drainEnded() async -> DrainStatus { await owners.drain.waitUntilEnd() }

    package func drainStatus() -> DrainStatus { owners.drain.status }

    /// Has one element, when a drain that an operator asked for lets the daemon stop.
    package nonisolated var drained: AsyncStream<Void> { drainEnd }

    // MARK: Plugins and the manifest

    package func fleet() async -> FleetStatus { await owners.fleet.status() }

    package func setDrained(
        _ isDrained: Bool,
        fleetHost name: String
    ) async throws(OperatorRefusal) -> FleetDrain {
        try await owners.fleet.setDrained(isDrained, host: name)
    }

    package func fleetRequests(
        _ question: FleetRequestQuestion
    ) async throws(OperatorRefusal) -> API.FleetRequests {
        try await owners.fleet.requests(question)
    }

    package func cancelInFleet(
        _ request: String
    ) async throws(OperatorRefusal) -> API.FleetCancellation {
        try await owners.fleet.cancel(request)
    }

    package func pauses() -> [Pause] { commands.pauses.pauses() }

    package func pause(_ order: PauseOrder) async throws(OperatorRefusal) -> PauseChange {
        try await commands.pauses.pause(order)
    }

    package func resume(_ target: PauseTarget) async throws(OperatorRefusal) -> PauseChange {
        try await commands.pauses.resume(target)
    }

    package func disable(
        plugin: String,
        reason: String,
        stopsRuns: Bool
    ) async throws(OperatorRefusal) -> PluginSwitch {
        try await commands.switches.disable(plugin: plugin, reason: reason, stopsRuns: stopsRuns)
    }

    package func enable(plugin: String) async throws(OperatorRefusal) -> PluginSwitch {
        try await commands.switches.enable(plugin: plugin)
    }

    package func reload() async throws(OperatorRefusal) -> ReloadReport {
        try await owners.reloader.reload()
    }

    /// Whether the manifest's files are not those of the manifest in force.
    ///
    /// - Parameter isNamed: whether one of them was written; then what was refused is tried again.
    package func hasChangedFiles(isNamed: Bool) async -> Bool {
        await owners.reloader.hasChangedFiles(isNamed: isNamed)
    }

    /// Takes up the changed files, after any reload under way.
    package func reloadFiles() async throws(OperatorRefusal) -> ReloadReport {
        try await owners.reloader.reloadFiles()
    }

    package func dryReload() async throws(OperatorRefusal) -> ReloadReport {
        try await owners.reloader.dryRun()
    }

    // MARK: Simulation

    package func simulate(fact: String) throws(OperatorRefusal) -> SimulationStatus {
        try commands.simulation.simulate(fact: fact)
    }

    package func simulate(clock: SimulatedClock) throws(OperatorRefusal) -> SimulationStatus {
        try commands.simulation.simulate(clock: clock)
    }

    // MARK: Transfers

    package func transfers() async -> [TransferView] { await owners.transfers.transfers() }

    package func cancelTransfer(_ prefix: String) async throws(OperatorRefusal) -> TransferView {
        try await owners.transfers.cancelTransfer(prefix)
    }

    package func retryTransfer(_ prefix: String) async throws(OperatorRefusal) -> TransferView {
        try await owners.transfers.retryTransfer(prefix)
    }

    // MARK: Backups

    package func backUp(
        to path: String,
        includesData: Bool
    ) async throws(OperatorRefusal) -> BackupReport {
        try await commands.backup.backUp(to: path, includesData: includesData)
    }

    // MARK: The audit

    package func requireAudit() throws(OperatorRefusal) { try owners.audit.require() }

    package func note(_ entry: AuditEntry) async throws(OperatorRefusal) {
        try await owners.audit.note(entry)
    }

    package func noteLater(_ entry: AuditEntry) { owners.audit.noteLater(entry) }
    package func noteEnd(_ entry: AuditEntry) async { await owners.audit.noteEnd(entry) }
    package func noteBounded(_ entry: AuditEntry) { owners.audit.noteBounded(entry) }

    package func audit(_ question: AuditQuestion) async throws(OperatorRefusal) -> AuditPage {
        try await owners.audit.rows(question)
    }

    package func checkAudit(
        expecting head: AuditHead?
    ) async throws(OperatorRefusal) -> AuditVerdict {
        try await owners.audit.check(expecting: head)
    }

    // MARK: Alerts and the log

    package func alerts() -> AlertReport { owners.alerts.report }

    package func testAlerts() async throws(OperatorRefusal) -> [AlertTest] {
        try await owners.alerts.monitor.test()
    }

    package func logs(matching filter: LogFilter, limit: Int) -> [LogEntry] {
        services.log.entries(matching: filter, limit: limit)
    }

    package func searchLogs(_ question: LogQuestion) async throws(OperatorRefusal) -> LogPage {
        try await commands.logs.search(question)
    }

    package func followLogs(matching filter: LogFilter, limit: Int) -> FollowedLog {
        let (lines, end) = services.log.follow(matching: filter, limit: limit)
        return FollowedLog(lines, end: end)
    }
}

extension Host: NotificationControl {
    package func outbox() throws(OperatorRefusal) -> [NotificationStatus] {
        try commands.notifications.statuses()
    }

    package func postTestNotification() async throws(OperatorRefusal) -> NotificationStatus {
        try await commands.notifications.postTest()
    }

    package func notification(token: String) -> NotificationStatus? {
        commands.notifications.find(token: token)
    }

    package func act(
        on notification: NotificationReference,
        action: String,
        text: String?
    ) async throws(OperatorRefusal) -> NotificationAnswer {
        try await commands.notifications.act(on: notification, action: action, text: text)
    }
}
