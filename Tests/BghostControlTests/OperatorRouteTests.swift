// SPDX-License-Identifier: Apache-2.0

@testable import BghostAPI
import BghostBase
import BghostModel
import BghostPolicy
import BghostControl
import BghostTestSupport
import Testing

/// The verbs of an operator, from the client through the API and back, and as commands.
@Suite(.ownThreads, .timeLimit(.minutes(5)))
struct OperatorRouteTests {
    private func letter(_ task: String = "com.acme.storm", _ number: UInt64 = 1) -> DeadLetter {
        DeadLetter(
            request: Request(
                id: RunID(high: number, low: number),
                task: task,
                parameters: #"{"city":"Köln"}"#,
                submittedAt: 1_795_278_660_000_000_000,
                latestBegin: 1_795_278_669_000_000_000,
                priority: 700,
                submitter: .run(RunID(high: 7, low: 8)),
                counters: AttemptCounters(failures: 5, losses: 1, interruptions: 2)
            ),
            reason: "it failed 5 times\u{1B}[2J",
            run: RunID(high: 3, low: 4),
            diedAt: 1_795_278_664_000_000_000
        )
    }

    private func command(
        _ arguments: [String],
        _ serving: Serving
    ) async throws -> Command.Result {
        try await Bghost.run(arguments + ["--control", serving.socketPath])
    }

    // MARK: - What waits

    @Test func `Pending requests arrive with all fields`() async throws {
        try await Serving.with { serving in
            let host = serving.host
            await host.wait(
                PendingRequest(
                    id: RunID(high: 1, low: 2),
                    task: "com.acme.storm",
                    submittedAt: 1_795_278_660_000_000_000,
                    earliestBegin: 1_795_278_661_000_000_000,
                    latestBegin: 1_795_278_662_000_000_000,
                    priority: 700,
                    parameters: #"{"a":[1,2.50]}"#,
                    isManual: true,
                    submitter: .run(RunID(high: 5, low: 6)),
                    counters: AttemptCounters(failures: 1, losses: 2, interruptions: 3),
                    waitingFor: ["a", "b"]
                )
            )
            _ = try await host.submit(Submission(task: "com.acme.photos"))
            try await serving.ask { client in
                let all = try await client.pending(task: nil).value
                #expect(all == (await host.pending(task: nil, limit: 100)))
                #expect(all.requests.count == 2)
                let some = try await client.pending(task: nil, limit: 1).value
                #expect(some.requests.count == 1 && some.total == 2)
                let unknown = await fault { _ = try await client.pending(task: "com.acme.strom") }
                #expect(unknown?.code == .noSuchTask)
            }
            let text = try await command(["pending"], serving).output
            #expect(text.contains("7 (1 failed, 2 lost, 3 interrupted)"))
            #expect(text.contains("trigger") && text.contains("a; b"))
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
            let pending = await serving.host.pending(task: nil, limit: 1).requests.first
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
        let host = MemoryHost()
        let ended = await host.begin("com.acme.storm")
        await host.end(ended.id, .succeeded)
        let live = await host.begin("com.acme.photos")
        try await Serving.with(host) { serving in
            let result = try await command(["stop", "01"], serving)
            #expect(result.exitCode == 0)
            #expect(result.output.contains("\(live.id) of com.acme.photos was asked to stop"))
            #expect(result.output.contains("has 5s for it; it is not repeated"))
            let late = try await command(["stop", "\(ended.id)"], serving)
            #expect(late.exitCode == 4)
            #expect(late.error.contains("BG4012"))
        }
    }

    // MARK: - Dead letters

    @Test func `Dead letters arrive whole`() async throws {
        let host = MemoryHost()
        await host.die(letter())
        try await Serving.with(host) { serving in
            let letters = try await serving.ask {
                try await $0.deadLetters(task: nil).value.letters
            }
            #expect(letters == [letter()])
            let text = try await command(["dead"], serving).output
            #expect(text.contains(#"it failed 5 times\u{1B}[2J"#))
            #expect(
                try await command(["dead", "com.acme.photos"], serving).output
                    == "no dead letters\n"
            )
            #expect(try await command(["dead", "com.acme.strom"], serving).exitCode == 4)
        }
    }

    @Test func `Redrives and discards`() async throws {
        let host = MemoryHost()
        func change(_ done: (String, UInt64)...) -> DeadLetterChange {
            var change = DeadLetterChange()
            change.done = done.map { .init(id: RunID(high: $0.1, low: $0.1), task: $0.0) }
            return change
        }
        var rest = change(("com.acme.storm", 1), ("com.acme.storm", 4))
        rest.refused = change(("gone", 5)).done
        await host.answer([
            .success(change(("com.acme.storm", 2))),
            .failure(OperatorRefusal(.noSuchRequest, "there is none")),
            .failure(OperatorRefusal(.ambiguousRequest, "there are four")),
            .success(change(("com.acme.storm", 3))),
            .success(rest),
            .success(change()),
            .success(change(("gone", 5))),
        ])
        try await Serving.with(host) { serving in
            let id = RunID(high: 2, low: 2)
            let one = try await command(["redrive", "\(id)"], serving)
            #expect(one.exitCode == 0)
            #expect(one.output == "request \(id) of com.acme.storm waits for a run again\n")
            let again = try await command(["redrive", "\(id)"], serving)
            #expect(again.exitCode == 4 && again.error.contains("BG4016"))
            let many = try await command(["discard", "0"], serving)
            #expect(many.exitCode == 64 && many.error.contains("BG4017"))
            let discarded = try await command(["discard", "\(RunID(high: 3, low: 3))"], serving)
            #expect(discarded.output.hasSuffix("is deleted\n"))
            let rest = try await command(["redrive", "--all"], serving)
            #expect(rest.exitCode == 1)
            #expect(rest.output.split(separator: "\n").count == 2)
            #expect(rest.error.contains("stays dead: the manifest has no task gone"))
            let none = try await command(["redrive", "--task", "com.acme.storm"], serving)
            #expect(none.exitCode == 4 && none.error.contains("BG4018"))
            let json = try await command(["discard", "--task", "gone", "--json"], serving)
            let answer = try JSONReader.parse(json.output)
            #expect(answer["schema"]?.string == "bghost.discard/1")
            #expect(answer["requests"]?.array?.count == 1)
            #expect(
                await host.choices == [
                    .request(prefix: "\(id)"), .request(prefix: "\(id)"), .request(prefix: "0"),
                    .request(prefix: "\(RunID(high: 3, low: 3))"), .all, .task("com.acme.storm"),
                    .task("gone"),
                ]
            )
        }
    }

    @Test(arguments: ["", "?all=false", "?all=true&task=a", "?task=a&request=01", "?all=7"])
    func `Refuses to guess which dead letters are meant`(query: String) async throws {
        let host = MemoryHost()
        await host.die(letter())
        try await Serving.with(host) { serving in
            let answer = try await onThread {
                let connection = try RawConnection(serving.socketPath)
                connection.send(
                    "POST /v1/dead/discard\(query) HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\r\n"
                )
                return connection.receiveAnswer()
            }
            #expect(answer.hasPrefix("HTTP/1.1 400 "))
            #expect(await host.choices.isEmpty)
        }
    }

    // MARK: - Throttling

    @Test func `Throttle points arrive whole and are cleared`() async throws {
        let host = MemoryHost()
        let throttle = ThrottleStatus(
            task: "com.acme.storm",
            points: 3,
            delay: .seconds(900),
            nextStart: 4_000_000_000_000_000_000,
            runs: [
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
        )
        await host.throttle(throttle)
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
        let host = MemoryHost()
        await host.throttle(
            ThrottleStatus(
                task: "com.acme.storm",
                points: 2,
                mode: .dryRun,
                delay: .seconds(300),
                nextStart: 4_000_000_000_000_000_000
            )
        )
        try await Serving.with(host) { serving in
            let text = try await command(["throttle"], serving).output
            #expect(text.contains("(dry run: now)"))
        }
    }

    // MARK: - Uses

    @Test func `Uses are listed recorded and forgotten`() async throws {
        let host = MemoryHost()
        let known = UseStatus(
            task: "com.acme.storm",
            days: 9,
            usual: [.init(minute: 0, days: 5), .init(minute: 17 * 60 + 30, days: 8)]
        )
        await host.learn(known)
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
            #expect(refused.exitCode != 0 && refused.error.contains("have it learn"))
            let cleared = try await command(["uses", "clear", "com.acme.storm"], serving)
            #expect(cleared.output == "the uses of com.acme.storm are forgotten\n")
            #expect(try await command(["uses"], serving).output.contains("nothing is usual yet"))
        }
    }

    // MARK: - Plugins

    @Test func `Switches a plugin`() async throws {
        let host = MemoryHost()
        let run = await host.begin("com.acme.storm")
        try await Serving.with(host) { serving in
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
            #expect(await host.switchedOff == "zu laut & mehr")
            let status = try await command(["status"], serving).output
            #expect(status.contains("! plugin storm is switched off: zu laut & mehr\n"))
            #expect(try await serving.ask { try await $0.status().value } == (await host.status()))
            let stopped = try await command(["disable", "storm", "--stop"], serving)
            #expect(stopped.output.contains("run \(run.id) was asked to stop"))
            #expect(await host.switchedOff == "")
            let on = try await command(["enable", "storm"], serving)
            #expect(on.output == "plugin storm is switched on\n")
            #expect(await host.switchedOff == nil)
            let unknown = try await command(["disable", "strom"], serving)
            #expect(unknown.exitCode == 4 && unknown.error.contains("BG4019"))
        }
    }

    // MARK: - The store

    @Test func `A backup is named from where the command is`() async throws {
        let host = MemoryHost()
        try await Serving.with(host) { serving in
            let path = serving.folder.file("copy")
            await host.allowBackup(to: path, bytes: 3 << 20)
            let result = try await onThread {
                try Command.run([
                    "sh", "-c", "cd \"$1\" && exec \"$0\" backup copy --control \"$2\"",
                    Artifact.path("bghost"), serving.folder.path, serving.socketPath,
                ])
            }
            #expect(result.exitCode == 0, "\(result.error)")
            #expect(result.output == "wrote 3 MiB to \(path)\n")
            let taken = try await command(["backup", "/elsewhere", "--json"], serving)
            #expect(taken.exitCode == 73)
            #expect(taken.output.contains(#""code":"BG4024""#))
            #expect(taken.error.contains("error[BG4024]: /elsewhere exists already\n  fix: name"))
        }
    }
}
