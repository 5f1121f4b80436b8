// SPDX-License-Identifier: Apache-2.0

@testable import BghostAPI
import BghostBase
import BghostFacts
import BghostModel
import BghostNotify
import BghostPolicy

/// Values that a reader of `docs/API.md` meets.
extension APISamples {
    static let task = "com.example.backup"
    /// 2026-11-21 09:51 UTC.
    private static let minute: Int64 = 1_795_254_660_000_000_000
    private static let second: Int64 = 1_000_000_000

    private static func id(_ low: UInt64) -> RunID {
        RunID(high: 110_220_394_000_123, low: 7_000_000_000_000_000_000 + low)
    }

    static let readableRequest: PendingRequest = {
        PendingRequest(
            id: id(1),
            task: task,
            submittedAt: minute,
            earliestBegin: minute + 60 * second,
            priority: 500,
            parameters: #"{"folder":"photos"}"#,
            submitter: .run(id(5)),
            waitingFor: ["earliest begin date: in 60 s"],
            outlook: StartOutlook(
                earliest: minute + 60 * second,
                isCertain: true,
                needsAttention: false
            )
        )
    }()

    static let readableRun = RunRecord(
        id: id(2),
        request: id(1),
        task: task,
        plugin: "backup",
        attempt: 1,
        epoch: 42,
        state: .ended,
        outcome: .succeeded,
        stopReason: nil,
        message: "",
        result: #"{"files":3}"#,
        progress: RunProgress(done: 3, total: 3, phase: "upload"),
        limits: RunLimits(runtime: .seconds(25), grace: .seconds(5)),
        pid: 4712,
        submittedAt: minute,
        startedAt: minute + 60 * second,
        endedAt: minute + 63 * second,
        duration: .milliseconds(3250),
        usage: RunUsage(cpu: .milliseconds(120), peakMemoryBytes: 20_971_520, outputBytes: 42),
        kind: .refresh,
        details: RunDetails(crash: nil, output: "3 files uploaded\n"),
        submitterRun: id(5)
    )

    static let readableDeadLetter = DeadLetter(
        request: Request(
            id: id(3),
            task: task,
            parameters: "{}",
            submittedAt: minute,
            priority: 500,
            submitter: .manifest,
            counters: AttemptCounters(failures: 5)
        ),
        reason: "it failed 5 times",
        run: id(4),
        diedAt: minute + 3600 * second
    )

    static let readableChange: DeadLetterChange = {
        var change = DeadLetterChange()
        change.done = [.init(id: id(3), task: task)]
        return change
    }()

    static let readableThrottle = ThrottleStatus(
        task: task,
        points: 2,
        mode: .on,
        delay: .seconds(900),
        nextStart: minute + 900 * second,
        runs: [LateRun(run: id(2), stoppedAfter: 4_800_000_000, isKilled: false, endedAt: minute)]
    )

    static let readableUse = UseStatus(task: task, days: 5, usual: [.init(minute: 450, days: 4)])

    static let readableStatus = HostStatus(
        version: BghostVersion.text,
        pid: 4711,
        startedAt: minute - 3600 * second,
        manifest: "/etc/bghost/tasks.json",
        slots: 4,
        isDraining: false,
        tasks: [
            TaskStatus(
                identifier: task,
                plugin: "backup",
                kind: .refresh,
                last: readableRun,
                tags: ["nightly"]
            )
        ],
        plugins: [
            PluginStatus(
                name: "backup",
                library: "/usr/lib/bghost/libBackup.so",
                isolation: .worker,
                workers: [4712]
            )
        ]
    )

    static let readableExplanation = TaskExplanation(
        task: task,
        at: minute,
        requests: [
            Explanation(
                request: readableRequest,
                gates: [
                    Gate(
                        .requirement,
                        name: "network",
                        isOpen: false,
                        now: "no default route",
                        wanted: "a default route over a link that is up, for 2 s",
                        source: "netlink",
                        since: minute - 600 * second,
                        remedy: "bring up a default route; it counts after 2 s"
                    )
                ],
                at: minute
            )
        ]
    )

    static let readableNotification = NotificationStatus(
        id: "storm",
        key: "01KBE4VA40",
        plugin: "weather",
        title: "A storm is coming",
        body: "It arrives at noon.",
        state: .waiting,
        due: minute,
        actions: [.init(id: "photo", title: "Take a photo")]
    )

    static let readableAnswer = NotificationAnswer(
        notification: "storm",
        plugin: "weather",
        action: "photo",
        request: id(5),
        task: "notificationAction.weather-check.photo"
    )

    static let readableTransfer: TransferView = {
        var view = TransferView(
            id: id(6),
            plugin: "weather",
            session: "photos",
            url: "https://example.org/storm.jpg",
            isUpload: true,
            stateName: "running",
            bytes: 1116,
            total: 2233,
            createdAt: minute
        )
        view.label = "storm.jpg"
        return view
    }()

    static let logLine = API.LogLine(
        LogEntry(
            sequence: 17,
            time: minute,
            level: .info,
            source: .host,
            event: "run.ended",
            message: "succeeded in 3.25 s",
            task: task,
            plugin: "backup",
            run: id(2)
        )
    )

    static let failure = API.Failure(
        ControlFault(
            .noSuchTask,
            "there is no task `com.example.backupp`",
            fix: "did you mean `\(task)`?",
            candidates: [task]
        )
    )

    static let ticket = API.Ticket(
        url: "http://127.0.0.1:8645/#0c7b4b6a0f0d4c1e9a3b5d7f8e6a4c2b",
        role: .operate,
        expiresAt: minute
    )

    static let session = API.DashboardSession(
        token: "6a4c2b0c7b4b6a0f0d4c1e9a3b5d7f8e",
        role: .operate,
        expiresAt: minute,
        host: "edge-7",
        version: BghostVersion.text
    )
}
