// SPDX-License-Identifier: Apache-2.0

import BghostLinux
import BghostAPI
import BghostBase
import BghostControl
import BghostModel
import BghostPolicy
import BghostTestSupport
import Testing

/// `GET /v1/days` and `bghost runs --by-day`.
@Suite(.ownThreads) struct RunDayRouteTests {
    /// Yesterday; within the days that are kept whenever the test runs.
    private static let day = RunDay.day(of: WallClock.now) - 1

    /// Twelve runs of storm and one of each of so many tasks that the last has no row of its own, and a run of
    /// storm a day before.
    private static let runs: [StoreChange] = {
        let second: Int64 = 1_000_000_000
        var number: UInt64 = 0
        func run(_ task: String, _ day: Int64, _ change: (inout RunRecord) -> Void = { _ in })
            -> [StoreChange]
        {
            number += 1
            var record = TestHost.endedRun(number, of: task)
            record.endedAt = day * 86_400 * second + Int64(number) * 1_000_000
            change(&record)
            return .ended(record)
        }
        let storm = "com.acme.storm"
        var changes = run(storm, day - 1)
        changes += run(storm, day) {
            $0.outcome = .killed(.memory)
            $0.duration = .milliseconds(12_250)
            $0.usage.cpu = .seconds(1)
        }
        changes += run(storm, day) { $0.duration = .milliseconds(3250) }
        for _ in 0..<10 { changes += run(storm, day) { $0.duration = .milliseconds(7500) } }
        for task in 1...RunDay.tasksMax { changes += run("task\(task)", day) }
        return changes
    }()

    /// The date of a day.
    private static func text(_ day: Int64) -> String {
        String(Timestamp.text(unixNanoseconds: day * 86_400 * 1_000_000_000).prefix(10))
    }

    @Test func `The sums of days are answered in pages`() async throws {
        let day = Self.day
        try await Serving.with(try await .start(stored: Self.runs)) { serving in
            try await serving.ask { client in
                let first = try await client.runDays(task: nil, limit: 2).value
                #expect(first.days.map(\.task) == ["com.acme.storm", "task1"])
                #expect(first.days.map(\.runs) == [12, 1])
                let next = try #require(first.next)
                #expect(PageCursor(next) == .days(day: day, number: 2))
                let storms = try await client.runDays(
                    task: "com.*",
                    since: Self.text(day - 1),
                    cursor: next,
                    limit: 5
                ).value
                #expect(storms.days.map(\.runs) == [1] && storms.next == nil)
                let none = try await client.runDays(task: "com.*", until: "9d", limit: 5).value
                #expect(none.days.isEmpty)
                let last = PageCursor.days(day: day, number: Int64(RunDay.tasksMax)).text
                let rest = try await client.runDays(task: nil, cursor: last, limit: 1).value
                #expect(rest.days.map(\.task) == [""])
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
        }
    }

    @Test func `The command prints the sums`() async throws {
        try await Serving.with { serving in
            let control = ["--control", serving.socketPath]
            let none = try await Bghost.run(["runs", "--by-day"] + control)
            #expect(none.exitCode == 0 && none.output == "no run has ended on these days\n")
            serving.host.put(Self.runs)
            let list = try await Bghost.run(["runs", "--by-day", "--limit", "1"] + control)
            let cells = list.output.split(separator: "\n").map { line in
                line.split(separator: "  ").map { $0.drop { $0 == " " } }.map(String.init)
            }
            #expect(cells.count == 3, "\(list)")
            #expect(list.output.contains("there may be more: --cursor "))
            #expect(
                cells.dropFirst().first
                    == [
                        Self.text(Self.day), "com.acme.storm", "12", "11", "1 killed",
                        "1m30s", "12.2s", "1s",
                    ],
                "\(list.output)"
            )
            let last = PageCursor.days(day: Self.day, number: Int64(RunDay.tasksMax)).text
            let page = try await Bghost.run(["runs", "--by-day", "--cursor", last] + control)
            #expect(page.output.contains("  all other tasks  "), "\(page)")
            let words = ["runs", "com.acme.storm", "--by-day", "--since", "2d", "--json"]
            let json = try await Bghost.run(words + control)
            let answer = try JSONReader.parse(json.output)
            #expect(answer["schema"]?.string == "bghost.days/1")
            let row = answer["days"]?.array?.first
            #expect(answer["days"]?.array?.count == 2)
            #expect(row?["day"]?.string == Self.text(Self.day))
            #expect(row?["runs"]?.int64 == 12 && row?["killed"]?.int64 == 1)
        }
    }
}
