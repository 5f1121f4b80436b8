// SPDX-License-Identifier: Apache-2.0

/// What the daemon offers to those who steer it.
///
/// The control API speaks to this and to nothing else of the host.
package protocol HostControl: Sendable {
    func status() async -> HostStatus

    /// Accepts a request once it is stored.
    func submit(_ submission: Submission) async throws(SubmitError) -> PendingRequest

    /// Starts a run of a task now, past its begin date, as `_simulateLaunchForTaskWithIdentifier`
    /// does. Slots and overlap still hold, so it may wait for them.
    ///
    /// - Returns: the request, whose run `waitForRun` finds.
    func trigger(_ submission: Submission) async throws(SubmitError) -> PendingRequest

    /// Waits until the request's run has ended, and returns its record; `nil` if the request ends
    /// without a run (withdrawn or replaced) or there is none of this id.
    func waitForRun(ofRequest id: RunID) async -> RunRecord?

    /// Tells a run that its runtime is used up, as `_simulateExpirationForTaskWithIdentifier` does.
    ///
    /// - Returns: `false` if no such run is under way.
    func expire(run: RunID) async -> Bool

    /// Asks a run to stop and not to be repeated; it has its grace for it.
    ///
    /// - Returns: `false` if no such run is under way.
    func stop(run: RunID) async -> Bool

    /// All that waits for a run, retries and what was triggered included; of one task, or of all.
    func pending(task: String?, limit: Int) async -> PendingList

    /// Why a task does not run, or why a request does not.
    ///
    /// - Parameter id: a task's identifier or a family's pattern; else the id of a request or the
    ///   beginning of it.
    func explain(_ id: String) async throws(OperatorRefusal) -> TaskExplanation

    /// Has a requirement be what somebody says, as in `network=off`, until the daemon's end.
    ///
    /// - Returns: all that is simulated then.
    func simulate(fact: String) async throws(OperatorRefusal) -> SimulationStatus

    /// Moves the daemon's wall clock until its end; limits of runs do not go by it.
    ///
    /// - Returns: all that is simulated then.
    func simulate(clock: SimulatedClock) async throws(OperatorRefusal) -> SimulationStatus

    /// Withdraws all that waits for a run, of one task or of all, and answers once that is stored.
    ///
    /// - Returns: what was withdrawn.
    func cancelPending(task: String?) async throws(OperatorRefusal) -> [PendingRequest]

    /// Requests that are tried no more, the newest first.
    func deadLetters(task: String?, limit: Int) async -> [DeadLetter]

    /// Has dead requests wait for a run again, with none of their failures counted.
    func redrive(_ choice: DeadLetterChoice) async throws(OperatorRefusal) -> DeadLetterChange

    /// Gives dead requests up.
    func discard(_ choice: DeadLetterChoice) async throws(OperatorRefusal) -> DeadLetterChange

    /// What one task owes, or each that owes something, by their names.
    func throttles(task: String?) async -> [ThrottleStatus]

    /// Forgives what a task owes.
    ///
    /// - Returns: what it owed.
    func forgive(task: String) async throws(OperatorRefusal) -> ThrottleStatus

    /// What has been learned of when a task's results are used, or of each that learns it.
    func uses(task: String?) async -> [UseStatus]

    /// What a task refreshes is being used now.
    func use(task: String) async throws(OperatorRefusal) -> UseStatus

    /// Forgets when a task was used.
    func forgetUses(task: String) async throws(OperatorRefusal) -> UseStatus

    /// Takes no further requests for a plugin's tasks and begins none of those that wait, until it
    /// is switched on again; restarts do not change that.
    ///
    /// - Parameter stopsRuns: whether its runs under way are asked to stop, too.
    func disable(
        plugin: String,
        reason: String,
        stopsRuns: Bool
    ) async throws(OperatorRefusal) -> PluginSwitch

    /// Takes back `disable`.
    func enable(plugin: String) async throws(OperatorRefusal) -> PluginSwitch

    /// Writes a copy of all that is stored, which a daemon can start from.
    ///
    /// - Parameter path: absolute; there must be no such file.
    /// - Returns: the size of the copy, bytes.
    func backUp(to path: String) async throws(OperatorRefusal) -> UInt64

    /// Reads the manifest anew and puts it in the place of the one that is in force.
    ///
    /// All of it or nothing: a manifest that is refused changes nothing.
    func reload() async throws(OperatorRefusal) -> ReloadReport

    /// All transfers that have not been dealt with, the oldest first.
    func transfers() async -> [TransferView]

    /// Ends the transfer whose id begins like this.
    func cancelTransfer(_ prefix: String) async throws(OperatorRefusal) -> TransferView

    /// Tries a transfer again now that would be tried again later.
    func retryTransfer(_ prefix: String) async throws(OperatorRefusal) -> TransferView

    /// The newest runs first.
    func runs(task: String?, limit: Int) async -> [RunRecord]

    /// The runs whose ids begin with these characters, the newest first, at most `limit`.
    func runs(idPrefix: String, limit: Int) async -> [RunRecord]

    /// What the log still holds, oldest first.
    func logs(matching filter: LogFilter, limit: Int) async -> [LogEntry]

    /// The same, and then each new line as it comes, until the consumer stops.
    func followLogs(matching filter: LogFilter, limit: Int) async -> AsyncStream<LogEntry>
}

/// Which lines of the log are wanted.
///
/// `nil` is no condition.
package struct LogFilter: Equatable, Sendable {
    package var task: String?
    package var run: RunID?
    package var plugin: String?
    package var level: LogEntry.Level

    package init(
        task: String? = nil,
        run: RunID? = nil,
        plugin: String? = nil,
        level: LogEntry.Level = .trace
    ) {
        self.task = task
        self.run = run
        self.plugin = plugin
        self.level = level
    }

    /// Whether a line is wanted.
    package func matches(_ entry: LogEntry) -> Bool {
        entry.level >= level && (task == nil || entry.task == task)
            && (run == nil || entry.run == run) && (plugin == nil || entry.plugin == plugin)
    }
}
