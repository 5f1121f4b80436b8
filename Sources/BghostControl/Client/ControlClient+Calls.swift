// SPDX-License-Identifier: Apache-2.0

package import BghostAPI
package import BghostBase
package import BghostModel
internal import BghostPolicy
internal import NIOCore
internal import NIOHTTP1

extension ControlClient {
    /// The version and the process of the daemon.
    package func version() async throws -> Answer<API.Version> {
        try await call(.GET, ControlPath("version"), Schema.version)
    }

    /// - Parameter tasks: the identifiers of the tasks to include; none for all that the daemon lists.
    package func status(of tasks: [String] = []) async throws -> Answer<HostStatus> {
        let path = tasks.reduce(ControlPath("status")) { $0.with("task", $1) }
        return try await call(.GET, path, Schema.status) { $0.status }
    }

    /// Throws if the daemon has no such task.
    package func requireTask(_ task: String) async throws {
        // The daemon checks the task in every query about it.
        _ = try await runs(task: task, limit: 1)
    }

    // MARK: - Requests

    /// Submits a request, which runs under the task's own conditions.
    ///
    /// - Parameter submission: its parameters must be JSON.
    package func submit(_ submission: Submission) async throws -> Answer<PendingRequest> {
        let body = APICoder.json(API.SubmitBody(submission))
        return try await call(.POST, ControlPath("submit"), body: body, Schema.request) {
            $0.request.request
        }
    }

    /// Requests a run now.
    ///
    /// - Parameter submission: its parameters must be JSON.
    package func trigger(_ submission: Submission) async throws -> Answer<PendingRequest> {
        let path = ControlPath("tasks", submission.task, "trigger")
        let body = APICoder.json(API.SubmitBody(submission))
        return try await call(.POST, path, body: body, Schema.request) { $0.request.request }
    }

    /// Waits for the end of a request's run, without a time limit, or until the calling task is cancelled.
    package func endedRun(ofRequest id: RunID) async throws -> Answer<RunRecord> {
        let path = ControlPath("requests", id.description, "run")
        return try await call(.GET, path, within: .hours(24 * 365), Schema.run) { $0.run.record }
    }

    // MARK: - Runs

    /// Expires the run whose id has this prefix, as if its runtime were used up.
    package func expire(run prefix: String) async throws -> Answer<API.CancelledRun> {
        try await call(.POST, ControlPath("runs", prefix, "expire"), Schema.expire)
    }

    /// The runs of one task, or of all tasks, the newest first.
    package func runs(task: String?, limit: Int?) async throws -> Answer<[RunRecord]> {
        let path = ControlPath("runs").with("task", task).with("limit", limit)
        return try await call(.GET, path, Schema.runs) { $0.runs.map(\.record) }
    }

    /// A page of runs, the newest first.
    ///
    /// - Parameter state: one of `RunFilter.State.words`.
    package func runs(
        _ question: RunQuestion,
        state: String?
    ) async throws -> Answer<API.RunList> {
        let (query, filter) = (question.query, question.query.filter)
        let path = ControlPath("runs").with("task", filter.task).with("plugin", filter.plugin)
            .with("outcome", state).with("since", question.since).with("until", question.until)
            .with("id", filter.idPrefix).with("text", filter.text).with("before", query.before)
            .with("after", query.after).with("limit", query.limit).with("tag", question.tag)
            .with("submitterRun", filter.submitterRun?.description)
        return try await call(.GET, path, Schema.runs)
    }

    /// A page of starts that did not happen, the latest due date first; the daemon checks the conditions.
    ///
    /// - Parameters:
    ///   - task: a task, or the beginning of tasks and `*`.
    ///   - what: a word of `SkippedStart.Kind`.
    ///   - cursor: `next` of the page before.
    package func skippedStarts(
        task: String?,
        plugin: String? = nil,
        what: String? = nil,
        since: String? = nil,
        until: String? = nil,
        cursor: String? = nil,
        limit: Int? = nil
    ) async throws -> Answer<API.StartList> {
        let path = ControlPath("starts").with("task", task).with("plugin", plugin)
            .with("what", what).with("since", since).with("until", until).with("cursor", cursor)
            .with("limit", limit)
        return try await call(.GET, path, Schema.starts)
    }

    /// A page of the sums of runs by task and day, the latest day first; the daemon checks the conditions.
    ///
    /// - Parameters:
    ///   - task: a task, or the beginning of tasks and `*`.
    ///   - cursor: `next` of the page before.
    package func runDays(
        task: String?,
        since: String? = nil,
        until: String? = nil,
        cursor: String? = nil,
        limit: Int? = nil
    ) async throws -> Answer<API.RunDays> {
        let path = ControlPath("days").with("task", task).with("since", since)
            .with("until", until).with("cursor", cursor).with("limit", limit)
        return try await call(.GET, path, Schema.days)
    }

    /// What happened to a task around a time of the past.
    package func past(task: String, at time: String) async throws -> Answer<API.Past> {
        try await call(.GET, ControlPath("past").with("task", task).with("at", time), Schema.past)
    }

    /// The run whose id has this prefix.
    package func run(_ prefix: String) async throws -> Answer<RunRecord> {
        try await call(.GET, ControlPath("runs", prefix), Schema.run) { $0.run.record }
    }
}
