// SPDX-License-Identifier: Apache-2.0

package import BghostBase
package import BghostMetrics
package import BghostModel

/// The interface of the daemon for operators; the control API uses no other part of the host.
package protocol HostControl: AuditControl {
    /// The daemon and its tasks.
    func status() async -> HostStatus

    /// What a monitoring system reads: counts since the start, and the present state.
    func metrics() async -> MetricsSnapshot

    /// Whether the daemon accepts work and keeps it; it answers from memory.
    func readiness() async -> ReadinessReport

    /// All checks of the daemon's health; those of the disk may take long.
    func health() async -> HealthReport

    /// The daemon and these tasks only, also those that ``status()`` omits.
    ///
    /// Throws as ``requireTask(_:)``.
    func status(of tasks: [String]) async throws(OperatorRefusal) -> HostStatus

    /// Throws if a name is not the name of a task: it is not in the manifest, not covered by one of its
    /// families, and not the task of a waiting request.
    func requireTask(_ task: String) async throws(OperatorRefusal)

    /// Accepts a submission; returns when the request is stored.
    func submit(_ submission: Submission) async throws(SubmitError) -> PendingRequest

    /// Requests a run of a task now, ignoring its earliest date, like `_simulateLaunchForTaskWithIdentifier`.
    ///
    /// Slots and the overlap policy still apply, so the run may wait for them.
    ///
    /// - Returns: the request; `waitForRun` returns its run.
    func trigger(_ submission: Submission) async throws(SubmitError) -> PendingRequest

    /// Waits until the request's run has ended.
    ///
    /// - Returns: the record of the run; `nil` if the request ends without a run (withdrawn or replaced) or
    ///   is unknown.
    func waitForRun(ofRequest id: RunID) async -> RunRecord?

    /// Expires a run as if its runtime were used up, like `_simulateExpirationForTaskWithIdentifier`.
    ///
    /// - Returns: `false` if the run is not in progress.
    func expire(run: RunID) async -> Bool

    /// Cancels a run, which then has its grace to stop and is not retried.
    ///
    /// - Returns: `false` if the run is not in progress.
    func stop(run: RunID) async -> Bool

    /// A page of the waiting requests, including retries and manual runs.
    ///
    /// Throws if the daemon does not know the plugin, or if the cursor is that of another list, another daemon
    /// or another manifest.
    func pending(_ question: PendingQuestion) async throws(OperatorRefusal) -> PendingList

    /// Explains why a task or a request does not run.
    ///
    /// - Parameter id: the identifier of a task, the pattern of a family, or the id of a request or a prefix
    ///   of it.
    func explain(_ id: String) async throws(OperatorRefusal) -> TaskExplanation

    /// The coming starts of the schedules of the manifest in force.
    ///
    /// Throws if there is no such task.
    func plan(_ question: PlanQuestion) async throws(OperatorRefusal) -> API.Plan

    /// Simulates a requirement until the daemon ends, as in `network=off`.
    ///
    /// - Returns: everything that is now simulated.
    func simulate(fact: String) async throws(OperatorRefusal) -> SimulationStatus

    /// Moves the daemon's wall clock until the daemon ends; limits of runs do not depend on it.
    ///
    /// - Returns: everything that is now simulated.
    func simulate(clock: SimulatedClock) async throws(OperatorRefusal) -> SimulationStatus

    /// Withdraws all waiting requests of some tasks; returns when the change is stored.
    ///
    /// Throws if no task of the manifest has the tag that selects them.
    ///
    /// - Parameter expected: the number of requests that must wait; withdraws nothing if there are more or
    ///   fewer. `nil` withdraws however many there are.
    /// - Returns: the withdrawn requests.
    func cancelPending(
        _ which: Withdrawal,
        expected: Int?
    ) async throws(OperatorRefusal) -> [PendingRequest]

    /// A page of dead letters, the newest first.
    ///
    /// Throws if a time cannot be read, if the daemon does not know the plugin, or if the cursor is that of
    /// another list.
    func deadLetters(
        _ question: DeadLetterQuestion
    ) async throws(OperatorRefusal) -> DeadLetterPage

    /// Makes dead requests pending again, with their failures counted from 0.
    ///
    /// - Parameter expected: the number of dead letters that there must be; changes nothing if there are
    ///   more or fewer. `nil` changes however many there are.
    func redrive(
        _ choice: DeadLetterChoice,
        expected: Int?
    ) async throws(OperatorRefusal) -> DeadLetterChange

    /// Deletes dead requests.
    ///
    /// - Parameter expected: as for ``redrive(_:expected:)``.
    func discard(
        _ choice: DeadLetterChoice,
        expected: Int?
    ) async throws(OperatorRefusal) -> DeadLetterChange

    /// The throttle points of one task, or of all tasks that have points, in the order of their names.
    func throttles(task: String?) async -> [ThrottleStatus]

    /// Clears the throttle points of a task.
    ///
    /// - Returns: the points before.
    func clearThrottle(task: String) async throws(OperatorRefusal) -> ThrottleStatus

    /// The learned uses of one task, or of all tasks that learn their uses.
    func uses(task: String?) async -> [UseStatus]

    /// Records a use of a task's results.
    func use(task: String) async throws(OperatorRefusal) -> UseStatus

    /// Deletes the learned uses of a task.
    func forgetUses(task: String) async throws(OperatorRefusal) -> UseStatus

    /// Stops the daemon after its runs have ended by themselves: it starts no more, and takes no more requests.
    ///
    /// A second call can only shorten the time.
    ///
    /// - Parameter bound: the most time for the runs, after which they are cancelled; `nil` for as long as
    ///   they take.
    func drain(within bound: Duration?) async -> DrainStatus

    /// Waits until no run is left or the rest is cancelled, if runs may end by themselves.
    func drainEnded() async -> DrainStatus

    /// How far the daemon is with its end.
    func drainStatus() async -> DrainStatus

    /// The fleet of this host, as the fleet's store has it.
    func fleet() async -> FleetStatus

    /// Drains a host of the fleet, so that it claims no further start, or ends that.
    ///
    /// It lasts across restarts of that host.
    func setDrained(
        _ isDrained: Bool,
        fleetHost name: String
    ) async throws(OperatorRefusal) -> FleetDrain

    /// A page of the requests of all hosts of the fleet, as the fleet's store has them.
    func fleetRequests(
        _ question: FleetRequestQuestion
    ) async throws(OperatorRefusal) -> API.FleetRequests

    /// Asks the owner of a request of the fleet to withdraw it, or to cancel its run.
    ///
    /// - Returns: the request as it was; its owner ends it within about a second if it lives and that
    ///   host has the task.
    func cancelInFleet(
        _ request: String
    ) async throws(OperatorRefusal) -> API.FleetCancellation

    /// The pauses in force, the oldest first.
    func pauses() async -> [Pause]

    /// Pauses tasks: nothing of them starts until the pause ends; runs in progress continue. A pause holds across
    /// restarts and reloads.
    func pause(_ order: PauseOrder) async throws(OperatorRefusal) -> PauseChange

    /// Ends the pause of exactly this target.
    func resume(_ target: PauseTarget) async throws(OperatorRefusal) -> PauseChange

    /// Disables a plugin until `enable`, also across restarts: its tasks accept no more requests and start no
    /// more runs.
    ///
    /// - Parameter stopsRuns: whether to cancel its runs in progress too.
    func disable(
        plugin: String,
        reason: String,
        stopsRuns: Bool
    ) async throws(OperatorRefusal) -> PluginSwitch

    /// Enables a plugin.
    func enable(plugin: String) async throws(OperatorRefusal) -> PluginSwitch

    /// Writes a copy of the state, from which a daemon can go on.
    ///
    /// - Parameters:
    ///   - path: an absolute path, where nothing must be.
    ///   - includesData: whether the data directories of plugins are copied, too.
    func backUp(to path: String, includesData: Bool) async throws(OperatorRefusal) -> BackupReport

    /// Reads the manifest again, and replaces the current one.
    ///
    /// A manifest that is rejected changes nothing.
    func reload() async throws(OperatorRefusal) -> ReloadReport

    /// Reads the manifest again and says what a reload would change; it changes nothing.
    ///
    /// - Throws: the refusal of such a reload.
    func dryReload() async throws(OperatorRefusal) -> ReloadReport

    /// All transfers whose end is not acknowledged, the oldest first.
    func transfers() async -> [TransferView]

    /// Cancels the transfer whose id has this prefix.
    func cancelTransfer(_ prefix: String) async throws(OperatorRefusal) -> TransferView

    /// Starts the next attempt of a transfer now instead of after its delay.
    func retryTransfer(_ prefix: String) async throws(OperatorRefusal) -> TransferView

    /// The runs of one task, or of all tasks, the newest first.
    func runs(task: String?, limit: Int) async -> [RunRecord]

    /// A page of runs, the newest first; those in progress are on the first page.
    ///
    /// Throws if a time cannot be read.
    func runs(_ question: RunQuestion) async throws(OperatorRefusal) -> RunPage

    /// A page of starts that did not happen, the latest due date first.
    ///
    /// Throws if a time cannot be read, if the daemon does not know the plugin, or if the cursor is that of
    /// another list.
    func skippedStarts(
        _ question: StartQuestion
    ) async throws(OperatorRefusal) -> SkippedStartPage

    /// A page of the sums of runs by task and day, the latest day first.
    ///
    /// Throws if a time cannot be read, or if the cursor is that of another list.
    func runDays(_ question: RunDayQuestion) async throws(OperatorRefusal) -> RunDayPage

    /// What happened to a task around a time of the past.
    ///
    /// Throws if the time cannot be read or is still to come, and if nothing is known of such a task.
    func past(task: String, at time: String) async throws(OperatorRefusal) -> PastExplanation

    /// The runs whose ids have this prefix, the newest first, at most `limit`.
    func runs(idPrefix: String, limit: Int) async -> [RunRecord]

    /// The first and the last output of a run, at most 64 KiB; "" if it printed nothing.
    func output(ofRun id: RunID) async -> String

    /// The checkpoint of a request; `nil` if it has none.
    func checkpoint(ofRequest id: RunID) async -> CheckpointSummary?

    /// A page of the checkpoints, those of the newest requests first.
    ///
    /// Throws if the cursor is that of another list, and if nothing is found of a plugin that the manifest does
    /// not have.
    func checkpoints(
        _ question: CheckpointQuestion
    ) async throws(OperatorRefusal) -> CheckpointPage

    /// Deletes the checkpoint of the request whose id has this prefix; returns when the change is stored.
    ///
    /// - Returns: the deleted one.
    func deleteCheckpoint(
        ofRequest prefix: String
    ) async throws(OperatorRefusal) -> CheckpointSummary

    /// A page of the audit.
    ///
    /// Throws if a time cannot be read.
    func audit(_ question: AuditQuestion) async throws(OperatorRefusal) -> AuditPage

    /// Compares the whole chain of the audit.
    ///
    /// - Parameter head: the row that the log has, which must be in the chain; `nil` if none is known.
    func checkAudit(expecting head: AuditHead?) async throws(OperatorRefusal) -> AuditVerdict

    /// What fires, and who is told of it.
    func alerts() async -> AlertReport

    /// Sends a test to each receiver of alerts, and returns what they answered.
    ///
    /// Throws if there is none.
    func testAlerts() async throws(OperatorRefusal) -> [AlertTest]

    /// The entries in the daemon's memory, the oldest first.
    func logs(matching filter: LogFilter, limit: Int) async -> [LogEntry]

    /// A page of the log, from the daemon's memory and from the log's files.
    ///
    /// Throws if a time cannot be read.
    func searchLogs(_ question: LogQuestion) async throws(OperatorRefusal) -> LogPage

    /// The same entries, and then each new one, until the consumer stops.
    func followLogs(matching filter: LogFilter, limit: Int) async -> FollowedLog
}

/// The lines of a log as they are written.
package struct FollowedLog: Sendable {
    package let lines: AsyncStream<LogEntry>
    /// Ends the stream after the lines that wait; any thread may call it.
    package let end: @Sendable () -> Void

    package init(_ lines: AsyncStream<LogEntry>, end: @escaping @Sendable () -> Void) {
        self.lines = lines
        self.end = end
    }
}
