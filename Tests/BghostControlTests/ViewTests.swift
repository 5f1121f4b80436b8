// SPDX-License-Identifier: Apache-2.0

@testable import BghostAPI
import BghostBase
import BghostModel
@testable import BghostCommand
import BghostPolicy
@testable import BghostTerminal
@testable import BghostViews
import Testing

@Suite struct ViewTests {
    private let plain = Style(hasColor: false, hasUnicode: true)
    private let now: Int64 = 1_795_278_664_000_000_000

    private func run(_ outcome: Outcome?, message: String = "") -> RunRecord {
        RunRecord(
            id: RunID(high: 0x0193_0000_0000_0000, low: 7),
            request: RunID(high: 1, low: 1),
            task: "com.acme.storm",
            plugin: "storm",
            state: outcome == nil ? .running : .ended,
            outcome: outcome,
            message: message,
            limits: RunLimits(kind: .refresh),
            submittedAt: now - 250_000_000_000,
            startedAt: now - 250_000_000_000,
            endedAt: outcome.map { _ in now - 240_000_000_000 },
            duration: outcome.map { _ in .milliseconds(1200) },
            usage: RunUsage(peakMemoryBytes: 8 << 20)
        )
    }

    @Test func `A failed run shows the type of its error, and the place if it is known`() {
        var failed = run(.failed, message: "the line is empty")
        #expect(!RunView(run: failed, now: now).text(plain).contains("error"))
        failed.details = RunDetails(
            error: RunError(type: "Weather.ParseError", file: "Weather/Parse.swift", line: 42)
        )
        let view = RunView(run: failed, now: now)
        #expect(
            view.text(plain).contains("error      Weather.ParseError at Weather/Parse.swift:42\n")
        )
        #expect(
            view.summary(plain).hasSuffix(
                "  the line is empty\n  Weather.ParseError at Weather/Parse.swift:42\n"
            )
        )
        failed.details = RunDetails(error: RunError(type: "Lie\u{1B}[2J"))
        #expect(!RunView(run: failed, now: now).text(plain).contains("\u{1B}"))
    }

    @Test func `The status of each kind of task`() {
        var progressing = run(nil)
        progressing.startedAt = now - 3_000_000_000
        progressing.progress = RunProgress(done: 1, total: 3, phase: "upload")
        let status = HostStatus(
            version: "0.1.0",
            pid: 42,
            startedAt: now - 7_500_000_000_000,
            manifest: "tasks.json",
            slots: 4,
            isDraining: true,
            tasks: [
                TaskStatus(
                    identifier: "a.storm",
                    plugin: "storm",
                    kind: .refresh,
                    pending: PendingRequest(
                        id: RunID(high: 1, low: 1),
                        task: "a.storm",
                        submittedAt: now,
                        earliestBegin: now + 660_000_000_000
                    ),
                    last: run(.succeeded)
                ),
                TaskStatus(
                    identifier: "a.photos",
                    plugin: "photos",
                    kind: .processing,
                    pending: PendingRequest(
                        id: RunID(high: 1, low: 1),
                        task: "a.photos",
                        submittedAt: now,
                        waitingFor: ["throttled"],
                        outlook: StartOutlook(
                            earliest: now + 60_000_000_000,
                            isCertain: true,
                            needsAttention: true
                        )
                    )
                ),
                waiting(
                    "a.albums",
                    ["its earliest begin date", "network: no route"],
                    until: now + 660_000_000_000
                ),
                waiting("a.queued", ["waiting for a slot (4 of 4 in use)"], until: now),
                TaskStatus(
                    identifier: "a.cleanup",
                    plugin: "cleanup",
                    kind: .refresh,
                    last: run(.crashed(.signalled(11)), message: "bad\u{1B}[2J")
                ),
                TaskStatus(
                    identifier: "a.upload",
                    plugin: "photos",
                    kind: .processing,
                    running: [progressing]
                ),
            ],
            plugins: [
                PluginStatus(
                    name: "photos",
                    library: "p.so",
                    isolation: .worker,
                    problem: "no such file"
                )
            ],
            deadLetters: 2
        )
        let text = StatusView(status: status, now: now).text(plain)
        let expected = #"""
            bghost 0.1.0, process 42, up 2h05m, 1 of 4 slots in use, draining
            ✗ plugin photos: no such file
            ✗ 2 dead letters; `bghost dead` lists them
            ✗ the last run of a.cleanup ended as crashed(SIGSEGV); `bghost show ID` shows the run
               TASK       KIND        STATE       LAST                           NEXT             WHY
            ✓  a.storm    refresh     waiting     succeeded 4m ago, 1.2s         in 11m
            !  a.photos   processing  waiting                                    in 1m            throttled
            ✓  a.albums   processing  waiting                                    in 11m or later  its earliest begin date; network: no route
            ✓  a.queued   processing  waiting                                    unknown          waiting for a slot (4 of 4 in use)
            ✗  a.cleanup  refresh     idle        crashed(SIGSEGV) 4m ago, 1.2s                   bad\u{1B}[2J
               a.upload   processing  running 3s                                                  upload 33 %

            """#
        #expect(text.replacing(run(nil).id.description, with: "ID") == expected)
        #expect(status.problems.map(\.kind) == [.plugin, .deadLetters, .failing])
    }

    /// A task that waits as healthy tasks do, for something whose end is not known.
    private func waiting(_ name: String, _ gates: [String], until earliest: Int64) -> TaskStatus {
        TaskStatus(
            identifier: name,
            plugin: "photos",
            kind: .processing,
            pending: PendingRequest(
                id: RunID(high: 1, low: 1),
                task: name,
                submittedAt: now,
                waitingFor: gates,
                outlook: StartOutlook(earliest: earliest, isCertain: false, needsAttention: false)
            )
        )
    }

    @Test func `The status of one task has its problems only`() {
        func task(_ name: String, _ plugin: String, dead: Int) -> TaskStatus {
            TaskStatus(identifier: name, plugin: plugin, kind: .refresh, deadLetters: dead)
        }
        let quarantine = Quarantine(
            plugin: "b",
            library: "",
            host: "",
            since: now,
            reason: "5 crashes in 10 min"
        )
        var status = HostStatus(
            version: "0.1.0",
            pid: 42,
            startedAt: now,
            manifest: "tasks.json",
            slots: 4,
            isDraining: false,
            tasks: [task("one", "a", dead: 0), task("two", "b", dead: 1)],
            plugins: [
                PluginStatus(name: "a", library: "a.so", isolation: .worker),
                PluginStatus(
                    name: "b",
                    library: "b.so",
                    isolation: .worker,
                    quarantine: quarantine
                ),
            ],
            slotsInUse: 3,
            deadLetters: 1200
        )
        #expect(
            status.problems.map(\.message) == [
                "plugin b is quarantined: 5 crashes in 10 min",
                "1200 dead letters; `bghost dead` lists them",
            ]
        )
        #expect(status.selecting(["one"]).problems.isEmpty)
        #expect(status.selecting(["two"]).problems.map(\.kind) == [.quarantine, .deadLetters])
        // The slots are the daemon's, whatever tasks are asked for.
        status = status.selecting(["one"])
        let text = StatusView(status: status, now: now).text(plain)
        #expect(text.contains("3 of 4 slots in use"))
    }

    @Test(arguments: [
        (RunState.starting, Outcome?.none, "not yet"), (.ended, .lost, "unknown"),
        (.ended, .failed, "never"),
    ])
    func `The start of a run that has none`(state: RunState, outcome: Outcome?, words: String) {
        var record = run(outcome)
        record.state = state
        record.startedAt = nil
        #expect(RunView(run: record, now: now).text(plain).contains("started    \(words)\n"))
    }

    @Test func `A family is not advised to be submitted`() {
        let answer = TaskExplanation(task: "com.acme.export.*", at: now)
        let text = WhyView(answer: answer).text(plain)
        #expect(text.contains("`bghost submit com.acme.export.NAME`"), "\(text)")
        #expect(!text.contains("submit com.acme.export.*"))
    }

    @Test func `Runs as a table`() {
        let runs = [run(.killed(.memory), message: "over\n256"), run(nil)]
        let text = RunsView(API.RunList(runs: runs.map(API.Run.init)), isFiltered: false, now: now)
            .text(plain)
        let id = run(nil).id.description
        let lines = text.split(separator: "\n").map { $0.replacing(id, with: "ID") }
        #expect(
            lines == [
                "   RUN                         TASK            OUTCOME         STARTED  TIME   "
                    + "LIMIT  MEMORY  MESSAGE",
                "✗  ID  com.acme.storm  killed(memory)  4m ago   1.2s   25s    8 MiB   over\\n256",
                "   ID  com.acme.storm  running         4m ago   4m10s  25s    8 MiB",
            ]
        )
        #expect(
            RunsView(API.RunList(runs: []), isFiltered: false, now: now).text(plain)
                == "no runs yet\n"
        )
        #expect(
            RunsView(API.RunList(runs: [], next: 7), isFiltered: true, now: now).text(plain)
                == "no such runs\nolder ones: --before 7\n"
        )
        let searched = API.RunList(runs: [], next: 8, searchedTo: 1_795_278_660_000_000_000)
        #expect(
            RunsView(searched, isFiltered: true, now: now).text(plain) == """
                no such runs
                searched 20000 runs, back to 2026-11-21T16:31:00.000Z; --before 8 continues

                """
        )
    }

    @Test func `All of a run`() {
        var record = run(.killed(.graceExceeded), message: "told to stop\u{7}")
        record.stopReason = .expired
        record.result = "{\"a\":\"\u{9B}\"}"
        let text = RunView(run: record, now: now).text(plain)
        #expect(text.contains("outcome    killed(graceExceeded)\n"))
        #expect(text.contains("stopped    expired\n"))
        #expect(text.contains(#"message    told to stop\u{7}"# + "\n"))
        #expect(text.contains(#"result     {"a":"\u009b"}"# + "\n"))
        #expect(text.contains("time       1.2s of 25s and 5s of grace\n"))
        #expect(text.contains("started    2026-11-21T16:26:54.000Z, 4m ago\n"))
        #expect(!text.contains("attempt"))
    }

    @Test func `The end of a run that was waited for`() {
        var record = run(.succeeded, message: "storm ahead")
        record.result = #"{"codes":[95]}"#
        #expect(
            RunView(run: record, now: now).summary(plain)
                == "✓ com.acme.storm succeeded in 1.2s\n  storm ahead\n  {\"codes\":[95]}\n"
        )
    }

    @Test func `A line of the log`() {
        let entry = LogEntry(
            sequence: 1,
            time: now,
            level: .warning,
            source: .stderr,
            event: "",
            message: "hot\u{1B}]0;title\u{7}",
            task: "com.acme.storm",
            plugin: "storm"
        )
        let line = LogView.line(entry, plain)
        #expect(line.hasSuffix(#" warning com.acme.storm stderr hot\u{1B}]0;title\u{7}"# + "\n"))
        let colored = LogView.line(entry, Style(hasColor: true, hasUnicode: true))
        #expect(colored.contains("\u{1B}[33mwarning\u{1B}[0m"))
        #expect(!colored.contains("\u{1B}]0"))
    }
}
