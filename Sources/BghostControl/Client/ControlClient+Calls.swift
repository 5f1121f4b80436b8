// SPDX-License-Identifier: Apache-2.0

package import BghostAPI
package import BghostBase
package import BghostModel
package import BghostPolicy
internal import NIOCore
internal import NIOHTTP1

extension ControlClient {
    /// The version and the process of the daemon.
    struct DaemonVersion: Equatable, Sendable {
        var version: String
        var pid: Int32
    }

    func version() async throws -> Answer<DaemonVersion> {
        try await call(.GET, ControlPath("version")) { json in
            guard let version = json["version"]?.string,
                let pid = json["pid"]?.int64.flatMap(Int32.init(exactly:))
            else { return nil }
            return DaemonVersion(version: version, pid: pid)
        }
    }

    /// - Parameter tasks: the identifiers of the tasks to include; none for all that the daemon lists.
    package func status(of tasks: [String] = []) async throws -> Answer<HostStatus> {
        let path = tasks.reduce(ControlPath("status")) { $0.with("task", $1) }
        return try await call(.GET, path, read: HostStatus.init(json:))
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
        try await call(.POST, ControlPath("submit"), body: Self.body(submission)) {
            $0["request"].flatMap(PendingRequest.init(json:))
        }
    }

    /// Requests a run now.
    ///
    /// - Parameter submission: its parameters must be JSON.
    package func trigger(_ submission: Submission) async throws -> Answer<PendingRequest> {
        let path = ControlPath("tasks", submission.task, "trigger")
        return try await call(.POST, path, body: Self.body(submission)) {
            $0["request"].flatMap(PendingRequest.init(json:))
        }
    }

    /// Waits for the end of a request's run, without a time limit, or until the calling task is cancelled.
    package func endedRun(ofRequest id: RunID) async throws -> Answer<RunRecord> {
        let path = ControlPath("requests", id.description, "run")
        return try await call(.GET, path, within: .hours(24 * 365)) {
            $0["run"].flatMap(RunRecord.init(json:))
        }
    }

    // MARK: - Runs

    /// A run that was cancelled.
    package struct Expiring: Equatable, Sendable {
        package var run: RunID
        package var task: String
        package var grace: Duration

        init?(json: JSONNode) {
            guard let run = json.runID("run"), let task = json["task"]?.string,
                let grace = json.duration("graceSeconds")
            else { return nil }
            self.run = run
            self.task = task
            self.grace = grace
        }
    }

    /// Expires the run whose id has this prefix, as if its runtime were used up.
    package func expire(run prefix: String) async throws -> Answer<Expiring> {
        try await call(.POST, ControlPath("runs", prefix, "expire"), read: Expiring.init(json:))
    }

    /// The runs of one task, or of all tasks, the newest first.
    package func runs(task: String?, limit: Int?) async throws -> Answer<[RunRecord]> {
        let path = ControlPath("runs").with("task", task).with("limit", limit)
        return try await call(.GET, path) {
            $0["runs"]?.array.map { $0.compactMap(RunRecord.init(json:)) }
        }
    }

    /// The run whose id has this prefix.
    package func run(_ prefix: String) async throws -> Answer<RunRecord> {
        try await call(.GET, ControlPath("runs", prefix)) {
            $0["run"].flatMap(RunRecord.init(json:))
        }
    }

    private static func body(_ submission: Submission) -> [UInt8] {
        var writer = JSONWriter()
        writer.value(submission)
        return writer.bytes
    }
}
