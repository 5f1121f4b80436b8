// SPDX-License-Identifier: Apache-2.0

@testable import BghostAPI
import BghostBase
import BghostFacts
import BghostMetrics
import BghostModel
import BghostNotify
import BghostPolicy

/// Values of the types of the API, with all of their parts and with none.
enum APISamples {
    private static let time: Int64 = 1_795_278_660_123_000_000

    private static func id(_ number: UInt64) -> RunID { RunID(high: 7, low: number) }

    // MARK: - Metrics

    static let metricsSnapshot = MetricsSnapshot(
        version: "1.2.3",
        startedAt: time,
        slots: 4,
        slotsInUse: 1,
        pendingRequests: 2,
        deadLetters: 0,
        statistics: RunStatistics(),
        plugins: [.init(name: "backup", state: .ready, workers: [4321])]
    )

    static var metrics: String {
        let text = metricsSnapshot.text(.prometheus).split(separator: "\n")
        return text.prefix(12).joined(separator: "\n") + "\n…"
    }

    // MARK: - Runs and requests

    static let bareRun = RunRecord(
        id: id(1),
        request: id(2),
        task: "t",
        plugin: "p",
        limits: RunLimits(kind: .processing),
        submittedAt: 0
    )

    static let checkpoint = CheckpointSummary(
        request: id(4),
        task: "com.acme.storm",
        plugin: "storm",
        run: id(3),
        epoch: .max,
        attempt: 2,
        savedAt: time,
        length: 1234
    )

    static let fullRun = RunRecord(
        id: id(3),
        request: id(4),
        task: "com.acme.storm",
        plugin: "storm",
        attempt: 2,
        epoch: .max,
        state: .ended,
        outcome: .killed(.protocolFault(7)),
        stopReason: .expired,
        message: "line \"1\"\n\u{1B}[2J\u{7F}/",
        result: #"{"codes":[95,96.50]}"#,
        progress: RunProgress(done: 3, total: .max, phase: "upload"),
        limits: RunLimits(runtime: .seconds(25), grace: .milliseconds(500)),
        pid: 4711,
        submittedAt: time,
        startedAt: time,
        endedAt: time,
        duration: .milliseconds(3250),
        usage: RunUsage(cpu: .microseconds(1200), peakMemoryBytes: .max, outputBytes: 42),
        kind: .refresh,
        origin: RunOrigin(version: "1.2", library: "ab", manifest: "cd"),
        details: RunDetails(
            crash: CrashReport(
                line: "Fatal error: no",
                place: "libstorm.so+0x10 (rain+0x2)",
                address: "0x0",
                stacks: [CrashReport.ThreadStack(thread: "main 7", frames: ["a", "b"])]
            ),
            error: RunError(type: "Storm.RainError", file: "Storm/Rain.swift", line: 7),
            output: "one\n",
            checkpoint: checkpoint
        ),
        trace: RunTrace(
            context: TraceContext(traceHigh: 1, traceLow: 2, span: 3, flags: 1, state: "a=1"),
            parent: 5,
            since: time
        ),
        submitterRun: id(6)
    )

    static let runs = [bareRun, fullRun]

    /// An object with `depth` levels of objects and arrays.
    static func json(depth: Int) -> String {
        #"{"a":"# + String(repeating: "[", count: depth - 1)
            + String(repeating: "]", count: depth - 1) + "}"
    }

    static let plainRequest = PendingRequest(id: id(1), task: "t", submittedAt: time)

    static let fullRequest: PendingRequest = {
        var request = PendingRequest(
            id: id(1),
            task: "t",
            submittedAt: time,
            earliestBegin: time,
            latestBegin: time,
            tolerance: 1_500_000_000,
            priority: 7,
            parameters: #"{"b":1,"a":[{}]}"#,
            isManual: true,
            submitter: .run(id(9)),
            counters: AttemptCounters(failures: 1, losses: 2, interruptions: 3),
            waitingFor: ["waiting for a slot (3 of 3 in use)"],
            outlook: StartOutlook(earliest: nil, isCertain: false, needsAttention: true)
        )
        request.isKept = true
        return request
    }()

    static let requests: [PendingRequest] = {
        var ofPlugin = fullRequest
        ofPlugin.submitter = .plugin("p")
        ofPlugin.outlook = StartOutlook(earliest: time, isCertain: true, needsAttention: false)
        var ofManifest = plainRequest
        ofManifest.submitter = .manifest
        return [plainRequest, fullRequest, ofPlugin, ofManifest]
    }()

    static let deadLetter = DeadLetter(
        request: Request(
            id: id(1),
            task: "t",
            parameters: "{}",
            submittedAt: time,
            latestBegin: time,
            priority: 500,
            submitter: .manifest,
            counters: AttemptCounters(failures: 2)
        ),
        reason: "failed",
        run: id(4),
        diedAt: time
    )

    static let deadLetterChange: DeadLetterChange = {
        var change = DeadLetterChange()
        change.done = [.init(id: id(1), task: "t")]
        change.refused = [.init(id: id(2), task: "u")]
        change.hasMore = true
        return change
    }()

    // MARK: - The daemon

    static let simulation = SimulationStatus(
        facts: [.init(name: "network", value: .unknown)],
        // More digits than a `Double` has.
        clockOffset: 9_007_199_254_740_993
    )

    static let statuses = [
        HostStatus(
            version: "0.2.0",
            pid: 7,
            startedAt: time,
            manifest: "",
            slots: 3,
            isDraining: false,
            tasks: [],
            plugins: []
        ),
        HostStatus(
            version: "0.2.0",
            pid: 7,
            startedAt: time,
            manifest: "/etc/bghost/tasks.json",
            slots: 3,
            isDraining: true,
            tasks: [
                TaskStatus(
                    identifier: "t",
                    plugin: "p",
                    kind: .refresh,
                    running: [bareRun],
                    pending: fullRequest,
                    last: fullRun,
                    deadLetters: 2,
                    parametersSchemas: [#"{"type":"object"}"#],
                    definition: TaskDefinitionText(
                        place: "tasks.json:12",
                        settings: [.init(key: "limits.runtime", value: "30s")]
                    )
                ),
                TaskStatus(identifier: "u", plugin: "q", kind: .processing),
            ],
            tasksOmitted: 4,
            plugins: [plugin, PluginStatus(name: "q", library: "l", isolation: .inProcess)],
            simulation: simulation,
            transfers: TransferCounts(underWay: 1, ended: 2),
            store: StoreStatus(
                failingSince: time,
                problem: "the disk is full",
                isFinal: true,
                waiting: 3,
                holdsRuns: true
            ),
            transferJournal: TransferJournalStatus(
                failingSince: time,
                problem: "the disk is full",
                isFinal: true,
                waiting: 3
            ),
            deliversNotifications: true,
            allowsUntrustedFiles: true,
            slotsInUse: 2,
            deadLetters: 3
        ),
    ]

    private static let plugin = PluginStatus(
        name: "p",
        library: "/usr/lib/bghost/p.so",
        isolation: .worker,
        workers: [1, 2],
        memoryBytes: 9 << 20,
        sha256: String(repeating: "ab", count: 32),
        problem: "problem",
        change: "change",
        sandbox: SandboxLayer.allCases.map { LayerStanding($0, .waived, "detail") },
        switchedOff: "",
        quarantine: Quarantine(plugin: "p", library: "a", host: "h", since: time, reason: "r"),
        idleEnds: IdleWorkerEnds(count: 2, since: time, last: time + 1_000_000, reason: "r"),
        deadLetters: 1,
        deadLettersDropped: 2
    )

    static let explanations = [
        TaskExplanation(
            task: "t",
            at: time,
            requests: [
                Explanation(
                    request: fullRequest,
                    gates: [
                        Gate(
                            .requirement,
                            name: "network",
                            isOpen: false,
                            now: "off",
                            wanted: "on",
                            source: "/sys",
                            since: time,
                            remedy: "remedy",
                            condition: "condition",
                            changes: [Fact.Change(value: .unknown, reading: "r", at: time)]
                        ),
                        Gate(.slot, isOpen: true, now: "1", wanted: "2", until: time, ids: [id(1)]),
                    ],
                    at: time
                )
            ],
            checkpoints: [fullRequest.id: API.Checkpoint(checkpoint)],
            total: 5,
            running: [bareRun],
            last: fullRun,
            schedule: ScheduleOutlook(text: "daily", next: time),
            dead: deadLetter,
            simulation: simulation
        ),
        TaskExplanation(task: "t", at: time),
    ]

    // MARK: - Others

    static let logLines = [
        LogEntry(sequence: 0, time: 0, level: .info, source: .host, event: "", message: ""),
        LogEntry(
            sequence: .max,
            time: time,
            level: .fault,
            source: .stderr,
            event: "run.ended",
            message: "\u{FC} \"\u{1B}/\u{7F}\u{2028}\u{8}\r\n\t\u{1F}\\",
            task: "t",
            plugin: "p",
            run: id(1)
        ),
    ]

    static let throttle = ThrottleStatus(
        task: "t",
        points: 3,
        mode: .dryRun,
        delay: .milliseconds(1250),
        nextStart: time,
        runs: [LateRun(run: id(1), stoppedAfter: 4_800_000_000, isKilled: true, endedAt: time)]
    )

    static let use = UseStatus(task: "t", days: 3, usual: [.init(minute: 450, days: 2)])

    static let alerts = AlertReport(
        alerts: [
            AlertStatus(
                rule: "failures",
                subject: "com.acme.storm",
                since: time,
                detail: "3 runs in a row failed; the last: no route",
                toldAt: time
            )
        ],
        receivers: [
            AlertReceiverStatus(
                name: "webhook https://chat.example",
                deliveredAt: time,
                failingSince: time,
                error: "it answered 503",
                waiting: 1
            )
        ],
        mutedUntil: time,
        heartbeat: HeartbeatStatus(
            name: "https://hc-ping.com",
            sentAt: time,
            reasons: "com.acme.storm fails",
            error: "it answered 500"
        )
    )

    static let alertTest = AlertTest("webhook https://chat.example", true, "it answered 200")

    static let notification = NotificationStatus(
        id: "i",
        key: "k",
        plugin: "p",
        title: "title",
        body: "body",
        state: .waiting,
        due: time,
        failures: 1,
        fault: "no route",
        actions: [.init(id: "a", title: "A")]
    )

    static let answer = NotificationAnswer(
        notification: "n",
        plugin: "p",
        action: "a",
        request: id(1),
        task: "t"
    )

    static let transfer: TransferView = {
        var view = TransferView(
            id: id(1),
            plugin: "p",
            session: "s",
            url: "https://example.org/a/b",
            isUpload: true,
            stateName: "failed",
            bytes: 5,
            total: nil,
            createdAt: time
        )
        view.label = "label"
        view.fault = "gone"
        view.endedAt = time
        return view
    }()
}
