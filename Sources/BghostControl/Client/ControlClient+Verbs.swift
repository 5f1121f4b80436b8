// SPDX-License-Identifier: Apache-2.0

package import BghostAPI
internal import BghostBase
package import BghostModel
internal import NIOCore
internal import NIOHTTP1

extension ControlClient {
    /// A page of the waiting requests; the daemon checks the conditions.
    ///
    /// - Parameters:
    ///   - task: a task, or the beginning of tasks and `*`.
    ///   - cursor: `next` of the page before.
    package func pending(
        task: String?,
        plugin: String? = nil,
        submitter: String? = nil,
        tag: String? = nil,
        cursor: String? = nil,
        limit: Int? = nil
    ) async throws -> Answer<PendingList> {
        let path = ControlPath("pending").with("task", task).with("plugin", plugin)
            .with("submitter", submitter).with("tag", tag).with("cursor", cursor)
            .with("limit", limit)
        return try await call(.GET, path, Schema.pending) { answer in
            PendingList(
                requests: answer.requests.map(\.request),
                total: answer.total,
                next: answer.next
            )
        }
    }

    /// The withdrawn requests.
    package struct Cancelled: Equatable, Sendable {
        package var count: Int
        /// At most as many as one response can contain.
        package var requests: [PendingRequest]
    }

    /// Withdraws all waiting requests of one task, or of all tasks.
    ///
    /// - Parameter expected: withdraws nothing unless so many wait; `nil`: any number.
    package func cancelPending(
        task: String?,
        expected: Int? = nil
    ) async throws -> Answer<Cancelled> {
        try await cancel(
            task.map { ControlPath("tasks", $0, "pending") } ?? ControlPath("pending"),
            expected
        )
    }

    /// Withdraws all waiting requests of the tasks with a tag.
    package func cancelPending(
        tag: String,
        expected: Int? = nil
    ) async throws -> Answer<Cancelled> {
        try await cancel(ControlPath("tags", tag, "pending"), expected)
    }

    private func cancel(_ path: ControlPath, _ expected: Int?) async throws -> Answer<Cancelled> {
        try await call(.DELETE, path.with("expected", expected), Schema.cancel) { answer in
            let requests = answer.requests.map(\.request)
            return Cancelled(count: answer.count ?? requests.count, requests: requests)
        }
    }

    /// Cancels the run whose id has this prefix; it is not retried.
    package func stop(run prefix: String) async throws -> Answer<API.CancelledRun> {
        try await call(.POST, ControlPath("runs", prefix, "stop"), Schema.stop)
    }

    /// Cancels the runs that are under way of one task, or of the tasks with a tag.
    ///
    /// It asks for the runs first and then stops each: a run that starts meanwhile is not stopped.
    ///
    /// - Parameters:
    ///   - task: `nil` for all tasks with the tag.
    ///   - tag: `nil` for all runs of the task.
    /// - Returns: the runs that were stopped; those that ended meanwhile are not among them.
    package func stopRuns(task: String?, tag: String?) async throws -> [API.CancelledRun] {
        var underWay: [String] = []
        var before: Int64?
        repeat {
            let query = RunQuery(
                RunFilter(task: task),
                before: before,
                limit: ControlLimits.runsMax
            )
            let page = try await runs(RunQuestion(query, tag: tag), state: "running").value
            underWay += page.runs.map { $0.id.description }
            before = page.next
        } while before != nil
        var stopped: [API.CancelledRun] = []
        for run in underWay {
            do {
                stopped.append(try await stop(run: run).value)
            } catch let fault as ControlFault where fault.code == .runNotUnderWay {
                continue
            }
        }
        return stopped
    }

    // MARK: - Dead letters

    /// A page of dead letters.
    package struct DeadLetters: Equatable, Sendable {
        /// The newest first.
        package var letters: [DeadLetter]
        /// The cursor of the next page; `nil` if there is none.
        package var next: String?
    }

    /// A page of dead letters, the newest first; the daemon checks the conditions.
    ///
    /// - Parameters:
    ///   - task: a task, or the beginning of tasks and `*`.
    ///   - cursor: `next` of the page before.
    package func deadLetters(
        task: String?,
        plugin: String? = nil,
        since: String? = nil,
        until: String? = nil,
        cursor: String? = nil,
        limit: Int? = nil
    ) async throws -> Answer<DeadLetters> {
        let path = ControlPath("dead").with("task", task).with("plugin", plugin)
            .with("since", since).with("until", until).with("cursor", cursor).with("limit", limit)
        return try await call(.GET, path, Schema.dead) {
            DeadLetters(letters: $0.deadLetters.map(\.letter), next: $0.next)
        }
    }

    /// Makes dead requests pending again.
    ///
    /// - Parameter expected: changes nothing unless there are so many; `nil`: any number.
    package func redrive(
        _ choice: DeadLetterChoice,
        expected: Int? = nil
    ) async throws -> Answer<DeadLetterChange> {
        let path = ControlPath("dead", "redrive").with(choice).with("expected", expected)
        return try await call(.POST, path, Schema.redrive)
    }

    /// Deletes dead requests.
    ///
    /// - Parameter expected: changes nothing unless there are so many; `nil`: any number.
    package func discard(
        _ choice: DeadLetterChoice,
        expected: Int? = nil
    ) async throws -> Answer<DeadLetterChange> {
        let path = ControlPath("dead", "discard").with(choice).with("expected", expected)
        return try await call(.POST, path, Schema.discard)
    }

    // MARK: - Checkpoints

    /// A page of checkpoints.
    package struct Checkpoints: Equatable, Sendable {
        /// Those of the newest requests first.
        package var checkpoints: [CheckpointSummary]
        /// The cursor of the next page; `nil` if there is none.
        package var next: String?
    }

    /// A page of the checkpoints; the daemon checks the conditions.
    ///
    /// - Parameters:
    ///   - task: a task, or the beginning of tasks and `*`.
    ///   - plugin: the plugin whose handler saved them.
    ///   - cursor: `next` of the page before.
    package func checkpoints(
        task: String? = nil,
        plugin: String? = nil,
        cursor: String? = nil,
        limit: Int? = nil
    ) async throws -> Answer<Checkpoints> {
        let path = ControlPath("checkpoints").with("task", task).with("plugin", plugin)
            .with("cursor", cursor).with("limit", limit)
        return try await call(.GET, path, Schema.checkpoints) {
            Checkpoints(checkpoints: $0.checkpoints.map(\.summary), next: $0.next)
        }
    }

    /// Deletes the checkpoint of the request whose id has this prefix.
    package func deleteCheckpoint(
        ofRequest prefix: String
    ) async throws -> Answer<API.DeletedCheckpoint> {
        try await call(
            .DELETE,
            ControlPath("requests", prefix, "checkpoint"),
            Schema.checkpointDelete
        )
    }

    // MARK: - Throttling

    /// The throttle points of one task, or of all tasks that have points.
    package func throttles(task: String?) async throws -> Answer<[ThrottleStatus]> {
        try await call(.GET, ControlPath("throttle").with("task", task), Schema.throttle) {
            $0.tasks
        }
    }

    /// Clears the throttle points of a task.
    ///
    /// - Returns: the points before.
    package func clearThrottle(task: String) async throws -> Answer<Int> {
        try await call(.DELETE, ControlPath("tasks", task, "throttle"), Schema.throttleClear) {
            $0.points
        }
    }

    // MARK: - Uses

    /// The learned uses of one task, or of all tasks that learn their uses.
    package func uses(task: String?) async throws -> Answer<[UseStatus]> {
        try await call(.GET, ControlPath("uses").with("task", task), Schema.uses) { $0.tasks }
    }

    /// Records a use of a task's results.
    package func use(task: String) async throws -> Answer<UseStatus> {
        try await call(.POST, ControlPath("tasks", task, "uses"), Schema.use)
    }

    /// Deletes the learned uses of a task.
    package func forgetUses(task: String) async throws -> Answer<UseStatus> {
        try await call(.DELETE, ControlPath("tasks", task, "uses"), Schema.use)
    }

    // MARK: - Plugins

    /// Disables a plugin.
    package func disable(
        plugin: String,
        reason: String = "",
        stopsRuns: Bool = false
    ) async throws -> Answer<PluginSwitch> {
        let path = ControlPath("plugins", plugin, "disable")
            .with("reason", reason.isEmpty ? nil : reason).with("stop", stopsRuns ? true : nil)
        return try await call(.POST, path, Schema.pluginSwitch)
    }

    /// Enables a plugin.
    package func enable(plugin: String) async throws -> Answer<PluginSwitch> {
        try await call(.POST, ControlPath("plugins", plugin, "enable"), Schema.pluginSwitch)
    }

    // MARK: - Backups

    /// Makes the daemon write a copy of its state.
    ///
    /// - Parameters:
    ///   - path: an absolute path on the daemon's machine, where nothing must be.
    ///   - includesData: whether the data directories of plugins are copied, too.
    package func backUp(to path: String, includesData: Bool) async throws -> Answer<API.Backup> {
        let path = ControlPath("backup").with("folder", path).with("data", includesData)
        // A store with millions of requests takes long.
        return try await call(.POST, path, within: .hours(24), Schema.backup) { $0 }
    }
}

extension ControlPath {
    fileprivate func with(_ choice: DeadLetterChoice) -> ControlPath {
        switch choice {
        case .request(let prefix): with("request", prefix)
        case .task(let task): with("task", task)
        case .all: with("all", true)
        }
    }
}
