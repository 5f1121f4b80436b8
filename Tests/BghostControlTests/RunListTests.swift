// SPDX-License-Identifier: Apache-2.0

@testable import BghostAPI
import BghostBase
import BghostControl
import BghostModel
import BghostPolicy
import BghostTestSupport
import Testing

/// Pages of runs, from the client through the API and back, and as a command.
@Suite(.ownThreads, .timeLimit(.minutes(5)))
struct RunListTests {
    private func fill(_ host: TestHost) async throws -> [RunRecord] {
        for number in 0..<6 {
            let task = number % 2 == 0 ? "com.acme.storm" : "com.acme.photos"
            let run = try await host.begin(task)
            let message = "number \(number)"
            if number == 3 {
                await host.kill(run, for: .memory, message: message)
            } else {
                try await host.end(run, message: message)
            }
        }
        return await host.control.runs(task: nil, limit: 100)
    }

    @Test func `Pages arrive whole`() async throws {
        try await Serving.with { serving in
            let all = try await fill(serving.host)
            try await serving.ask { client in
                var found: [RunRecord] = []
                var before: Int64?
                repeat {
                    let question = RunQuestion(RunQuery(before: before, limit: 4))
                    let answer = try await client.runs(question, state: nil).value
                    #expect(answer.newer == 6 && answer.searchedTo == nil)
                    found += answer.runs.map(\.record)
                    before = answer.next
                } while before != nil
                #expect(found.map(\.id) == all.map(\.id))
                let killed = try await client.runs(
                    RunQuestion(RunQuery(RunFilter(text: "NUMBER"), limit: 9)),
                    state: "unsuccessful"
                ).value
                #expect(killed.runs.map(\.record.message) == ["number 3"])
                let newer = try await client.runs(
                    RunQuestion(RunQuery(RunFilter(task: "com.acme.photos"), after: 4, limit: 9)),
                    state: nil
                ).value
                #expect(newer.runs.map(\.record.message) == ["number 5"])
                let since = try #require(all[1].endedAt)
                let late = try await client.runs(
                    RunQuestion(
                        RunQuery(limit: 9),
                        since: "1970-01-01T00:00:00Z",
                        until: "2100-01-01T00:00:00Z"
                    ),
                    state: nil
                ).value
                #expect(late.runs.count == 6 && since > 0)
                let fault = await fault {
                    _ = try await client.runs(
                        RunQuestion(RunQuery(limit: 9), since: "soon"),
                        state: nil
                    )
                }
                #expect(fault?.code == .badRequest && fault?.message.contains("soon") == true)
            }
        }
    }

    @Test func `The command selects`() async throws {
        try await Serving.with { serving in
            let all = try await fill(serving.host)
            func runs(_ arguments: String...) async throws -> Command.Result {
                try await Bghost.run(["runs"] + arguments + ["--control", serving.socketPath])
            }
            let failed = try await runs("--failed").output
            #expect(failed.contains("number 3") && !failed.contains("number 2"))
            let killed = try await runs("--state", "killed").output
            #expect(killed.contains("number 3") && !killed.contains("number 2"))
            #expect(try await runs("--state", "running").output == "no such runs\n")
            let page = try await runs("--limit", "2").output
            #expect(page.contains("number 5") && page.hasSuffix("older ones: --before 5\n"))
            let next = try await runs("--limit", "2", "--before", "5").output
            #expect(next.contains("number 3") && next.contains("number 2"))
            let one = try await runs("--id", all[2].id.description.lowercased(), "--json")
            let answer = try JSONReader.parse(one.output)
            #expect(answer["runs"]?.array?.count == 1)
            #expect(answer["newer"]?.int64 == 6 && answer["next"]?.isNull == true)
            let task = try await runs("--task", "com.acme.photos", "--plugin", "none").output
            #expect(task == "no such runs\n")
        }
    }

    @Test(arguments: [
        (["--failed", "--state", "killed"], "not both"), (["--state", "dead"], "unsuccessful"),
        (["a", "--task", "b"], "not both"), (["--limit", "1001"], "1000"),
        (["--before=-1"], "negative"), (["--by-day", "--skipped"], "--by-day goes with"),
        (["--by-day", "--failed"], "--by-day goes with"), (["--cursor", "x"], "--by-day"),
    ])
    func `Wrong options are refused`(arguments: [String], says: String) async throws {
        let result = try await Bghost.run(["runs"] + arguments + ["--control", "/nosuch/socket"])
        #expect(result.exitCode == 64)
        #expect(result.error.contains(says), "\(result.error)")
    }

    @Test(arguments: [
        ("outcome=dead", "unsuccessful"), ("before=x", "before"), ("after=-1", "after"),
        ("text=" + String(repeating: "x", count: 201), "200 bytes"), ("task=nosuch", "nosuch"),
    ])
    func `Wrong questions are refused`(query: String, says: String) async throws {
        try await Serving.with { serving in
            let path = serving.socketPath
            let answer = try await onThread {
                let connection = try RawConnection(path)
                connection.send("GET /v1/runs?\(query) HTTP/1.1\r\nHost: bghost\r\n\r\n")
                return connection.receiveAnswer()
            }
            #expect(!answer.hasPrefix("HTTP/1.1 200"))
            #expect(answer.contains(says), "\(answer)")
        }
    }

    @Test func `The past is answered`() async throws {
        try await Serving.with { serving in
            let due: Int64 = 1_795_230_000_000_000_000
            let host = serving.host
            host.put([
                .startSkipped(
                    SkippedStart(
                        task: "com.acme.storm",
                        kind: .delayed,
                        request: RunID(high: 1, low: 2),
                        due: due,
                        until: due + 4_200_000_000_000,
                        cause: "net\u{1B}[2Jwork",
                        causeSince: due - 120_000_000_000
                    )
                )
            ])
            let text = Timestamp.text(unixNanoseconds: due)
            try await serving.ask { client in
                let past = try await client.past(task: "com.acme.storm", at: text).value
                #expect(past.what == "delayed" && past.at == due && past.starts.count == 1)
                let list = try await client.skippedStarts(task: "com.acme.storm", limit: 5).value
                #expect(list.starts == past.starts)
                let fault = await fault {
                    _ = try await client.past(task: "com.acme.storm", at: "soon")
                }
                #expect(fault?.code == .badRequest)
            }
            let control = ["--control", serving.socketPath]
            let why = try await Bghost.run(["why", "com.acme.storm", "--at", text] + control)
            #expect(why.exitCode == 0 && why.output.contains("it waited for net"))
            let list = try await Bghost.run(["runs", "--skipped"] + control)
            #expect(list.output.contains("delayed") && !list.output.contains("\u{1B}[2J"))
            let json = try await Bghost.run(["runs", "--skipped", "--json"] + control)
            let answer = try JSONReader.parse(json.output)
            #expect(answer["starts"]?.array?.count == 1)
            let wrong = try await Bghost.run(["runs", "--skipped", "--failed"] + control)
            #expect(wrong.exitCode == 64 && wrong.error.contains("--since"))
        }
    }
}
