// SPDX-License-Identifier: Apache-2.0

import BghostAPI
import BghostBase
import BghostControl
import BghostModel
import BghostTestSupport
import Testing

/// `GET /v1/days` and `bghost runs --by-day`.
@Suite(.ownThreads) struct RunDayRouteTests {
    private static func row(_ day: Int64, _ task: String, _ number: Int64) -> RunDay {
        var row = RunDay(day: day, task: task, number: number)
        (row.counts.succeeded, row.counts.killed) = (11, number)
        row.runtime = 90_500_000_000
        row.longest = 12_250_000_000
        row.cpu = 1_000_000_000
        return row
    }

    @Test func `The sums of days are answered in pages`() async throws {
        try await Serving.with { serving in
            let rows = [
                Self.row(20_413, "com.acme.storm", 1), Self.row(20_413, "", 2),
                Self.row(20_412, "com.acme.storm", 1),
            ]
            await serving.host.put(rows)
            try await serving.ask { client in
                let all = try await client.runDays(task: nil, limit: 2).value
                #expect(all.days == rows.prefix(2).map { API.RunDay($0) })
                #expect(all.days.first?.runs == 12 && all.days.last?.task == "")
                let next = try #require(all.next)
                #expect(PageCursor(next) == .days(day: 20_413, number: 2))
                _ = try await client.runDays(
                    task: "com.*",
                    since: "2025-11-01",
                    until: "1d",
                    cursor: next,
                    limit: 5
                )
                let wrong = PageCursor.starts(due: 1, number: 2).text
                for cursor in ["x", wrong] {
                    let fault = await fault {
                        _ = try await client.runDays(task: nil, cursor: cursor)
                    }
                    #expect(fault?.code == .badCursor)
                }
                let unknown = await fault { _ = try await client.runDays(task: "nosuch") }
                #expect(unknown?.code == .noSuchTask)
            }
            let asked = await serving.host.dayQuestions
            #expect(
                asked.contains(
                    RunDayQuestion(
                        tasks: .beginning("com."),
                        since: "2025-11-01",
                        until: "1d",
                        cursor: .days(day: 20_413, number: 2),
                        limit: 5
                    )
                )
            )
        }
    }

    @Test func `The command prints the sums`() async throws {
        try await Serving.with { serving in
            let control = ["--control", serving.socketPath]
            let none = try await Bghost.run(["runs", "--by-day"] + control)
            #expect(none.exitCode == 0 && none.output == "no run has ended on these days\n")
            await serving.host.put([Self.row(20_413, "com.acme.storm", 1), Self.row(20_413, "", 2)])
            let list = try await Bghost.run(["runs", "--by-day"] + control)
            let cells = list.output.split(separator: "\n").map { line in
                line.split(separator: "  ").map { $0.drop { $0 == " " } }.map(String.init)
            }
            #expect(cells.count == 3, "\(list)")
            #expect(
                cells.dropFirst().first
                    == [
                        "2025-11-21", "com.acme.storm", "12", "11", "1 killed",
                        "1m30s", "12.2s", "1s",
                    ],
                "\(list.output)"
            )
            #expect(cells.last?.dropFirst().first == "all other tasks")
            let page = try await Bghost.run(["runs", "--by-day", "--limit", "1"] + control)
            #expect(page.output.contains("there may be more: --cursor "))
            let words = ["runs", "com.acme.storm", "--by-day", "--json"]
            let json = try await Bghost.run(words + control)
            let answer = try JSONReader.parse(json.output)
            #expect(answer["schema"]?.string == "bghost.days/1")
            let row = answer["days"]?.array?.first
            #expect(answer["days"]?.array?.count == 1 && row?["day"]?.string == "2025-11-21")
            #expect(row?["runs"]?.int64 == 12 && row?["killed"]?.int64 == 1)
        }
    }
}

extension MemoryHost {
    fileprivate func put(_ rows: [RunDay]) { days = rows }
}
