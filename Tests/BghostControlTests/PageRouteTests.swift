// SPDX-License-Identifier: Apache-2.0

import BghostAPI
import BghostBase
@testable import BghostControl
import BghostModel
import BghostPolicy
import BghostTestSupport
import Testing

/// Lists in pages, with the conditions and cursors of clients.
@Suite struct PageRouteTests {
    private func letter(_ number: UInt64) -> DeadLetter {
        let id = RunID(high: 1, low: number)
        return DeadLetter(
            request: Request(
                id: id,
                task: "com.acme.storm",
                parameters: "{}",
                submittedAt: 1,
                priority: 500
            ),
            reason: "failed",
            run: id,
            diedAt: Int64(1000 + number)
        )
    }

    private func command(_ arguments: [String], _ serving: Serving) async throws -> Command.Result {
        try await Bghost.run(arguments + ["--control", serving.socketPath])
    }

    private func get(_ path: String, _ serving: Serving) async throws -> String {
        try await onThread {
            let connection = try RawConnection(serving.socketPath)
            connection.send("GET /v1/\(path) HTTP/1.1\r\nHost: localhost\r\n\r\n")
            return connection.receiveAnswer()
        }
    }

    @Test func `The host gets the conditions and the cursor`() async throws {
        try await Serving.with { serving in
            let cursor = PageCursor.pending(generation: 1, place: 5, id: RunID(high: 6, low: 7))
            try await serving.ask { client in
                _ = try await client.pending(
                    task: "com.acme.*",
                    plugin: "p q&x",
                    submitter: "run",
                    tag: "nightly",
                    cursor: cursor.text,
                    limit: 7
                )
                _ = try await client.deadLetters(
                    task: "com.acme.storm",
                    plugin: "storm",
                    since: "2h",
                    until: "1h",
                    cursor: PageCursor.dead(diedAt: 3, run: RunID(high: 1, low: 1)).text,
                    limit: 9
                )
                _ = try await client.skippedStarts(
                    task: "*",
                    plugin: "storm",
                    what: "misfire",
                    since: "2h",
                    until: "1h",
                    cursor: PageCursor.starts(due: 3, number: 4).text,
                    limit: 11
                )
            }
            let host = serving.host
            #expect(
                await host.pendingQuestions == [
                    PendingQuestion(
                        tasks: .beginning("com.acme."),
                        plugin: "p q&x",
                        submitter: .run,
                        tag: "nightly",
                        cursor: cursor,
                        limit: 7
                    )
                ]
            )
            #expect(
                await host.deadLetterQuestions == [
                    DeadLetterQuestion(
                        tasks: .task("com.acme.storm"),
                        plugin: "storm",
                        since: "2h",
                        until: "1h",
                        cursor: .dead(diedAt: 3, run: RunID(high: 1, low: 1)),
                        limit: 9
                    )
                ]
            )
            #expect(
                await host.startQuestions == [
                    StartQuestion(
                        tasks: .beginning(""),
                        plugin: "storm",
                        kind: .misfire,
                        since: "2h",
                        until: "1h",
                        cursor: .starts(due: 3, number: 4),
                        limit: 11
                    )
                ]
            )
        }
    }

    @Test func `A tag selects the tasks whose requests are withdrawn`() async throws {
        try await Serving.with { serving in
            await serving.host.tag("com.acme.storm", "nightly", "eu")
            for task in ["com.acme.storm", "com.acme.photos"] {
                _ = try await serving.host.submit(Submission(task: task))
            }
            let misspelt = try await command(["cancel", "--tag", "nighly"], serving)
            #expect(misspelt.exitCode == 4, "\(misspelt)")
            #expect(misspelt.error.contains("BG4052"), "\(misspelt)")
            #expect(misspelt.error.contains("did you mean `nightly`?"), "\(misspelt)")
            // A variable that is not set must not select everything.
            for arguments in [["--tag", ""], ["--tag", "eu", "--all"], ["x", "--tag", "eu"], []] {
                let refused = try await command(["cancel"] + arguments, serving)
                #expect(refused.exitCode == 64, "\(arguments): \(refused)")
            }
            #expect(await serving.host.pending.count == 2)
            let done = try await command(["cancel", "--tag", "nightly"], serving)
            #expect(done.exitCode == 0, "\(done)")
            #expect(done.output.contains(" of com.acme.storm is withdrawn"), "\(done)")
            #expect(await serving.host.pending.keys.sorted() == ["com.acme.photos"])
            let again = try await command(["cancel", "--tag", "nightly"], serving)
            #expect(again.exitCode == 4 && again.error.contains("BG4014"), "\(again)")
            let rows = await serving.host.audited.filter { $0.verb == "cancel tag" }
            #expect(rows.map(\.target) == ["nighly", "nightly", "nightly"])
            #expect(rows.map(\.status) == [.refused, .unchanged, .refused])
        }
    }

    @Test func `The status of a tag has its tasks only`() async throws {
        try await Serving.with { serving in
            await serving.host.tag("com.acme.storm", "nightly")
            let some = try await command(["status", "--tag", "nightly", "--json"], serving)
            let tasks = try JSONReader.parse(some.output)["tasks"]?.array ?? []
            #expect(tasks.map { $0["id"]?.string } == ["com.acme.storm"], "\(some)")
            #expect(tasks.first?["tags"]?.array?.map(\.string) == ["nightly"])
            let text = try await command(["status", "--tag", "nightly"], serving)
            #expect(text.output.contains("com.acme.storm"), "\(text)")
            #expect(!text.output.contains("com.acme.photos"), "\(text)")
            let none = try await command(["status", "--tag", "weekly"], serving)
            #expect(none.exitCode == 4 && none.error.contains("BG4052"), "\(none)")
            let both = try await command(["status", "x", "--tag", "nightly"], serving)
            #expect(both.exitCode == 64)
        }
    }

    @Test(arguments: ["pending", "dead", "starts"])
    func `A hostile cursor is refused before the host is asked`(list: String) async throws {
        try await Serving.with { serving in
            let good = PageCursor.dead(diedAt: 1, run: RunID(high: 2, low: 3)).text
            let cursors = [
                "x", "12", "%00", "..%2F", good + "A", String(good.dropLast()), good + "%0A",
                "%1B%5B2J", String(repeating: "A", count: 8000), "'%20OR%201%3D1",
            ]
            for cursor in cursors {
                let answer = try await get("\(list)?cursor=\(cursor)", serving)
                #expect(answer.hasPrefix("HTTP/1.1 400 "), "\(cursor): \(answer.prefix(300))")
                #expect(answer.contains(#""code":"BG4046""#) && !answer.contains("\u{1B}"))
                #expect(answer.contains("no cursor for the first page"))
            }
            let host = serving.host
            #expect(await host.pendingQuestions.isEmpty)
            #expect(await host.startQuestions.isEmpty)
            #expect(await host.deadLetterQuestions.isEmpty)
        }
    }

    @Test func `A word that is no value of its key is refused with the values`() async throws {
        try await Serving.with { serving in
            for (query, word) in [
                ("pending?submitter=me", "operator"), ("starts?what=x", "misfire"),
            ] {
                let answer = try await get(query, serving)
                #expect(answer.hasPrefix("HTTP/1.1 400 ") && answer.contains(word), "\(answer)")
            }
        }
    }

    @Test func `The command line shows a page and how to get the next`() async throws {
        let host = MemoryHost()
        for number in 0..<3 { await host.die(letter(UInt64(number))) }
        for number in 0..<3 {
            await host.skip(
                SkippedStart(task: "com.acme.storm", kind: .late, due: Int64(number), until: 9)
            )
        }
        try await Serving.with(host) { serving in
            _ = try await host.submit(Submission(task: "com.acme.storm"))
            _ = try await host.submit(Submission(task: "com.acme.photos"))
            let cursor = PageCursor.dead(diedAt: 1001, run: RunID(high: 1, low: 1)).text
            let dead = try await command(["dead", "--limit", "2"], serving).output
            #expect(dead.hasSuffix("there may be more: --cursor \(cursor)\n"), "\(dead)")
            let pending = try await command(["pending", "com.acme.*", "--limit", "1"], serving)
                .output
            #expect(pending.contains("1 of 2; there may be more: --cursor "), "\(pending)")
            let starts = try await command(["runs", "--skipped", "--limit", "1"], serving).output
            #expect(starts.contains("there may be more: --cursor "), "\(starts)")
            let all = try await command(["dead", "--limit", "3"], serving).output
            #expect(!all.contains("--cursor"))

            let stale = PageCursor.pending(generation: 2, place: 0, id: RunID(high: 0, low: 0)).text
            let refused = try await command(["pending", "--cursor", stale], serving)
            #expect(refused.exitCode == 1 && refused.error.contains("[BG4047]"), "\(refused.error)")
            let hostile = try await command(["dead", "--cursor", "x\u{1B}[2J"], serving)
            #expect(hostile.exitCode == 64 && hostile.error.contains("[BG4046]"))
            #expect(!hostile.error.contains("\u{1B}"))
            let unknown = try await command(["dead", "--plugin", "nosuch"], serving)
            #expect(unknown.exitCode == 4 && unknown.error.contains("[BG4019]"))
            for wrong in [
                ["pending", "--submitter", "me"], ["runs", "--skipped", "--what", "x"],
                ["runs", "--cursor", cursor], ["runs", "--what", "late"],
            ] {
                #expect(try await command(wrong, serving).exitCode == 64, "\(wrong)")
            }
        }
    }
}
