// SPDX-License-Identifier: Apache-2.0

import BghostLinux
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

    /// A request of a former daemon that waits for the year 2100.
    private func waiting(_ number: UInt64, _ task: String, _ submitter: Submitter) -> Request {
        Request(
            id: RunID(high: 2, low: number),
            task: task,
            parameters: "{}",
            submittedAt: 1,
            earliestBegin: 4_102_444_800_000_000_000 + Int64(number),
            priority: 500,
            submitter: submitter
        )
    }

    @Test func `The host gets the conditions and the cursor`() async throws {
        let minute: Int64 = 60_000_000_000
        // The API rounds times.
        let now = WallClock.now / 1_000_000 * 1_000_000
        var changes: [StoreChange] = []
        for (number, age) in [(0, 180), (1, 90), (2, 30)] as [(UInt64, Int64)] {
            var letter = letter(number)
            letter.diedAt = now - age * minute
            changes += .dead(letter)
            for kind in [SkippedStart.Kind.misfire, .late] {
                let start = SkippedStart(
                    task: "com.acme.storm",
                    kind: kind,
                    due: now - age * minute,
                    until: now
                )
                changes.append(.startSkipped(start))
            }
        }
        let run = Submitter.run(RunID(high: 9, low: 9))
        let requests = [
            waiting(0, "com.acme.storm", run), waiting(1, "com.acme.photos", run),
            waiting(2, "com.other", run), waiting(3, "com.acme.tea", .operator),
        ]
        changes += requests.map { .accepted($0, replacing: nil) }
        let host = try await TestHost.start(stored: changes) { manifest in
            for name in ["com.other", "com.acme.tea"] {
                manifest.tasks.append(try TestHost.task(name))
            }
            for index in [0, 2, 3] { manifest.tasks[index].tags = ["nightly"] }
        }
        try await Serving.with(host) { serving in
            try await serving.ask { client in
                func ids(
                    task: String? = nil,
                    submitter: String? = nil,
                    tag: String? = nil
                ) async throws -> Set<RunID> {
                    let list = try await client.pending(
                        task: task,
                        plugin: "storm",
                        submitter: submitter,
                        tag: tag,
                        limit: 7
                    )
                    return Set(list.value.requests.map(\.id))
                }
                let all = requests.map(\.id)
                #expect(try await ids() == Set(all))
                #expect(try await ids(task: "com.acme.*") == [all[0], all[1], all[3]])
                #expect(try await ids(submitter: "run") == Set(all.prefix(3)))
                #expect(try await ids(tag: "nightly") == [all[0], all[2], all[3]])
                #expect(
                    try await ids(task: "com.acme.*", submitter: "run", tag: "nightly") == [all[0]]
                )
                let page = try await client.pending(task: nil, limit: 3).value
                let rest = try await client.pending(task: nil, cursor: page.next, limit: 3).value
                #expect(page.requests.count == 3 && rest.requests.count == 1)
                #expect(Set((page.requests + rest.requests).map(\.id)) == Set(all))
                let unknown = await fault {
                    _ = try await client.pending(task: nil, plugin: "p q&x", limit: 7)
                }
                #expect(
                    unknown?.message.contains("p q&x") == true,
                    "\(String(describing: unknown))"
                )

                let dead = try await client.deadLetters(
                    task: "com.acme.storm",
                    plugin: "storm",
                    since: "2h",
                    until: "1h",
                    limit: 9
                ).value
                #expect(dead.letters.map(\.run) == [RunID(high: 1, low: 1)])
                let old = try await client.deadLetters(
                    task: nil,
                    cursor: PageCursor.dead(
                        diedAt: now - 90 * minute,
                        run: RunID(high: 1, low: 1)
                    ).text,
                    limit: 9
                ).value
                #expect(old.letters.map(\.run) == [RunID(high: 1, low: 0)])

                let starts = try await client.skippedStarts(
                    task: "*",
                    plugin: "storm",
                    what: "misfire",
                    since: "2h",
                    until: "1h",
                    limit: 11
                ).value
                #expect(starts.starts.map(\.due) == [now - 90 * minute])
                #expect(starts.starts.map(\.what) == ["misfire"])
                let first = try await client.skippedStarts(task: nil, limit: 4).value
                let next = try await client.skippedStarts(
                    task: nil,
                    cursor: first.next,
                    limit: 4
                ).value
                #expect(first.starts.count == 4 && next.starts.count == 2 && next.next == nil)
            }
        }
    }

    @Test func `A tag selects the tasks whose requests are withdrawn`() async throws {
        let host = try await TestHost.start {
            $0.tasks[0].tags = ["nightly", "eu"]
        }
        try await Serving.with(host) { serving in
            await host.holdPlugin()
            for task in ["com.acme.storm", "com.acme.photos"] {
                _ = try await host.control.submit(Submission(task: task))
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
            #expect(await host.control.pending(task: nil, limit: 9).total == 2)
            let done = try await command(["cancel", "--tag", "nightly"], serving)
            #expect(done.exitCode == 0, "\(done)")
            #expect(done.output.contains(" of com.acme.storm is withdrawn"), "\(done)")
            let left = await host.control.pending(task: nil, limit: 9).requests
            #expect(left.map(\.task) == ["com.acme.photos"])
            let again = try await command(["cancel", "--tag", "nightly"], serving)
            #expect(again.exitCode == 4 && again.error.contains("BG4014"), "\(again)")
            let rows = host.audited.filter { $0.verb == "cancel tag" }
            #expect(rows.map(\.target) == ["nighly", "nightly", "nightly"])
            #expect(rows.map(\.status) == [.refused, .stored, .refused])
        }
    }

    @Test func `The status of a tag has its tasks only`() async throws {
        let host = try await TestHost.start { $0.tasks[0].tags = ["nightly"] }
        try await Serving.with(host) { serving in
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
    func `A hostile cursor is refused`(list: String) async throws {
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
        let changes = (0..<3).flatMap { number in
            let start = SkippedStart(
                task: "com.acme.storm",
                kind: .late,
                due: Int64(number),
                until: 9
            )
            return [StoreChange].dead(letter(UInt64(number))) + [.startSkipped(start)]
        }
        let host = try await TestHost.start(stored: changes)
        try await Serving.with(host) { serving in
            await host.holdPlugin()
            _ = try await host.control.submit(Submission(task: "com.acme.storm"))
            _ = try await host.control.submit(Submission(task: "com.acme.photos"))
            let cursor = PageCursor.dead(diedAt: 1001, run: RunID(high: 1, low: 1)).text
            let dead = try await command(["dead", "--limit", "2"], serving).output
            #expect(dead.hasSuffix("there may be more: --cursor \(cursor)\n"), "\(dead)")
            let pending = try await command(["pending", "--limit", "1"], serving).output
            #expect(pending.contains("1 of 2; there may be more: --cursor "), "\(pending)")
            // How many there are of some tasks is not counted.
            let some = try await command(["pending", "com.acme.*", "--limit", "1"], serving).output
            #expect(some.contains("there may be more: --cursor "), "\(some)")
            let starts = try await command(["runs", "--skipped", "--limit", "1"], serving).output
            #expect(starts.contains("there may be more: --cursor "), "\(starts)")
            let all = try await command(["dead", "--limit", "3"], serving).output
            #expect(!all.contains("--cursor"))

            let id = RunID(high: 0, low: 0)
            let stale = PageCursor.pending(generation: .max, place: 0, id: id).text
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
