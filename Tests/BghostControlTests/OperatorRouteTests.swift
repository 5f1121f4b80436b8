// SPDX-License-Identifier: Apache-2.0

import BghostLinux
@testable import BghostAPI
import BghostBase
import BghostConfiguration
@testable import BghostModel
import BghostControl
@testable import BghostHost
import BghostPolicy
import BghostStore
import BghostTestSupport
import Testing

/// The verbs of an operator, from the client through the API and back, and as commands.
@Suite(.ownThreads, .timeLimit(.minutes(5)))
struct OperatorRouteTests {
    private func command(
        _ arguments: [String],
        _ serving: Serving
    ) async throws -> Command.Result {
        try await Bghost.run(arguments + ["--control", serving.socketPath])
    }

    // MARK: - What waits

    @Test func `Pending requests arrive with all fields`() async throws {
        let manual = Request(
            id: RunID(high: 1, low: 2),
            task: "com.acme.storm",
            parameters: #"{"a":[1,2.50]}"#,
            submittedAt: 1_795_278_660_000_000_000,
            earliestBegin: 4_102_444_800_000_000_000,
            latestBegin: 4_102_444_900_000_000_000,
            priority: 700,
            isManual: true,
            submitter: .run(RunID(high: 5, low: 6)),
            counters: AttemptCounters(failures: 1, losses: 2, interruptions: 3)
        )
        // It holds the request that may start when the host starts.
        let pause = Pause(target: .plugin("storm"), since: 1, user: "uid 0", reason: "")
        let host = try await TestHost.start(stored: [
            .accepted(manual, replacing: nil), .paused(pause.target, pause),
        ])
        try await Serving.with(host) { serving in
            let host = host.control
            _ = try await host.submit(Submission(task: "com.acme.photos"))
            try await serving.ask { client in
                let all = try await client.pending(task: nil).value
                let own = await host.pending(task: nil, limit: 100)
                #expect(Set(all.requests.map(\.id)) == Set(own.requests.map(\.id)))
                #expect(all.total == own.total)
                #expect(all.requests.count == 2)
                let first = try #require(all.requests.first { $0.id == manual.id })
                #expect(first.parameters == manual.parameters && first.isManual)
                #expect(first.submitter == manual.submitter && first.priority == 700)
                #expect(first.earliestBegin == manual.earliestBegin)
                #expect(first.latestBegin == manual.latestBegin)
                #expect(first.counters == manual.counters && !first.waitingFor.isEmpty)
                let some = try await client.pending(task: nil, limit: 1).value
                #expect(some.requests.count == 1 && some.total == 2)
                let unknown = await fault { _ = try await client.pending(task: "com.acme.strom") }
                #expect(unknown?.code == .noSuchTask)
            }
            let text = try await command(["pending"], serving).output
            #expect(text.contains("7 (1 failed, 2 lost, 3 interrupted)"))
            #expect(text.contains("trigger"))
            let cancelled = try await command(["cancel", "--all"], serving)
            #expect(cancelled.output.split(separator: "\n").count == 2)
            #expect(
                try await command(["cancel", "--all"], serving).output == "nothing was waiting\n"
            )
            #expect(try await command(["pending"], serving).output == "no pending requests\n")
        }
    }

    @Test func `A submission returns the request that it keeps`() async throws {
        try await Serving.with { serving in
            await serving.host.holdPlugin()
            let first = try await command(["submit", "com.acme.storm"], serving)
            #expect(first.output.hasSuffix("accepted\n"))
            for arguments in [["--if-absent"], ["--on-conflict", "keep"]] {
                let second = try await command(["submit", "com.acme.storm"] + arguments, serving)
                #expect(second.exitCode == 0)
                #expect(second.output.contains("is pending already and is kept"))
            }
            let json = try await command(
                ["submit", "com.acme.storm", "--if-absent", "--json"],
                serving
            )
            let answer = try JSONReader.parse(json.output)
            #expect(answer["request"]?["kept"]?.bool == true)
            let late = try await command(
                ["submit", "com.acme.storm", "--latest", "2001-01-01T00:00:00Z"],
                serving
            )
            #expect(late.exitCode == 64)
            #expect(late.error.contains("BG4008"))
            let latest = "2040-01-01T00:00:00Z"
            _ = try await command(["submit", "com.acme.storm", "--latest", latest], serving)
            let pending = await serving.host.control.pending(task: nil, limit: 1).requests.first
            #expect(pending?.latestBegin == Timestamp.unixNanoseconds(latest))
        }
    }

    @Test(arguments: [
        (#"{"task":"a","latestBegin":"soon"}"#, "RFC 3339"),
        (#"{"task":"a","latestBegin":7}"#, "a number"),
        (#"{"task":"a","onConflict":"fight"}"#, #"is none of "replace", "keep", "update""#),
        (#"{"task":"a","onConflict":true}"#, "onConflict"),
        (#"{"task":"a","ignoresRequirements":"yes"}"#, "ignoresRequirements"),
    ])
    func `Refuses bad submissions`(body: String, part: String) throws {
        let fault = #expect(throws: ControlFault.self) {
            try API.SubmitBody.read(Array(body.utf8)).submission(path: nil)
        }
        #expect(fault?.code == .badRequest)
        #expect(fault?.message.contains(part) == true)
    }

    @Test(arguments: [
        Submission(task: "a"),
        Submission(task: "a", parameters: #"{"b":[1]}"#, earliestBegin: 0, priority: 1000),
        Submission(task: "a", onConflict: .update, ignoresRequirements: true),
    ])
    func `Submissions arrive whole`(_ submission: Submission) throws {
        let body = APICoder.json(API.SubmitBody(submission))
        #expect(try API.SubmitBody.read(body).submission(path: nil) == submission)
    }

    // MARK: - Runs

    @Test func `Stops a run under way`() async throws {
        try await Serving.with { serving in
            let host = serving.host
            let ended = try await host.end(try await host.begin("com.acme.storm"))
            let live = try await host.begin("com.acme.photos")
            var loading = live
            loading.startedAt = nil
            #expect(API.CancelledRun(live).graceSeconds == .seconds(5))
            #expect(API.CancelledRun(loading).graceSeconds == .zero)
            let result = try await command(["stop", "01"], serving)
            #expect(result.exitCode == 0)
            #expect(result.output.contains("\(live.id) of com.acme.photos was asked to stop"))
            #expect(result.output.contains("has 5s for it; it is not repeated"))
            let late = try await command(["stop", "\(ended.id)"], serving)
            #expect(late.exitCode == 4)
            #expect(late.error.contains("BG4012"))
        }
    }

    // MARK: - Throttling

    @Test func `Throttle points arrive whole and are cleared`() async throws {
        // The API rounds times.
        let now = WallClock.now / 1_000_000 * 1_000_000
        let runs = [
            LateRun(
                run: RunID(high: 1, low: 2),
                stoppedAfter: 5_000_000_000,
                isKilled: true,
                endedAt: 1_795_278_664_000_000_000
            ),
            LateRun(
                run: RunID(high: 1, low: 1),
                stoppedAfter: 3_000_000_000,
                isKilled: false,
                endedAt: 1_795_278_660_000_000_000
            ),
        ]
        let throttle = ThrottleStatus(
            task: "com.acme.storm",
            points: 3,
            delay: .seconds(900),
            nextStart: now + 900_000_000_000,
            runs: runs
        )
        let memory = TaskMemory(
            identifier: "com.acme.storm",
            throttle: ThrottlePoints(points: 3, changedAt: now, lastEnd: now, runs: runs)
        )
        let host = try await TestHost.start(stored: [.remembered(memory)])
        try await Serving.with(host) { serving in
            #expect(try await serving.ask { try await $0.throttles(task: nil).value } == [throttle])
            let text = try await command(["throttle"], serving).output
            #expect(text.contains("com.acme.storm  3       15m"))
            #expect(
                text.contains("\(RunID(high: 1, low: 2)) killed 5.00 s after it was asked to stop")
            )
            #expect(
                text.contains("\(RunID(high: 1, low: 1)) stopped 3.00 s after it was asked to stop")
            )
            #expect(try await command(["throttle", "com.acme.storm"], serving).output == text)
            #expect(try await command(["throttle", "com.acme.strom"], serving).exitCode == 4)
            let cleared = try await command(["throttle", "clear", "com.acme.storm"], serving)
            #expect(cleared.output == "cleared the throttling of com.acme.storm (3 points)\n")
            let again = try await command(["throttle", "clear", "com.acme.storm"], serving)
            #expect(again.output == "com.acme.storm is not throttled\n")
            #expect(try await command(["throttle"], serving).output == "no task is throttled\n")
        }
    }

    @Test func `A dry run is shown as one`() async throws {
        let now = WallClock.now
        let memory = TaskMemory(
            identifier: "com.acme.storm",
            throttle: ThrottlePoints(points: 2, changedAt: now, lastEnd: now)
        )
        let host = try await TestHost.start(stored: [.remembered(memory)]) {
            $0.tasks[0].throttle.mode = .dryRun
        }
        try await Serving.with(host) { serving in
            let text = try await command(["throttle"], serving).output
            #expect(text.contains("(dry run: now)"))
        }
    }

    // MARK: - Uses

    @Test func `Uses are listed recorded and forgotten`() async throws {
        let known = UseStatus(
            task: "com.acme.storm",
            days: 9,
            usual: [.init(minute: 0, days: 5), .init(minute: 17 * 60 + 30, days: 8)]
        )
        var memory = TaskMemory(identifier: "com.acme.storm")
        let halfHour = UsePattern.halfHour
        let midnight = WallClock.now / (48 * halfHour) * 48 * halfHour
        for day in 1...9 {
            let start = midnight - Int64(10 - day) * 48 * halfHour
            if day <= 5 { memory.uses.add(now: start) }
            if day >= 2 { memory.uses.add(now: start + 35 * halfHour) }
        }
        let host = try await TestHost.start(stored: [.remembered(memory)]) {
            $0.tasks[0].learnsUse = true
            $0.tasks[0].tolerance = .seconds(3600)
        }
        try await Serving.with(host) { serving in
            #expect(try await serving.ask { try await $0.uses(task: nil).value } == [known])
            let text = try await command(["uses"], serving).output
            #expect(text.contains("com.acme.storm  9     00:00 UTC (5 days), 17:30 UTC (8 days)"))
            #expect(try await command(["uses", "com.acme.storm"], serving).output == text)
            #expect(try await command(["uses", "add", "com.acme.storm"], serving).output == text)
            let other = try await command(["uses", "com.acme.photos"], serving)
            #expect(
                other.output == """
                    no such task learns when it is used: have one with "learnsUse": true and a \
                    `tolerance` in the manifest

                    """
            )
            #expect(try await command(["uses", "com.acme.strom"], serving).exitCode == 4)
            let refused = try await command(["uses", "add", "com.acme.photos"], serving)
            #expect(refused.exitCode != 0 && refused.error.contains("learnsUse"), "\(refused)")
            let cleared = try await command(["uses", "clear", "com.acme.storm"], serving)
            #expect(cleared.output == "the uses of com.acme.storm are forgotten\n")
            #expect(try await command(["uses"], serving).output.contains("nothing is usual yet"))
        }
    }

    // MARK: - Plugins

    @Test func `Switches a plugin`() async throws {
        try await Serving.with { serving in
            let host = serving.host.control
            func switchedOff() async -> String? { await host.status().plugins[0].switchedOff }
            let run = try await serving.host.begin("com.acme.storm")
            let off = try await command(
                ["disable", "storm", "--reason", "zu laut & mehr"],
                serving
            )
            #expect(
                off.output == """
                    plugin storm is switched off; bghost enable storm takes it back
                    run \(run.id) goes on

                    """
            )
            #expect(await switchedOff() == "zu laut & mehr")
            let status = try await command(["status"], serving).output
            #expect(status.contains("! plugin storm is switched off: zu laut & mehr\n"))
            let arrived = try await serving.ask { try await $0.status().value }
            #expect(TestHost.text(arrived) == TestHost.text(await host.status()))
            let stopped = try await command(["disable", "storm", "--stop"], serving)
            #expect(stopped.output.contains("run \(run.id) was asked to stop"))
            #expect(await switchedOff() == "")
            let on = try await command(["enable", "storm"], serving)
            #expect(on.output == "plugin storm is switched on\n")
            #expect(await switchedOff() == nil)
            let unknown = try await command(["disable", "strom"], serving)
            #expect(unknown.exitCode == 4 && unknown.error.contains("BG4019"))
        }
    }

    // MARK: - The store

    @Test func `A backup is named from where the command is`() async throws {
        let host = try await TestHost.start(configuration: {
            $0.openStore = { directory throws(StoreError) in
                try SQLiteStore(path: directory + "/bghost.sqlite")
            }
        })
        try await Serving.with(host) { serving in
            let path = serving.folder.file("copy")
            let result = try await onThread {
                try Command.run([
                    "sh", "-c", "cd \"$1\" && exec \"$0\" backup copy --control \"$2\"",
                    Artifact.path("bghost"), serving.folder.path, serving.socketPath,
                ])
            }
            #expect(result.exitCode == 0, "\(result.error)")
            #expect(result.output.hasPrefix("wrote ") && result.output.hasSuffix(" to \(path)\n"))
            let taken = try await command(["backup", path, "--json"], serving)
            #expect(taken.exitCode == 73)
            #expect(taken.output.contains(#""code":"BG4024""#))
            #expect(taken.error.contains("error[BG4024]: ") && taken.error.contains("\n  fix: "))
            #expect(taken.error.contains(path))
        }
    }
}
