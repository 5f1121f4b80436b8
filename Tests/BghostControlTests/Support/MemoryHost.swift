// SPDX-License-Identifier: Apache-2.0

@testable import BghostAPI
import BghostBase
import BghostMetrics
import BghostModel
import BghostPolicy
import BghostTestSupport

/// What a host answers to the control API, as a test says.
///
/// The real host takes its place in `IntegrationTests`. It cannot in tests of the server, the client and the
/// commands: they need records of any content (texts with control characters, times and figures to the digit,
/// refusals that take a full disk), answers that come when the test says so, and no plugin. So this decides as
/// little as it can: it keeps what tests and clients give it, and answers with it.
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
    var tasks: [String]
    /// The tags of tasks.
    var tags: [String: [String]] = [:]
    /// The submissions and manual runs that were asked for.
    private(set) var asked: [Submission] = []
    var pending: [String: PendingRequest] = [:]
    private var records: [RunRecord] = []
    var skipped: [SkippedStart] = []
    private var waiters: [RunID: [CheckedContinuation<RunRecord?, Never>]] = [:]
    private var log: [LogEntry] = []
    private var followers: [Int: (filter: LogFilter, lines: AsyncStream<LogEntry>.Continuation)] =
        [:]
    private var followerSerial = 0
    private var endsAtOnce: Outcome?
    var dead: [DeadLetter] = []
    var checkpoints: [CheckpointSummary] = []
    var checkpointQuestions: [CheckpointQuestion] = []
    /// What clients have asked for pages.
    var pendingQuestions: [PendingQuestion] = []
    var deadLetterQuestions: [DeadLetterQuestion] = []
    var startQuestions: [StartQuestion] = []
    var planQuestions: [PlanQuestion] = []
    var days: [RunDay] = []
    var dayQuestions: [RunDayQuestion] = []
    /// The dead letters that clients have asked to change.
    var choices: [DeadLetterChoice] = []
    var expectations: [Int?] = []
    /// What is answered to that, in this order; then nothing has changed.
    var changes: [Result<DeadLetterChange, OperatorRefusal>] = []
    var throttled: [String: ThrottleStatus] = [:]
    var audited: [AuditEntry] = []
    var alertReport = AlertReport()
    /// What is answered to a test of the alerts.
    var alertTests: Result<[AlertTest], OperatorRefusal> = .success([])
    var refusesRows = false
    /// What is answered to questions about uses, by the only tasks that learn.
    var learned: [String: UseStatus] = ["com.acme.storm": UseStatus(task: "com.acme.storm")]
    var switchedOff: String?
    /// The bounds of the drains that were asked for.
    var drains: [Duration?] = []
    var members = APISamples.fleet
    var paused: [Pause] = []
    var orders: [PauseOrder] = []
    var quarantine: Quarantine?
    var idleEnds: IdleWorkerEnds?
    /// What is answered to a backup; by default its file exists.
    var backup: (path: String, bytes: UInt64)?
    /// What is answered to why, by id.
    var explanations: [String: TaskExplanation] = [:]
    var simulation = SimulationStatus()
    /// What is answered to a reload.
    var reloaded: Result<ReloadReport, OperatorRefusal> = .success(ReloadReport())
    var views: [TransferView] = []

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

    func reload() throws(OperatorRefusal) -> ReloadReport { try reloaded.get() }

    func dryReload() throws(OperatorRefusal) -> ReloadReport {
        var report = try reloaded.get()
        report.dryRun = true
        return report
    }

    func answerReload(_ answer: Result<ReloadReport, OperatorRefusal>) { reloaded = answer }

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

    func set(_ quarantine: Quarantine) { self.quarantine = quarantine }

    func set(_ ends: IdleWorkerEnds) { idleEnds = ends }

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
                    last: records.last { $0.task == task && $0.state == .ended },
                    tags: tags[task] ?? []
                )
            },
            plugins: [
                PluginStatus(
                    name: "storm",
                    library: "libStorm.so",
                    isolation: .worker,
                    workers: [4_711_000],  // Greater than the number of any process.
                    switchedOff: switchedOff,
                    quarantine: quarantine,
                    idleEnds: idleEnds
                )
            ],
            simulation: simulation
        )
    }

    /// What is answered to the question whether it is ready.
    var isReady = ReadinessReport()
    /// Whether questions about the health are never answered.
    var isHanging = false
    /// What is answered to the question of its health.
    var checks: [HealthReport.Check] = []

    func set(ready: ReadinessReport) { isReady = ready }

    func set(checks: [HealthReport.Check]) { self.checks = checks }

    func hang() { isHanging = true }

    func readiness() async -> ReadinessReport {
        if isHanging { try? await untilCancelled() }
        return isReady
    }

    func health() -> HealthReport { HealthReport(checks: checks) }

    func metrics() -> MetricsSnapshot { APISamples.metricsSnapshot }

    func status(of tasks: [String]) throws(OperatorRefusal) -> HostStatus {
        for task in tasks { try requireTask(task) }
        return status().selecting(Set(tasks))
    }

    func requireTask(_ task: String) throws(OperatorRefusal) {
        guard !tasks.contains(task) else { return }
        throw .noSuchTask(task, nearest: Spelling.nearest(to: task, among: tasks))
    }

    func submit(_ submission: Submission) throws(SubmitError) -> PendingRequest {
        asked.append(submission)
        guard tasks.contains(submission.task) else {
            throw SubmitError(.notPermitted, "`\(submission.task)` is not in the manifest")
        }
        if submission.onConflict == .keep, var kept = pending[submission.task] {
            kept.isKept = true
            return kept
        }
        if let latest = submission.latestBegin, latest < clock {
            throw SubmitError(.pastLatestBegin, "the latest begin date is over")
        }
        let request = PendingRequest(
            id: id(),
            task: submission.task,
            submittedAt: clock,
            earliestBegin: submission.earliestBegin,
            latestBegin: submission.latestBegin,
            tolerance: submission.tolerance ?? 0,
            priority: submission.priority ?? 500,
            parameters: submission.parameters,
            waitingFor: ["all slots are busy"]
        )
        pending[submission.task] = request
        return request
    }

    func trigger(_ submission: Submission) throws(SubmitError) -> PendingRequest {
        asked.append(submission)
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

    func stop(run: RunID) -> Bool { expire(run: run) }

    func runs(task: String?, limit: Int) -> [RunRecord] {
        Array(records.reversed().filter { task == nil || $0.task == task }.prefix(limit))
    }

    func runs(_ question: RunQuestion) throws(OperatorRefusal) -> RunPage {
        var filter = question.query.filter
        func time(_ text: String?) throws(OperatorRefusal) -> Int64? {
            guard let text else { return nil }
            guard let time = Timestamp.unixNanoseconds(text) else {
                throw OperatorRefusal(.badTime, "`\(text)` is no time", fix: "give a date")
            }
            return time
        }
        filter.since = try time(question.since)
        filter.until = try time(question.until)
        let found = records.enumerated().reversed().filter { number, record in
            filter.matches(record, now: .max)
                && number + 1 < question.query.before ?? .max
                && number + 1 > question.query.after ?? .min
        }
        let shown = found.prefix(question.query.limit)
        return RunPage(
            entries: shown.map { .init($0.element, number: Int64($0.offset + 1)) },
            next: shown.count < found.count ? shown.last.map { Int64($0.offset + 1) } : nil,
            newest: Int64(records.count)
        )
    }

    func runs(idPrefix: String, limit: Int) -> [RunRecord] {
        Array(records.reversed().filter { $0.id.description.hasPrefix(idPrefix) }.prefix(limit))
    }

    func output(ofRun id: RunID) -> String {
        records.first { $0.id == id }?.details?.output ?? ""
    }

    func checkpoint(ofRequest id: RunID) -> CheckpointSummary? {
        checkpoints.first { $0.request == id }
    }

    func logs(matching filter: LogFilter, limit: Int) -> [LogEntry] {
        log.filter(filter.matches).suffix(limit)
    }

    func searchLogs(_ question: LogQuestion) throws(OperatorRefusal) -> LogPage {
        if question.since == "soon" {
            throw OperatorRefusal(.badTime, "`soon` is no time for `since`", fix: "give a date")
        }
        var filter = question.filter
        filter.since = question.since.flatMap { Timestamp.unixNanoseconds($0) }
        filter.until = question.until.flatMap { Timestamp.unixNanoseconds($0) }
        let found = log.filter { entry in
            (question.before.map { entry.sequence < $0.sequence } ?? true) && filter.matches(entry)
        }
        let shown = Array(found.suffix(question.limit))
        return LogPage(
            entries: shown,
            next: shown.count < found.count
                ? shown.first.map { LogPosition(sequence: $0.sequence) } : nil
        )
    }

    func followLogs(matching filter: LogFilter, limit: Int) -> FollowedLog {
        let (lines, continuation) = AsyncStream<LogEntry>.makeStream()
        logs(matching: filter, limit: limit).forEach { continuation.yield($0) }
        followerSerial += 1
        let serial = followerSerial
        followers[serial] = (filter, continuation)
        continuation.onTermination = { [happened] _ in
            happened.yield(.followerGone)
        }
        happened.yield(.following)
        return FollowedLog(lines) { continuation.finish() }
    }
}

/// The verbs of an operator.
extension MemoryHost {
}
