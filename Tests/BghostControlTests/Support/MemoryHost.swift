// SPDX-License-Identifier: Apache-2.0

import BghostCore
import BghostTestSupport

/// A host that keeps its tasks in memory and ends runs when a test says so.
actor MemoryHost: HostControl {
    /// What tests wait for.
    enum Event: Equatable, Sendable {
        case waiting(RunID)
        case following
        case followerGone
    }

    nonisolated let events: AsyncStream<Event>
    private let happened: AsyncStream<Event>.Continuation
    private var ids = RunIDSource()
    private var clock: Int64 = 1_700_000_000_000_000_000
    private var tasks: [String]
    private var pending: [String: PendingRequest] = [:]
    private var records: [RunRecord] = []
    private var waiters: [RunID: [CheckedContinuation<RunRecord?, Never>]] = [:]
    private var log: [LogEntry] = []
    private var followers: [Int: (filter: LogFilter, lines: AsyncStream<LogEntry>.Continuation)] =
        [:]
    private var followerSerial = 0
    private var endsAtOnce: Outcome?

    /// - Parameter endsAtOnce: how a triggered run ends, at once; `nil` leaves it under way.
    init(tasks: [String] = ["com.acme.storm", "com.acme.photos"], endsAtOnce: Outcome? = nil) {
        self.tasks = tasks
        self.endsAtOnce = endsAtOnce
        (events, happened) = AsyncStream.makeStream()
    }

    private func tick() -> Int64 {
        clock += 1_000_000_000
        return clock
    }

    private func id() -> RunID {
        ids.next(unixMilliseconds: UInt64(tick() / 1_000_000), random: { 0x1234_5678_9ABC_DEF0 })
    }

    // MARK: - What tests do

    /// Begins a run that stays under way.
    @discardableResult
    func begin(_ task: String, request: RunID? = nil) -> RunRecord {
        let id = id()
        let record = RunRecord(
            id: id,
            request: request ?? id,
            task: task,
            plugin: "storm",
            state: .running,
            limits: RunLimits(runtime: .seconds(25), grace: .seconds(5)),
            pid: 4711,
            submittedAt: clock,
            startedAt: clock
        )
        records.append(record)
        return record
    }

    /// Ends a run.
    @discardableResult
    func end(
        _ id: RunID,
        _ outcome: Outcome,
        message: String = "",
        result: String = ""
    ) -> RunRecord? {
        guard let index = records.firstIndex(where: { $0.id == id }) else { return nil }
        records[index].state = .ended
        records[index].outcome = outcome
        records[index].message = message
        records[index].result = result
        records[index].endedAt = tick()
        records[index].duration = .milliseconds(1250)
        records[index].usage = RunUsage(
            cpu: .milliseconds(20),
            peakMemoryBytes: 8 << 20,
            outputBytes: 42
        )
        let record = records[index]
        waiters.removeValue(forKey: record.request)?.forEach { $0.resume(returning: record) }
        return record
    }

    /// Ends the run of a request.
    func end(request: RunID, _ outcome: Outcome) {
        guard let run = records.first(where: { $0.request == request }) else { return }
        end(run.id, outcome)
    }

    /// Writes a line into the log.
    func say(
        _ message: String,
        task: String? = nil,
        run: RunID? = nil,
        level: LogEntry.Level = .info
    ) {
        let entry = LogEntry(
            sequence: UInt64(log.count + 1),
            time: tick(),
            level: level,
            source: .handler,
            event: "",
            message: message,
            task: task,
            plugin: "storm",
            run: run
        )
        log.append(entry)
        for follower in followers.values where follower.filter.matches(entry) {
            follower.lines.yield(entry)
        }
    }

    // MARK: - HostControl

    func status() -> HostStatus {
        HostStatus(
            version: BghostVersion.text,
            pid: 4242,
            startedAt: 1_700_000_000_000_000_000,
            manifest: "/etc/bghost/tasks.json",
            slots: 4,
            isDraining: false,
            tasks: tasks.map { task in
                TaskStatus(
                    identifier: task,
                    plugin: "storm",
                    kind: .refresh,
                    running: records.filter { $0.task == task && $0.state != .ended },
                    pending: pending[task],
                    last: records.last { $0.task == task && $0.state == .ended }
                )
            },
            plugins: [
                PluginStatus(
                    name: "storm",
                    library: "libStorm.so",
                    isolation: .worker,
                    workers: [4711]
                )
            ]
        )
    }

    func submit(_ submission: Submission) throws(SubmitError) -> PendingRequest {
        guard tasks.contains(submission.task) else {
            throw SubmitError(.notPermitted, "`\(submission.task)` is not in the manifest")
        }
        let request = PendingRequest(
            id: id(),
            task: submission.task,
            submittedAt: clock,
            earliestBegin: submission.earliestBegin,
            priority: submission.priority ?? 500,
            parameters: submission.parameters,
            waitingFor: ["all slots are busy"]
        )
        pending[submission.task] = request
        return request
    }

    func trigger(_ submission: Submission) throws(SubmitError) -> PendingRequest {
        guard submission.task != "com.acme.draining" else {
            throw SubmitError(.unavailable, "the daemon is about to stop")
        }
        guard tasks.contains(submission.task) else {
            throw SubmitError(.notPermitted, "`\(submission.task)` is not in the manifest")
        }
        let request = PendingRequest(
            id: id(),
            task: submission.task,
            submittedAt: clock,
            parameters: submission.parameters
        )
        let run = begin(submission.task, request: request.id)
        if let endsAtOnce {
            end(run.id, endsAtOnce, message: "said so", result: #"{"codes":[95]}"#)
        }
        return request
    }

    func waitForRun(ofRequest id: RunID) async -> RunRecord? {
        guard let record = records.first(where: { $0.request == id }) else { return nil }
        if record.state == .ended { return record }
        happened.yield(.waiting(id))
        return await withCheckedContinuation { waiters[id, default: []].append($0) }
    }

    func expire(run: RunID) -> Bool {
        guard let index = records.firstIndex(where: { $0.id == run && $0.state == .running }) else {
            return false
        }
        records[index].state = .cancelling
        records[index].stopReason = .user
        return true
    }

    func cancelPending(task: String) -> Bool { pending.removeValue(forKey: task) != nil }

    func runs(task: String?, limit: Int) -> [RunRecord] {
        Array(records.reversed().filter { task == nil || $0.task == task }.prefix(limit))
    }

    func runs(idPrefix: String, limit: Int) -> [RunRecord] {
        Array(records.reversed().filter { $0.id.description.hasPrefix(idPrefix) }.prefix(limit))
    }

    func logs(matching filter: LogFilter, limit: Int) -> [LogEntry] {
        log.filter(filter.matches).suffix(limit)
    }

    func followLogs(matching filter: LogFilter, limit: Int) -> AsyncStream<LogEntry> {
        let (lines, continuation) = AsyncStream<LogEntry>.makeStream()
        logs(matching: filter, limit: limit).forEach { continuation.yield($0) }
        followerSerial += 1
        let serial = followerSerial
        followers[serial] = (filter, continuation)
        continuation.onTermination = { [happened] _ in
            happened.yield(.followerGone)
        }
        happened.yield(.following)
        return lines
    }
}
