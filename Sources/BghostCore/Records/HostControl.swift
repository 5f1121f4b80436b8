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

    /// Withdraws the pending request of a task.
    ///
    /// - Returns: `false` if there is none.
    func cancelPending(task: String) async -> Bool

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
